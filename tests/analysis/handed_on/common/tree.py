import subprocess


def find(name):
    return subprocess.run(["find", name], capture_output=True, check=True).stdout
