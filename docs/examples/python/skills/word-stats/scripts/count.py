"""Counts words, and tells what a script gets to see of the machine that it runs on."""

import argparse
import json
import os
import pathlib

from words import split_words

parser = argparse.ArgumentParser()
parser.add_argument("text")
text = parser.parse_args().text
stop_words = pathlib.Path("assets/stop-words.txt")
if not stop_words.exists():
    stop_words = pathlib.Path(__file__).parent.parent / "assets" / "stop-words.txt"
counted = split_words(text, stop_words.read_text().split())
print(json.dumps({"words": len(counted), "sees_the_host": os.path.exists("/etc/passwd") or "SECRET" in os.environ}))
