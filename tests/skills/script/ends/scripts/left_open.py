"""Leaves everything to the end of the interpreter."""

import argparse
import atexit
import gc
import sys
import threading


class Told:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone:", self.name)


class Collects:
    """A module that is asked for its file when modules are let go."""

    @property
    def __file__(self):
        gc.collect()


def in_a_frame():
    held = open("frame.txt", "w", encoding="utf-8")
    held.write("from a frame")
    raise ValueError("while it is open")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--collect", action="store_true", help="collect garbage at the end")
    asked = parser.parse_args()
    if asked.collect:
        sys.modules["collects"] = Collects()
    left = open("left.txt", "w", encoding="utf-8")
    left.write("never closed: ü")
    plain = Told("a name")
    threading.Thread(target=lambda: print("a thread")).start()
    atexit.register(print, "atexit")
    if asked.fail:
        # One thing that tells of its end: after a traceback, a collection decides in what order several are told.
        in_a_frame()
    circle = [Told("a circle")]
    circle.append(circle)
