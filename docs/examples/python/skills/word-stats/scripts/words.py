"""Beside the script, as skills have it."""


def split_words(text, leave_out):
    return [word for word in text.lower().split() if word not in leave_out]
