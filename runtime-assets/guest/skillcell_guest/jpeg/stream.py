"""Takes a JPEG file apart as it comes in: the frame, its tables and its scans. It decodes nothing."""

import re
import struct

from skillcell_guest.jpeg.tables import AC, DC, Huffman

#: The end of a scan's data: a marker, but neither a stuffed byte nor a restart.
_END_OF_SCAN = re.compile(rb"\xff+[\x01-\xcf\xd8-\xfe]")
_RESTART = re.compile(rb"\xff+([\xd0-\xd7])")
_SOI, _EOI, _SOS, _DQT, _DHT, _DRI, _DAC, _DNL, _APP0, _APP14 = 0xD8, 0xD9, 0xDA, 0xDB, 0xC4, 0xDD, 0xCC, 0xDC, 0xE0, 0xEE
_UNKNOWN = range(0xF0, 0xFE)
_FRAMES = {0xC0: False, 0xC1: False, 0xC2: True}
_OTHER_FRAMES = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)
_ALONE = (0x01, *range(0xD0, 0xD8))


class Broken(Exception):
    """What libjpeg would not decode either, or an encoding that is not known here."""


class Component:
    def __init__(self, number, sampling, table):
        self.number, self.across, self.down, self.table = number, sampling >> 4, sampling & 15, table
        #: In the order of the file; set when the first scan of the component begins.
        self.quantisation = None


class Scan:
    """`components`: (index in the frame, DC table, AC table); the tables are None where the scan needs none."""

    def __init__(self, components, band, bits, restart):
        self.components, (self.first, self.last), (self.high, self.low) = components, band, bits
        self.restart, self.segments = restart, []

    def take(self, data):
        """Without the restart markers and stuffed bytes."""
        first, *others = _RESTART.split(data)
        parts = [first]
        # As libjpeg finds its way where a marker is lost (a segment is empty then) or comes a second time.
        for number, part in zip(others[::2], others[1::2]) if self.restart else ():
            while (ahead := (number[0] - 0xD0 - len(parts) + 1) % 8) in (1, 2):
                parts.append(b"")
            if ahead not in (6, 7):
                parts.append(part)
        self.segments = [re.sub(rb"\xff+\x00", b"\xff", part) if b"\xff" in part else part for part in parts]


