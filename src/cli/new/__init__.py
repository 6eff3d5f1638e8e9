from .skill import {{class}}

__all__ = ["{{class}}"]
