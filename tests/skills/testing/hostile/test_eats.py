def test_takes_all_memory():
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
