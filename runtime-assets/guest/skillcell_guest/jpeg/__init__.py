"""A JPEG codec for Pillow in Python and numpy, because the runtime's Pillow was built without libjpeg.

It stands in for the two functions of Pillow that call libjpeg, and gives what they give with libjpeg-turbo, bit by bit:
`Image.open` the same pixels, `save` the same file. Headers, metadata and options stay Pillow's.

    reading   codec ─▶ stream ─▶ scan, bands (bits) ─▶ picture: transform, sampling, colour ─▶ codec
    writing   codec ─▶ writer: colour, sampling, transform ─▶ symbols ─▶ entropy ─▶ codec

It is no parser of the host's: it runs in the cell, within its limits, like the skill that calls it.
"""
