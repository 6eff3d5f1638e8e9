"""The decoder and the encoder as Pillow calls them: `PIL.ImageFile.PyDecoder` and `PyEncoder`."""

import numpy
from PIL import Image, ImageFile

from skillcell_guest.jpeg import picture, writer
from skillcell_guest.jpeg.stream import Broken, Stream

#: Pillow's numbers for what went wrong.
_BROKEN, _CONFIG = -2, -8


class Decoder(ImageFile.PyDecoder):
    """Arguments: the raw mode, what the file has (empty: find out), and of `draft` the scale and whether to hurry."""

    def init(self, args):
        self._rawmode, _, self._scale, _ = (*args, *("", "", 1, 0)[len(args) :])
        self._stream = Stream()

    def decode(self, buffer):
        try:
            self._stream.feed(bytes(buffer))
            if not self._stream.done:
                return len(buffer), 0
            self._put_pixels()
        except Broken:
            return -1, _BROKEN
        return -1, 0

    def _put_pixels(self):
        stream, state, scale = self._stream, self.state, self._scale
        if (-(-stream.width // scale), -(-stream.height // scale)) != (state.xsize, state.ysize):
            raise Broken("another size than its header has")
        for top, pixels in picture.decode(stream, self._rawmode.partition(";")[0], scale):
            raw = Image._getdecoder(self.mode, "raw", self._rawmode)
            left, above = state.xoff, state.yoff + top
            raw.setimage(self.im, (left, above, left + state.xsize, above + len(pixels)))
            raw.decode(pixels.tobytes())


class Encoder(ImageFile.PyEncoder):
    def init(self, args):
        self._rawmode, self._options = args[0], writer.Options(*args[1:])
        self._data, self._sent = None, 0

    def encode(self, bufsize):
        if self._data is None:
            try:
                mode, state = self._rawmode.partition(";")[0], self.state
                self._data = writer.encode(self._rows, state.xsize, state.ysize, mode, self._options)
            except writer.Refused:
                return 0, _CONFIG, b""
        piece = self._data[self._sent : self._sent + bufsize] if bufsize else self._data
        self._sent += len(piece)
        return len(piece), 1 if self._sent >= len(self._data) else 0, piece

    def _rows(self, top, bottom):
        """Pixels, shape (rows, columns, bands)."""
        state = self.state
        raw = Image._getencoder(self.mode, "raw", self._rawmode)
        raw.setimage(self.im, (state.xoff, state.yoff + top, state.xoff + state.xsize, state.yoff + bottom))
        pieces, done = [], 0
        while not done:
            _, done, piece = raw.encode(1 << 20)
            pieces.append(piece)
        return numpy.frombuffer(b"".join(pieces), numpy.uint8).reshape(bottom - top, state.xsize, -1)
