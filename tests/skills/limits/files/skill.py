import os

from skillware.core.base_skill import BaseSkill


def open_many():
    kept = []
    while True:
        kept.append(open("/tmp/one", "w"))


def write_much():
    with open("/tmp/large", "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 100_000)


def write_home():
    with open(os.path.expanduser("~/large"), "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 100_000)


def make_files():
    for number in range(10**6):
        open(f"/tmp/{number}", "w").close()


def make_folders():
    path = "/tmp"
    for number in range(10**6):
        os.mkdir(f"{path}/{number}")


def truncate():
    with open("/tmp/sparse", "wb") as file:
        file.truncate(1 << 40)


def seek():
    with open("/tmp/sparse", "wb", buffering=0) as file:
        file.seek(1 << 40)
        file.write(b"x")


def unlinked():
    """Files without a name still count while they are open."""
    kept = []
    while True:
        file = open("/tmp/unlinked", "wb", buffering=0)
        os.unlink("/tmp/unlinked")
        file.write(b"x" * 100_000)
        kept.append(file)


WORK = (open_many, unlinked, write_much, write_home, make_files, make_folders, truncate, seek)
WAYS = {work.__name__: work for work in WORK}


class Files(BaseSkill):
    manifest = {}

    def execute(self, params):
        try:
            WAYS[params["way"]]()
        except OSError as error:
            if not params["catch"]:
                raise
            errno = error.errno
        return {"errno": errno, "in_use": sum(os.path.getsize(f"/tmp/{name}") for name in os.listdir("/tmp"))}
