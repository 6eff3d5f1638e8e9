import csv
import os
import sys
from pathlib import Path

rows = list(csv.reader(sys.stdin))
Path("out/deep").mkdir(parents=True)
Path("out/rows.txt").write_text(repr(rows))
Path("out/deep/bytes.bin").write_bytes(bytes(range(256)))
Path("assets/words.txt").write_text("changed")
os.rename("SKILL.md", "MOVED.md")
if Path("given.txt").exists():
    print(Path("given.txt").read_text(), end="")
sys.stdout.buffer.write(b"\xff\x00\n")
