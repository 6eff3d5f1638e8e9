"""Runs a skill's own pytest files in a cell.

    prepare   what is in the image that test cells start from: pytest, imported and rehearsed
    run       one test file: where it lies, how pytest is called
    report    what the host is told of each test, as it happens
    stand     what pytest expects of a computer and a cell has otherwise

Nothing here guards anything: a test may change all of it, so what it reports is the skill's own word.
"""
