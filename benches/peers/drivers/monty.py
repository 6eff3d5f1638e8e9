"""Monty: a new session for each program, from its pool of worker processes."""

from driving import drive
from pydantic_monty import CollectString, Monty

pool = Monty().__enter__()


def call(work):
    printed = CollectString()
    with pool.checkout() as session:
        session.feed_run(work["text"], print_callback=printed)
    return printed.output


drive(call)
