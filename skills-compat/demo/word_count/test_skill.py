from skill import WordCount


def test_words_are_counted():
    counted = WordCount().execute({"text": "The cat and the hat", "most": 1})
    assert counted == {"words": 5, "most": [("the", 2)]}
