"""Writes a JPEG file as libjpeg would for Pillow: the same markers in the same order, around the same scans."""

import struct
import typing

from skillcell_guest.jpeg import blocks, scans
from skillcell_guest.jpeg.tables import NATURAL, QUANTISATION

_TABLES_ONLY, _NO_TABLES = 1, 2


class Refused(Exception):
    """Options that don't go together."""


class Options(typing.NamedTuple):
    """What Pillow's plugin hands on, in its order."""

    quality: int = -1
    progressive: bool = False
    smooth: int = 0
    optimize: bool = False
    keep_rgb: bool = False
    streamtype: int = 0
    dpi: tuple = (0, 0)
    subsampling: int = -1
    restart_blocks: int = 0
    restart_rows: int = 0
    qtables: list | None = None
    comment: bytes | None = None
    extra: bytes = b""
    exif: bytes = b""


def encode(rows, width, height, mode, options):
    """A file of the pixels that `rows` gives, see `blocks.planes`."""
    space, parts = _parts(mode, options)
    tables = _tables(parts, options)
    if options.streamtype == _TABLES_ONLY:
        return b"\xff\xd8" + b"".join(_dqt(*item) for item in tables.items()) + scans.standard_tables() + b"\xff\xd9"
    blocks.quantise(parts, blocks.planes(rows, height, mode, space), tables, options.smooth)
    head = [b"\xff\xd8", *_application(space, options)]
    head.append(_frame(parts, tables, width, height, options))
    return b"".join(head) + scans.encode(parts, space, options, options.streamtype != _NO_TABLES) + b"\xff\xd9"


def _parts(mode, options):
    if mode == "L":
        space, parts = "L", [blocks.Part(1, 0)]
    elif mode == "CMYK":
        space, parts = "CMYK", [blocks.Part(number, 0) for number in b"CMYK"]
    elif options.keep_rgb and mode == "RGB":
        if options.subsampling not in (-1, 0):
            raise Refused("green and blue can't be made smaller")
        space, parts = "RGB", [blocks.Part(number, 0) for number in b"RGB"]
    else:
        space, parts = "YCbCr", [blocks.Part(1, 0, 2), blocks.Part(2, 1), blocks.Part(3, 1)]
    if options.subsampling in (0, 1, 2):
        parts[0].across, parts[0].down = ((1, 1), (2, 1), (2, 2))[options.subsampling]
    return space, parts


def _tables(parts, options):
    """Quantisation tables by number, row by row; the parts are told which is theirs."""
    if options.qtables is None:
        quality = 75 if options.quality == -1 else options.quality
        return {number: _scaled(table, quality, 255) for number, table in enumerate(QUANTISATION)}
    quality, most = (50, 32767) if options.quality == -1 else (options.quality, 255)
    tables = {number: _scaled(table, quality, most) for number, table in enumerate(options.qtables)}
    last = len(tables) - 1
    for number, part in enumerate(parts):
        part.table = min(number, last)
    tables.setdefault(1, tables[0])
    return tables


def _scaled(table, quality, most):
    quality = min(max(quality, 1), 100)
    scale = 5000 // quality if quality < 50 else 200 - quality * 2
    return [min(max((value * scale + 50) // 100, 1), most) for value in table]


def _segment(marker, body):
    if len(body) > 65533:
        raise Refused("a segment that is too long")
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(body) + 2) + body


def _application(space, options):
    across, down = options.dpi
    if space in ("L", "YCbCr") or across > 0 and down > 0:
        density = (1, across & 0xFFFF, down & 0xFFFF) if across > 0 and down > 0 else (0, 1, 1)
        yield _segment(0xE0, b"JFIF\0\1\1" + struct.pack(">BHH", *density) + b"\0\0")
    if space in ("RGB", "CMYK"):
        yield _segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, 0))
    if options.exif:
        yield _segment(0xE1, bytes(options.exif))
    if options.extra and options.streamtype != _NO_TABLES:
        yield bytes(options.extra)
    if options.comment:
        comment = options.comment
        yield _segment(0xFE, comment.encode() if isinstance(comment, str) else bytes(comment))


def _dqt(number, table):
    wide = max(table) > 255
    values = (table[place] for place in NATURAL)
    return _segment(0xDB, bytes([wide << 4 | number]) + struct.pack(">64H" if wide else ">64B", *values))


def _frame(parts, tables, width, height, options):
    used = dict.fromkeys(part.table for part in parts)
    out = b"".join(_dqt(number, tables[number]) for number in used) if options.streamtype != _NO_TABLES else b""
    wide = any(max(tables[number]) > 255 for number in used)
    body = struct.pack(">BHHB", 8, height, width, len(parts))
    body += b"".join(bytes((part.number, part.across << 4 | part.down, part.table)) for part in parts)
    return out + _segment(0xC2 if options.progressive else 0xC1 if wide else 0xC0, body)
