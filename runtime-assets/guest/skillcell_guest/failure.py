"""Turns an exception into what the host reports: its type, message and traceback, in the skill's own lines."""

import json

from skillcell_guest import door

#: A message or traceback beyond this many bytes is cut: it is for people.
MAX_TEXT = 64 * 1024
_OWN = "/skillcell_guest/"
#: Taken before any skill could put something else in its place.
_encode = json.JSONEncoder(ensure_ascii=False).encode


class ResultNotJSON(TypeError):
    """`execute` returned something that JSON can't hold."""


def hand_over(error, exit_code=None):
    report = describe(error)
    report["exit_code"] = exit_code
    report["errno"] = error.errno if isinstance(error, OSError) and isinstance(error.errno, int) else None
    report["module"] = _module(error)
    report["out_of_memory"] = isinstance(error, MemoryError)
    door.send(door.FAIL, _encode(report).encode())


def hand_over_exit(status):
    """A script ended itself with a status that is not 0."""
    report = {"type": "SystemExit", "message": str(status), "traceback": "", "exit_code": status}
    door.send(door.FAIL, _encode(report).encode())


def _module(error):
    """The module that was not there, if that is what it is about, or comes of."""
    for _ in range(10):
        if isinstance(error, ImportError) and isinstance(error.name, str):
            return _text(error.name[:200])
        error = error.__cause__ or error.__context__
        if error is None:
            return None


def describe(error):
    return {"type": _text(type_name(error)), "message": message(error), "traceback": trace(error)}


def _text(text, last=False):
    """Text that JSON can hold, cut to its beginning or its end."""
    encoded = text.encode("utf-8", "backslashreplace")
    encoded = encoded[-MAX_TEXT:] if last else encoded[:MAX_TEXT]
    return encoded.decode("utf-8", "ignore")


def type_name(error):
    kind = type(error)
    if kind.__module__ in ("builtins", "__main__", ResultNotJSON.__module__):
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def message(error):
    try:
        return _text(str(error))
    except BaseException as second:  # a skill's own __str__ may fail too
        return f"<the message could not be made: {type(second).__name__}>"


def trace(error):
    import traceback

    try:
        report = traceback.TracebackException.from_exception(error, compact=True)
        _leave_out_our_frames(report)
        return _text("".join(report.format()), last=True)
    except BaseException as second:
        return f"<the traceback could not be made: {type(second).__name__}>"


def _leave_out_our_frames(report):
    seen = []
    todo = [report]
    while todo:
        one = todo.pop()
        if one is None or one in seen:
            continue
        seen.append(one)
        one.stack[:] = [frame for frame in one.stack if not _is_ours(frame.filename)]
        # Python's advice for a module that is missing is about how the interpreter was started, which is our doing.
        one._str = one._str and one._str.partition(". Site initialization is disabled")[0]
        todo += [one.__cause__, one.__context__]


def _is_ours(filename):
    return _OWN in filename or filename.startswith("<frozen importlib") or filename.endswith("/importlib/__init__.py")


def without_ours(trace):
    """The frames of the program and of libraries: what a stand-in raised is raised where it was called."""
    kept = []
    while trace is not None:
        if _OWN not in trace.tb_frame.f_code.co_filename:
            kept.append(trace)
        trace = trace.tb_next
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    return kept[0] if kept else None


def explain_result(result, error):
    """Raises with the path of the first value that is not JSON, as `result["rows"][3]`."""
    found = _first_bad(result, "result", set())
    if found is None:
        raise error
    path, why = found
    raise ResultNotJSON(f"the skill's result is not JSON: {path} is {why}") from None


def _first_bad(value, path, inside):
    if value is None or isinstance(value, (bool, int)):
        return None
    if isinstance(value, str):
        return _bad_text(value, path)
    if isinstance(value, float):
        return None if value - value == 0 else (path, f"the number {value!r}, which JSON does not have")
    if not isinstance(value, (dict, list, tuple)):
        return path, f"of type {type_name_of(value)}"
    if id(value) in inside:
        return path, "a value that contains itself"
    if len(inside) > 400:
        return path, "nested too deeply"
    inside.add(id(value))
    try:
        return _first_bad_inside(value, path, inside)
    finally:
        inside.discard(id(value))


def _first_bad_inside(value, path, inside):
    if not isinstance(value, dict):
        items = enumerate(value)
    else:
        for key in value:
            if not isinstance(key, (str, int, float, bool, type(None))):
                return f"{path} key {key!r:.80}", f"of type {type_name_of(key)}"
        items = value.items()
    for key, item in items:
        found = _first_bad(item, f"{path}[{key!r:.80}]", inside)
        if found is not None:
            return found
    return None


def _bad_text(value, path):
    try:
        value.encode()
    except UnicodeEncodeError:
        return path, "text with half of a surrogate pair"
    return None


def type_name_of(value):
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
