import pytest

from skill import Tested


@pytest.mark.parametrize("text, opens", [("open sesame", True), ("open", False)])
def test_only_the_right_word_opens(text, opens):
    assert Tested().execute({"text": text})["open"] is opens
