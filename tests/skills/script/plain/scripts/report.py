"""Reports on how it was started, and ends as it is told."""

import argparse
import json
import os
import pickle
import sys
import time
from pathlib import Path

import beside
import shared
from tools import shout


class Kept:
    pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="words to shout")
    parser.add_argument("--end", choices=["0", "3", "text", "none", "raise", "os"], default="none")
    args = parser.parse_args()
    report = {
        "argv": sys.argv,
        "file": __file__,
        "name": __name__,
        "spec": __spec__,
        "cwd": os.getcwd(),
        "first_on_path": sys.path[0],
        "shouted": [shout(word) for word in args.words],
        "root": shared.ROOT,
        "asset": Path("assets/words.txt").read_text().split(),
        "beside_file": Path(__file__).with_name("beside.py").exists(),
        "sibling_is_fresh": time.time() - beside.LOADED_AT < 60,
        "pickled": type(pickle.loads(pickle.dumps(Kept()))) is Kept,
    }
    print(json.dumps(report, ensure_ascii=False))
    if args.end in "03":
        sys.exit(int(args.end))
    if args.end == "text":
        sys.exit("that was all")
    if args.end == "raise":
        raise ValueError("nothing is well: ü")
    if args.end == "os":
        os._exit(5)


if __name__ == "__main__":
    main()
