"""The constants of JPEG: the order of coefficients, and the tables of annex K that encoders start from."""

import typing

import numpy

#: Where the coefficients of a block, in the order of the file, are in its 8 by 8 square.
NATURAL = (
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
)  # fmt: skip

#: The other way: for each place of the square, its turn in the file.
ZIGZAG = tuple(NATURAL.index(place) for place in range(64))

#: Quantisation of luminance and chrominance at quality 50, row by row.
QUANTISATION = (
    (
        16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55,
        14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
        18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
        49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
    ),
    (
        17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
        24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
    ) + (99,) * 32,
)  # fmt: skip


class Huffman(typing.NamedTuple):
    """A code: how many words there are of each length from 1 to 16, and what they stand for."""

    counts: bytes
    symbols: bytes

    def words(self):
        """Gives (symbol, word, length). A code with more words than fit, or than symbols, is a ValueError."""
        if sum(self.counts) != len(self.symbols) or len(self.symbols) > 256:
            raise ValueError("a Huffman table has more words than symbols")
        word, at, all_words = 0, 0, []
        for length, count in enumerate(self.counts, 1):
            for symbol in self.symbols[at : at + count]:
                all_words.append((symbol, word, length))
                word += 1
            # The word of all ones is not to be used.
            if count and word >= 1 << length:
                raise ValueError("a Huffman table has too many words of a length")
            at += count
            word <<= 1
        return all_words

    def for_writing(self):
        """Arrays by symbol: words, and lengths (0 where the code has none)."""
        words, lengths = numpy.zeros(256, numpy.int64), numpy.zeros(256, numpy.int64)
        for symbol, word, length in self.words():
            words[symbol], lengths[symbol] = word, length
        return words, lengths


#: For DC and for AC: of luminance, of chrominance.
DC = (
    Huffman(bytes((0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0)), bytes(range(12))),
    Huffman(bytes((0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0)), bytes(range(12))),
)
AC = (
    Huffman(
        bytes((0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125)),
        bytes.fromhex(
            "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728"
            "292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a83848586878889"
            "8a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2"
            "e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"
        ),
    ),
    Huffman(
        bytes((0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119)),
        bytes.fromhex(
            "000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a26"
            "2728292a35363738393a434445464748494a535455565758595a636465666768696a737475767778797a828384858687"
            "88898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9da"
            "e2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa"
        ),
    ),
)
