def test_before():
    pass


def test_never_ends():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def test_after():
    pass
