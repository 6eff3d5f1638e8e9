import fcntl
import getpass
import grp
import os
import pwd
import tempfile

from skillware.core.base_skill import BaseSkill


class Identity(BaseSkill):
    manifest = {}

    def execute(self, params):
        with tempfile.NamedTemporaryFile("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            owner = os.stat(file.name).st_uid
            os.chmod(file.name, 0o600)
            os.chown(file.name, 0, 0)
        with open(os.devnull, "w") as nothing:
            nothing.write("gone")
        return {
            "owns_files": owner == os.getuid() == os.geteuid(),
            "user": pwd.getpwuid(os.getuid()).pw_name,
            "group": grp.getgrgid(os.getgid()).gr_name,
            "getuser": getpass.getuser(),
            "home": os.path.expanduser("~"),
            "cpus": os.cpu_count(),
            "null": open(os.devnull).read(),
        }
