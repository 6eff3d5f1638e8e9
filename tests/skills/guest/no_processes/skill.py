import asyncio
import concurrent.futures
import ctypes
import multiprocessing
import os
import signal
import subprocess

from skillware.core.base_skill import BaseSkill

WAYS = {
    "subprocess.run": lambda: subprocess.run(["ls"]),
    "subprocess.check_output": lambda: subprocess.check_output("ls", shell=True),
    "subprocess.Popen": lambda: subprocess.Popen(["ls"]),
    "os.system": lambda: os.system("ls"),
    "os.popen": lambda: os.popen("ls"),
    "os.fork": lambda: os.fork(),
    "os.execv": lambda: os.execv("/bin/ls", ["ls"]),
    "os.execvp": lambda: os.execvp("ls", ["ls"]),
    "os.posix_spawn": lambda: os.posix_spawn("/bin/ls", ["ls"], {}),
    "os.kill": lambda: os.kill(1, 9),
    "signal.alarm": lambda: signal.alarm(1),
    "asyncio": lambda: asyncio.run(asyncio.create_subprocess_exec("ls")),
    "multiprocessing.Process": lambda: multiprocessing.Process(target=print).start(),
    "multiprocessing.Pool": lambda: multiprocessing.Pool(2),
    "ProcessPoolExecutor": lambda: concurrent.futures.ProcessPoolExecutor(),
    "ctypes": lambda: ctypes.CDLL("libc.so.6"),
}


class NoProcesses(BaseSkill):
    manifest = {}

    def execute(self, params):
        said = {}
        for name, way in WAYS.items():
            try:
                said[name] = f"worked: {way()!r}"
            except Exception as error:
                said[name] = f"{type(error).__name__}: {error}"
        return said
