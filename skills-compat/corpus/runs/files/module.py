import os


def double(values=[]):
    # TODO: naming
    password = "secret"
    return [2 * v for v in values if v]
