"""What skillcell puts into a cell besides CPython: the way in and out, and the stand-ins.

Nothing here guards anything: a skill may read, change or delete all of it. The boundary is the host's side of the
door and of WASI. The modules, in the order in which a cell uses them:

    boot      makes the interpreter ready: paths, stand-ins, the framework (baked once per runtime)
    load      imports one skill and constructs it (baked once per skill)
    examples  finds calls, `warm` makes them, `kept` compares what they leave (before the image is taken)
    settle    arranges memory so that a call touches few pages (the last thing before an image is taken)
    call      one call: params in, `execute`, result out
    testing   one test file of a skill, with pytest (an image and an entry of its own)
    imports   what the operator denies to import
    door      the frames that go to the host
    jpeg      the codec that stands in for libjpeg in Pillow
"""
