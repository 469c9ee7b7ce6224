"""Memory cgroups (v1) for the processes of a benchmark, one each, and never left behind."""

import os
import re
import time

_PREFIX = "fallow-bench-"


def _mount():
    """Where the v1 memory controller is mounted, or None."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        for line in file:
            _, where, kind, settings, *_ = line.split(" ")
            if kind == "cgroup" and "memory" in settings.split(","):
                return where
    return None


def _parent():
    """The directory of this process's own memory cgroup, or None."""
    mount = _mount()
    if not mount:
        return None
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if "memory" in controllers.split(","):
                own = os.path.join(mount, path.lstrip("/"))
                return own if os.path.isdir(own) else mount
    return None


def _remove(path):
    """A cgroup goes when its last process has; that may be a moment after it was waited for."""
    for _ in range(100):
        try:
            os.rmdir(path)
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.05)
    print(f"{path} could not be removed")


class Cgroups:
    """As a context: what it made is removed at its end, whatever ended it."""

    def __init__(self):
        self.parent, self.made, self.missing = _parent(), [], None
        if not self.parent:
            self.missing = "there is no memory cgroup v1 here"
        elif not os.access(self.parent, os.W_OK):
            self.missing = f"{self.parent} is not writable"

    def __enter__(self):
        if not self.missing:
            self._remove_orphans()
        return self

    def __exit__(self, *_):
        for path in self.made:
            _remove(path)

    def _remove_orphans(self):
        """Those of benchmarks that were killed."""
        for name in os.listdir(self.parent):
            owner = re.fullmatch(_PREFIX + r"(\d+)-\d+", name)
            if owner and not os.path.exists(f"/proc/{owner[1]}"):
                _remove(os.path.join(self.parent, name))

    def create(self):
        """The path of a new cgroup, None where there can be none."""
        if self.missing:
            return None
        path = os.path.join(self.parent, f"{_PREFIX}{os.getpid()}-{len(self.made)}")
        try:
            os.mkdir(path)
        except OSError as error:
            self.missing = f"{path}: {error.strerror}"
            return None
        self.made.append(path)
        return path


def joining(path):
    """What stands before a command line, so that the command runs in the cgroup from its start."""
    return ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', os.path.join(path, "cgroup.procs")]


def usage_kib(path):
    with open(os.path.join(path, "memory.usage_in_bytes"), encoding="ascii") as file:
        return int(file.read()) / 1024
