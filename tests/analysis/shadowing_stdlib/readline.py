def last():
    return "none"
