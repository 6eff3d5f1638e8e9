"""Pictures made by arithmetic, the same everywhere, and what is done with them."""

import hashlib
import io

from PIL import Image

SIZES = ((1, 1), (2, 3), (8, 8), (9, 7), (17, 33), (67, 45))
OPTIONS = {
    "default": {},
    "4:4:4": {"subsampling": "4:4:4"},
    "4:2:2": {"subsampling": "4:2:2"},
    "optimize": {"optimize": True},
    "progressive": {"progressive": True},
    "restart": {"restart_marker_blocks": 3},
    "restart rows": {"restart_marker_rows": 1, "progressive": True},
    "keep rgb": {"keep_rgb": True},
    "smooth": {"smooth": 40},
    "preset": {"quality": "web_low"},
    "wide tables": {"qtables": [[1 + place * 9 for place in range(64)]] * 2},
    "metadata": {"dpi": (72, 300), "comment": b"a comment", "exif": b"Exif\0\0II*\0", "icc_profile": b"icc" * 30000},
    "tables only": {"streamtype": 1},
    "no tables": {"streamtype": 2},
}


def picture(kind, mode, width, height):
    bands, state, data = len(Image.new(mode, (1, 1)).getbands()), 12345, bytearray()
    for y in range(height):
        for x in range(width):
            for band in range(bands):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                data.append(
                    {
                        "noise": state >> 16 & 255,
                        "ramp": (x * (3 + band) + y * (5 - band)) & 255,
                        "photo": 60 + (x * x // 9 + y * 5 + band * 31) % 120 + (state >> 20 & 7),
                        "checks": 255 * ((x // 5 + y // 3) & 1),
                    }[kind]
                )
    return Image.frombytes(mode, (width, height), bytes(data))


def written(image, **options):
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return file.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def read(file, draft=None):
    image = Image.open(io.BytesIO(file))
    if draft:
        image.draft(*draft)
    image.load()
    return f"{image.mode} {image.size[0]}x{image.size[1]} {digest(image.tobytes())}"


def cases():
    """Gives (name, what came of it): digests of the file and of the pixels that are read from it."""
    for mode in ("L", "RGB", "CMYK", "YCbCr"):
        for kind in ("noise", "ramp", "photo", "checks"):
            for width, height in SIZES:
                for quality in (1, 40, 75, 90, 100):
                    file = written(picture(kind, mode, width, height), quality=quality)
                    yield f"{mode} {kind} {width}x{height} {quality}", [digest(file), read(file)]
        for name, options in OPTIONS.items():
            for width, height in ((9, 7), (67, 45)):
                file = written(picture("photo", mode, width, height), **options)
                pixels = None if "streamtype" in options else read(file)
                yield f"{mode} {name} {width}x{height}", [digest(file), pixels]
    for sampling in ("4:4:4", "4:2:2", "4:2:0"):
        file = written(picture("photo", "RGB", 67, 45), subsampling=sampling)
        for scale in (1, 2, 4, 8):
            yield f"draft {sampling} {scale}", [read(file, ("RGB", (67 // scale, 45 // scale)))]
        yield f"draft {sampling} grey", [read(file, ("L", None))]
        yield f"draft {sampling} YCbCr", [read(file, ("YCbCr", None))]
    yield from _made_by_hand()


def _made_by_hand():
    """What Pillow reads and does not write: other samplings, YCCK, and components that are RGB by name."""
    plain = written(picture("photo", "RGB", 48, 40), subsampling="4:4:4", restart_marker_blocks=0)
    start = plain.index(b"\xff\xc0")
    for name, factors in (("4:4:0", 0x12), ("4:1:1", 0x41), ("4:1:0", 0x42)):
        # Luminance of a larger unit: the same blocks, of a picture of another size.
        across, down = factors >> 4, factors & 15
        head = bytearray(plain)
        head[start + 11] = factors
        units = 30 // (across * down + 2)
        head[start + 5 : start + 9] = (8 * down).to_bytes(2, "big") + (8 * across * units).to_bytes(2, "big")
        yield f"sampling {name}", [read(bytes(head))]
    for transform in (0, 2):
        file = bytearray(written(picture("photo", "CMYK", 33, 20)))
        file[file.index(b"Adobe") + 11] = transform
        yield f"four components, transform {transform}", [read(bytes(file))]
    file = written(picture("photo", "RGB", 33, 20), keep_rgb=True)
    adobe = file.index(b"\xff\xee")
    yield "RGB by name", [read(file[:adobe] + file[adobe + 16 :])]


def failures():
    """What Pillow says about files that are not whole."""
    plain = written(picture("photo", "RGB", 67, 45))
    progressive = written(picture("photo", "RGB", 67, 45), progressive=True)
    tables = plain.index(b"\xff\xc4")
    for name, file in (
        ("cut off", plain[: len(plain) // 2]),
        ("cut off in the header", plain[:tables]),
        ("progressive, cut off", progressive[: len(progressive) * 2 // 3]),
        ("a code with too many words", plain[: tables + 5] + b"\x09" * 8 + plain[tables + 13 :]),
        ("a sampling factor of 0", plain.replace(b"\x03\x01\x22", b"\x03\x01\x02", 1)),
        ("a table that is not there", plain.replace(b"\x22\x00\x02", b"\x22\x03\x02", 1)),
        ("arithmetic coding with no data", plain.replace(b"\xff\xc0", b"\xff\xcd", 1)),
        ("enormous", plain.replace(b"\x00\x2d\x00\x43", b"\xff\xff\xff\xff", 1)),
    ):
        try:
            yield name, read(file)
        except Exception as error:
            yield name, f"{type(error).__name__}: {str(error).partition(' (')[0]}"
