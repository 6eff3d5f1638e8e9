def __getattr__(name):
    if name == "Engine":
        from .impl import Engine

        return Engine
    raise AttributeError(name)