class Stream:
    """Feed it bytes until `done`. Then there are `width`, `height`, `components` and `scans`."""

    def __init__(self):
        self.width = self.height = 0
        self.components, self.scans = [], []
        self.progressive = self.done = self.jfif = False
        self.adobe = None
        self._data, self._at = bytearray(), 0
        self._began, self._in_scan = False, False
        self._restart = 0
        self._quantisation = {}
        self._dc, self._ac = dict(enumerate(DC)), dict(enumerate(AC))

    def feed(self, data):
        self._data += data
        while not self.done and (self._read_marker() if not self._in_scan else self._read_scan()):
            del self._data[: self._at]
            self._at = 0

    def _read_scan(self):
        end = _END_OF_SCAN.search(self._data, self._at)
        if end is None:
            self._at = max(len(self._data) - 64, self._at)
            while self._at and self._data[self._at - 1] == 0xFF:
                self._at -= 1
            return False
        self.scans[-1].take(bytes(self._data[: end.start()]))
        self._at, self._in_scan = end.start(), False
        # The rest of a file of one scan is of no interest; it may not even be there.
        self.done = not self.progressive and len(self.scans[0].components) == len(self.components)
        return True

    def _read_marker(self):
        data, at = self._data, self._at
        at = data.find(b"\xff", at)
        while 0 <= at < len(data) and data[at] == 0xFF:
            at += 1
        if at < 0 or at >= len(data):
            return False
        marker, at = data[at], at + 1
        if marker == _EOI:
            self.done, self._began = bool(self.components), False
        if marker == _SOI:
            if self._began:
                raise Broken("a file that begins twice")
            self._began = True
        if marker in (0, _SOI, _EOI, *_ALONE):
            self._at = at
            return True
        if len(data) < at + 2:
            return False
        length = int.from_bytes(data[at : at + 2])
        if length < 2:
            raise Broken("a segment has no length")
        if len(data) < at + length:
            return False
        self._at = at + length
        try:
            self._read_segment(marker, bytes(data[at + 2 : at + length]))
        except (IndexError, struct.error, ValueError) as error:
            raise Broken(str(error)) from error
        return True

    def _read_segment(self, marker, body):
        if marker in _FRAMES:
            self._read_frame(body, _FRAMES[marker])
        elif marker in _OTHER_FRAMES or marker == _DAC:
            raise Broken("lossless, hierarchical and arithmetic coding are not supported")
        elif marker == _SOS:
            self._read_scan_header(body)
        elif marker == _DQT:
            self._read_quantisation(body)
        elif marker == _DHT:
            self._read_huffman(body)
        elif marker == _DRI:
            (self._restart,) = struct.unpack(">H", body)
        elif marker < _APP0 and marker != _DNL or marker in _UNKNOWN:
            raise Broken("a marker that there is not")
        elif marker == _APP0 and body[:5] == b"JFIF\0" and len(body) >= 14:
            self.jfif = True
        elif marker == _APP14 and body[:5] == b"Adobe" and len(body) >= 12:
            self.adobe = body[11]

    def _read_frame(self, body, progressive):
        bits, self.height, self.width, count = struct.unpack(">BHHB", body[:6])
        if self.components or bits != 8 or not self.height or not self.width or count not in (1, 3, 4):
            raise Broken("a second frame, or one of a kind that is not supported")
        if len(body) != 6 + 3 * count:
            raise Broken("a frame of another length than it says")
        self.progressive = progressive
        self.components = [Component(*body[at : at + 3]) for at in range(6, len(body), 3)]
        if any(not 1 <= factor <= 4 for part in self.components for factor in (part.across, part.down)):
            raise Broken("a sampling factor that there is not")

    def _read_scan_header(self, body):
        count = body[0]
        first, last, bits = body[1 + 2 * count : 4 + 2 * count]
        if len(body) != 4 + 2 * count or not 1 <= count <= 4 or not self.components:
            raise Broken("a scan of another length than it says, or before its frame")
        if not self.progressive:
            first, last, bits = 0, 63, 0
        high, low = bits >> 4, bits & 15
        alone = count == 1
        if not (first == 0 and (last == 0 or not self.progressive) or alone and 0 < first <= last < 64) or low > 13 or high and low != high - 1:
            raise Broken("a scan of coefficients that there are not")
        chosen = []
        for at in range(1, 1 + 2 * count, 2):
            index = next((i for i, part in enumerate(self.components) if part.number == body[at]), None)
            if index is None or index in [other for other, _, _ in chosen]:
                raise Broken("a scan of a component that there is not")
            part = self.components[index]
            if part.quantisation is None:
                part.quantisation = self._known(self._quantisation, part.table)
            dc = self._known(self._dc, body[at + 1] >> 4) if first == 0 and not high else None
            chosen.append((index, dc, self._known(self._ac, body[at + 1] & 15) if last else None))
        if not alone and sum(self.components[i].across * self.components[i].down for i, _, _ in chosen) > 10:
            raise Broken("too many blocks together")
        self.scans.append(Scan(chosen, (first, last), (high, low), self._restart))
        self._in_scan = True

    @staticmethod
    def _known(tables, number):
        if number not in tables:
            raise Broken("a table that was not defined")
        return tables[number]

    def _read_quantisation(self, body):
        while body:
            size = 2 if body[0] >> 4 else 1
            if body[0] & 15 > 3 or len(body) < 1 + 64 * size:
                raise Broken("a quantisation table that is cut off")
            self._quantisation[body[0] & 15] = struct.unpack(f">64{'BH'[size - 1]}", body[1 : 1 + 64 * size])
            body = body[1 + 64 * size :]

    def _read_huffman(self, body):
        while body:
            counts = body[1:17]
            end = 17 + sum(counts)
            if body[0] & 15 > 3 or body[0] > 0x1F or len(counts) < 16 or end > len(body) or sum(counts) > 256:
                raise Broken("a Huffman table that is cut off")
            (self._ac if body[0] >> 4 else self._dc)[body[0] & 15] = Huffman(counts, body[17:end])
            body = body[end:]
