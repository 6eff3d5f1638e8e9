# Printed by a Python about itself, as JSON: where it is, which wheels it takes, and what environment markers see (PEP 508).
import json, os, platform, sys

try:
    libc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")
except Exception:
    libc = None


def full(info):
    text = "%d.%d.%d" % (info.major, info.minor, info.micro)
    return text if info.releaselevel == "final" else text + info.releaselevel[0] + str(info.serial)


print(json.dumps({
    "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "prefix": sys.base_prefix,
    "version": ".".join(map(str, sys.version_info[:3])),
    "build": sys.version + platform.machine(),
    "major": sys.version_info[0],
    "minor": sys.version_info[1],
    "glibc": int(libc[1]) if libc and libc[0] == "2" else None,
    "machine": platform.machine(),
    "markers": {
        "implementation_name": sys.implementation.name,
        "implementation_version": full(sys.implementation.version),
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    },
}))
