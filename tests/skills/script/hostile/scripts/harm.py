import os
import shutil
import subprocess
import sys


def hang():
    while True:
        pass


def wait():
    sys.stdin.read()


def flood():
    while True:
        print("x" * 1000)


def fork():
    os.fork()


def program():
    subprocess.run(["git", "status"], check=True)


def wipe():
    shutil.rmtree(".")


def many():
    for number in range(10_000):
        with open(f"file-{number}", "w") as file:
            file.write("x")


def large():
    with open("large", "wb") as file:
        for _ in range(1000):
            file.write(bytes(1 << 20))


def climb():
    with open("../../../etc/passwd") as file:
        print(file.read())


def poison():
    """Changes what a later run would import, if anything of this one were left."""
    with open("scripts/harm.py", "w") as file:
        file.write("print('poisoned')")
    sys.modules["os"] = None


def nothing():
    print(sorted(os.listdir(".")), sorted(os.listdir("scripts")))


globals()[sys.argv[1]]()
