import fcntl
import pwd
import ssl
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"tls": ssl.OPENSSL_VERSION, "user": pwd.getpwuid(0).pw_name, "lock": fcntl.LOCK_EX}
