"""What a result was measured on."""

import os
import platform
import subprocess


def _first_line(path, default=""):
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return default


def _output(*command, cwd=None):
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _field(path, name):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return ""


def _distribution():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _chosen(setting):
    """always [madvise] never -> madvise"""
    return setting.partition("[")[2].partition("]")[0] or setting


def describe():
    return {
        "kernel": platform.release(),
        "distribution": _distribution(),
        "cpu": _field("/proc/cpuinfo", "model name") or platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_kib": int(_field("/proc/meminfo", "MemTotal").split()[0]),
        "swap_kib": int(_field("/proc/meminfo", "SwapTotal").split()[0]),
        "thp": _chosen(_first_line("/sys/kernel/mm/transparent_hugepage/enabled", "none")),
        "page_bytes": os.sysconf("SC_PAGESIZE"),
        "load_average": os.getloadavg()[0],
    }


def library_version(path):
    """The version of the Debian package that a library is of; of Fallow, its git commit."""
    if not path:
        return " ".join(platform.libc_ver()).strip()
    if os.path.basename(path).startswith("libfallow"):
        return _output("git", "describe", "--always", "--dirty", cwd=os.path.dirname(__file__)) or "not in git"
    for name in (path, os.path.realpath(path), path.replace("/lib/", "/usr/lib/", 1)):
        owner = _output("dpkg-query", "-S", name).partition(": ")[0]
        if owner:
            return _output("dpkg-query", "-W", "-f", "${Version}", owner)
    return os.path.basename(os.path.realpath(path))


def one_line(machine):
    return (f"{machine['cpus']} CPUs ({machine['cpu']}), Linux {machine['kernel']}, "
            f"{machine['memory_kib'] / 1048576:.0f} GiB, THP {machine['thp']}")
