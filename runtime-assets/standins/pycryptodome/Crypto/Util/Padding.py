"""Padding to the size of a block."""


def pad(data_to_pad, block_size, style="pkcs7"):
    length = block_size - len(data_to_pad) % block_size
    if style == "pkcs7":
        return data_to_pad + bytes([length]) * length
    if style == "x923":
        return data_to_pad + bytes(length - 1) + bytes([length])
    if style == "iso7816":
        return data_to_pad + b"\x80" + bytes(length - 1)
    raise ValueError("Unknown padding style")


def unpad(padded_data, block_size, style="pkcs7"):
    if not padded_data:
        raise ValueError("Zero-length input cannot be unpadded")
    if len(padded_data) % block_size:
        raise ValueError("Input data is not padded")
    if style == "iso7816":
        length = len(padded_data) - padded_data.rfind(b"\x80")
        expected = b"\x80" + bytes(length - 1)
    else:
        length = padded_data[-1]
        expected = bytes([length]) * length if style == "pkcs7" else bytes(max(length - 1, 0)) + bytes([length])
    if style not in ("pkcs7", "x923", "iso7816"):
        raise ValueError("Unknown padding style")
    if not 1 <= length <= block_size or padded_data[-length:] != expected:
        raise ValueError("Padding is incorrect." if style != "pkcs7" else "PKCS#7 padding is incorrect.")
    return padded_data[:-length]
