import _host


def test_hands_over_a_result_of_its_own():
    _host.call(b"G[1, 2]")
