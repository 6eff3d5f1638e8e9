"""Counts words, and misbehaves on request."""
import argparse
import os
import sys
import time
import urllib.request

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", nargs="?", help="read this instead of standard input")
parser.add_argument("--out", help="write the count there, too")
parser.add_argument("--large", type=int, default=0, help="write a file of so many bytes")
parser.add_argument("--fetch", help="a URL to read")
parser.add_argument("--sleep", type=float, default=0)
parser.add_argument("--exit", type=int, default=0)
args = parser.parse_args()

time.sleep(args.sleep)
if args.fetch:
    print(urllib.request.urlopen(args.fetch).read())
text = open(args.file, encoding="utf-8").read() if args.file else sys.stdin.read()
count = len(text.split())
print(count)
if args.out:
    os.makedirs(os.path.dirname(args.out) or ".", exist_ok=True)
    with open(args.out, "w", encoding="utf-8") as out:
        out.write(f"{count} words\n")
if args.large:
    with open("large.bin", "wb") as out:
        out.write(b"\xff" * args.large)
if args.exit:
    print("as you asked", file=sys.stderr)
sys.exit(args.exit)
