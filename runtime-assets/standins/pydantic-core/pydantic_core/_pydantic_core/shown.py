"""How inputs are shown in messages."""


def show_type(value):
    return type(value).__name__


def shorten(value, limit=50):
    try:
        text = repr(value)
    except Exception:
        return f"<unprintable {type(value).__name__} object>"
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}...{text[-(half - 1):]}"


def listed(values):
    """'a', 'b' or 'c'."""
    shown = [repr(value) for value in values]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
