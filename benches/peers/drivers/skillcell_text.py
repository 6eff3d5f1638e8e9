"""Programs given as text, each in a cell of its own."""

import skillcell
from driving import drive

host = skillcell.Host()


def call(work):
    ran = skillcell.run_python(work["text"], host=host)
    if ran.exit_code:
        raise RuntimeError(ran.stderr)
    return ran.stdout


drive(call)
