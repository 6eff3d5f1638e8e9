# /// script
# dependencies = ["pypdf==5.1.0"]
# ///
"""Writes a PDF of three pages, and tells how many the one has that it is given."""
import sys

from pypdf import PdfReader, PdfWriter

if len(sys.argv) > 1:
    reader = PdfReader(sys.argv[1])
    print(len(reader.pages), reader.metadata.title)
else:
    writer = PdfWriter()
    for _ in range(3):
        writer.add_blank_page(width=72, height=72)
    writer.add_metadata({"/Title": "Drei Seiten"})
    writer.write("out.pdf")
