# /// script
# dependencies = ["openpyxl==3.1.5"]
# ///
"""Writes a workbook, and sums what is in the one that it is given."""
import sys

import openpyxl

if len(sys.argv) > 1:
    book = openpyxl.load_workbook(sys.argv[1])
    print(sum(cell.value for row in book.active.iter_rows(min_row=2) for cell in row if isinstance(cell.value, int)))
else:
    book = openpyxl.Workbook()
    book.active.append(["name", "née"])
    for number in range(10):
        book.active.append([f"row {number}", number])
    book.save("out.xlsx")
