"""Starts, signals and becomes other processes."""

import asyncio
import os
import signal
import subprocess
import sys
import threading

from skillware.core.base_skill import BaseSkill


class Starts(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params["attempt"])()

    def os_system(self):
        return os.system("id > /tmp/id")

    def system_of_posix(self):
        import posix

        return posix.system("id")

    def popen(self):
        return os.popen("id").read()

    def run(self):
        return subprocess.run(["/bin/sh", "-c", "id"], capture_output=True).stdout

    def shell(self):
        return subprocess.check_output("id", shell=True)

    def itself(self):
        return subprocess.run([sys.executable, "-c", "print(1)"])

    def real_popen(self):
        """What is under `subprocess`, without the stand-in."""
        import _posixsubprocess

        return _posixsubprocess.fork_exec

    def fork(self):
        return os.fork()

    def execute_program(self):
        os.execv("/bin/sh", ["sh", "-c", "id"])

    def spawn(self):
        return os.spawnv(os.P_WAIT, "/bin/sh", ["sh"])

    def posix_spawn(self):
        return os.posix_spawn("/bin/sh", ["sh"], {})

    def kill_parent(self):
        os.kill(os.getppid(), signal.SIGTERM)

    def kill_everyone(self):
        os.kill(-1, signal.SIGTERM)

    def kill_group(self):
        os.killpg(0, signal.SIGTERM)

    def wait(self):
        return os.waitpid(-1, 0)

    def multiprocessing_process(self):
        import multiprocessing

        multiprocessing.Process(target=print).start()

    def multiprocessing_pool(self):
        import multiprocessing

        return multiprocessing.Pool(2)

    def spawn_context(self):
        import multiprocessing

        multiprocessing.get_context("spawn").Process(target=print).start()

    def executor(self):
        from concurrent.futures import ProcessPoolExecutor

        return ProcessPoolExecutor(1).submit(os.getpid).result()

    def asyncio_subprocess(self):
        return asyncio.run(asyncio.create_subprocess_exec("id"))

    def terminal(self):
        import pty

        pty.spawn("/bin/sh")

    def interpreter(self):
        import concurrent.interpreters

        return concurrent.interpreters.create()

    def remote(self):
        """Python's own way into another process."""
        with open("/tmp/evil.py", "w") as file:
            file.write("evil = True")
        sys.remote_exec(1, "/tmp/evil.py")

    def limits(self):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))

    def nice(self):
        return os.nice(-20)

    def alarm(self):
        signal.alarm(1)

    def timer(self):
        signal.setitimer(signal.ITIMER_REAL, 0.1)

    def signal_itself(self):
        signal.raise_signal(signal.SIGKILL)

    def abort(self):
        os.abort()

    def exit_at_once(self):
        os._exit(7)

    def exit(self):
        sys.exit("enough")

    def endless_thread(self):
        """Deaf to the end of the call."""

        def spin():
            while True:
                pass

        thread = threading.Thread(target=spin)
        thread.start()
        thread.join()

    def browser(self):
        import webbrowser

        if not webbrowser.open("https://example.org"):
            raise OSError("no browser")

    # What may be done instead.

    def own_number(self):
        return [os.getpid(), os.getppid()]

    def thread(self):
        done = []
        thread = threading.Thread(target=done.append, args=(1,))
        thread.start()
        thread.join()
        return done

    def handler(self):
        signal.signal(signal.SIGTERM, lambda *_: None)
        return "set"

    def returns(self):
        return "returned"
