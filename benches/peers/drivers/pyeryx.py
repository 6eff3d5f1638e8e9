"""A new sandbox of eryx for each program."""

from driving import drive
from eryx import Sandbox


def call(work):
    return Sandbox().execute(work["text"]).stdout_text


drive(call)
