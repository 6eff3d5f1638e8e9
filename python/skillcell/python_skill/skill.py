"""Runs a Python program as `python3 path …` would: it is `__main__`, its folder can be written, and what it leaves there is
given back.

The program shares this interpreter, so what is returned is its word: whoever called it looks at it as at any stranger's.
"""

import ast
import base64
import io
import json
import linecache
import os
import sys
import traceback
import types

from skillware.core.base_skill import BaseSkill

FOLDER = "/tmp/program"


class Python(BaseSkill):
    @property
    def manifest(self):
        return {"name": "skillcell/python", "version": "0.1.0"}

    def execute(self, params):
        files = {path: base64.b64decode(text) for path, text in params["files"].items()}
        lay_files(files)
        sys.argv = [params["path"], *params["argv"]]
        sys.stdin = io.TextIOWrapper(io.BytesIO(params["stdin"].encode()), encoding="utf-8")
        sys.path[:0] = [os.path.join(FOLDER, os.path.dirname(params["path"])).rstrip("/"), FOLDER]
        if params.get("step"):
            return run_step(params["code"])
        exit_code = run_program(params["code"], params["path"])
        return {"exit_code": exit_code, "files": written_files(files)}


def lay_files(files):
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    for path, content in files.items():
        os.makedirs(os.path.dirname(os.path.join(FOLDER, path)), exist_ok=True)
        with open(os.path.join(FOLDER, path), "wb") as file:
            file.write(content)


def run_program(code, path):
    """The exit code that a process would have."""
    name = os.path.join(FOLDER, path)
    main = types.ModuleType("__main__")
    main.__file__ = name
    sys.modules["__main__"] = main
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        exec(compile(code, name, "exec", dont_inherit=True), vars(main))
    except SystemExit as ended:
        return exit_code_of(ended)
    except BaseException:
        print_error()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def exit_code_of(ended):
    if ended.code is None or isinstance(ended.code, int):
        return (ended.code or 0) & 0xFF
    print(ended.code, file=sys.stderr)
    return 1


def print_error():
    """Without the frames of this file."""
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def written_files(before):
    """What is new or changed in the folder."""
    found = {}
    for folder, _, names in os.walk(FOLDER):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                content = file.read()
            inner = os.path.relpath(path, FOLDER)
            if before.get(inner) != content and "__pycache__" not in inner:
                found[inner] = base64.b64encode(content).decode()
    return found


class FinalAnswer(BaseException):
    """Ends a step with the answer."""


def final_answer(answer=None):
    raise FinalAnswer(answer)


#: What an agent's steps are run in. A session keeps this cell, and so the names that its steps make.
STEPS = types.ModuleType("__main__")


def run_step(code):
    """A step of an agent: the value of its last line is the output."""
    sys.modules["__main__"] = STEPS
    vars(STEPS)["final_answer"] = final_answer
    result = {"output": None, "final": False, "error": None}
    try:
        result["output"] = run_lines(code, vars(STEPS))
    except FinalAnswer as answer:
        result["output"], result["final"] = answer.args[0], True
    except BaseException as error:
        result["error"] = f"{type(error).__name__}: {error}"
        print_error()
    return {**result, "output": as_json(result["output"])}


def as_json(value):
    """The value, or its `repr` if JSON has no such thing."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return repr(value)


def run_lines(code, names):
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<step>", "exec", dont_inherit=True), names)
    return eval(compile(ast.Expression(last.value), "<step>", "eval"), names) if last is not None else None
