"""One block of AES, from its definition (FIPS 197)."""


def _double(x):
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def _multiply(x, y):
    product = 0
    while y:
        if y & 1:
            product ^= x
        x, y = _double(x), y >> 1
    return product


def _boxes():
    box = [0] * 256
    p = q = 1
    while True:
        # p runs through all elements as powers of 3, q through their inverses.
        p ^= _double(p) & 0x1FF
        for shift in (1, 2, 4):
            q ^= q << shift
        q &= 0xFF
        if q & 0x80:
            q ^= 0x09
        turned = q
        for turn in (1, 2, 3, 4):
            turned ^= (q << turn | q >> (8 - turn)) & 0xFF
        box[p] = turned ^ 0x63
        if p == 1:
            break
    box[0] = 0x63
    inverse = [0] * 256
    for index, value in enumerate(box):
        inverse[value] = index
    return bytes(box), bytes(inverse)


_BOX, _INVERSE = _boxes()
_TIMES = {factor: bytes(_multiply(x, factor) for x in range(256)) for factor in (2, 3, 9, 11, 13, 14)}
_SHIFT = tuple((i + 4 * (i % 4)) % 16 for i in range(16))
_SHIFT_BACK = tuple((i - 4 * (i % 4)) % 16 for i in range(16))


def round_keys(key):
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    size, constant = len(words), 1
    for i in range(size, 4 * (size + 7)):
        word = words[-1]
        if i % size == 0:
            word = bytes([_BOX[word[1]] ^ constant, _BOX[word[2]], _BOX[word[3]], _BOX[word[0]]])
            constant = _double(constant) & 0xFF if constant != 0x80 else 0x1B
        elif size == 8 and i % size == 4:
            word = word.translate(_BOX)
        words.append(bytes(a ^ b for a, b in zip(words[i - size], word)))
    return [b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]


def _add(state, key):
    return bytes(a ^ b for a, b in zip(state, key))


def encrypt_block(block, keys):
    two, three = _TIMES[2], _TIMES[3]
    state = _add(block, keys[0])
    for number, key in enumerate(keys[1:], 2):
        state = state.translate(_BOX)
        state = bytes(state[i] for i in _SHIFT)
        if number < len(keys):
            mixed = bytearray(16)
            for c in (0, 4, 8, 12):
                a, b, d, e = state[c : c + 4]
                mixed[c] = two[a] ^ three[b] ^ d ^ e
                mixed[c + 1] = a ^ two[b] ^ three[d] ^ e
                mixed[c + 2] = a ^ b ^ two[d] ^ three[e]
                mixed[c + 3] = three[a] ^ b ^ d ^ two[e]
            state = mixed
        state = _add(state, key)
    return state


def decrypt_block(block, keys):
    nine, eleven, thirteen, fourteen = (_TIMES[factor] for factor in (9, 11, 13, 14))
    state = _add(block, keys[-1])
    for number in range(len(keys) - 2, -1, -1):
        state = bytes(state[i] for i in _SHIFT_BACK).translate(_INVERSE)
        state = _add(state, keys[number])
        if number:
            mixed = bytearray(16)
            for c in (0, 4, 8, 12):
                a, b, d, e = state[c : c + 4]
                mixed[c] = fourteen[a] ^ eleven[b] ^ thirteen[d] ^ nine[e]
                mixed[c + 1] = nine[a] ^ fourteen[b] ^ eleven[d] ^ thirteen[e]
                mixed[c + 2] = thirteen[a] ^ nine[b] ^ fourteen[d] ^ eleven[e]
                mixed[c + 3] = eleven[a] ^ thirteen[b] ^ nine[d] ^ fourteen[e]
            state = bytes(mixed)
    return state
