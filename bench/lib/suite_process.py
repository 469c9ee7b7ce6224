"""One process of bench/run suite, timed or watched.

Timed: nothing looks at it while it runs. Watched: /proc/PID/smaps_rollup is read every 10 ms, which walks its page
tables under its lock and so disturbs its time. Of a process that forks, the biggest of its tree counts, as in
ru_maxrss. A peak that lasts less than what lies between two samples can be missed.

ru_maxrss begins with what its parent, this driver, had resident when it started the process: where it is not above
that, it says nothing. Of a watched process the greatest counts of ru_maxrss and of VmHWM and Rss in all samples, since
the kernel's high-water marks come from counters that may lag by some pages a CPU."""

import os
import re
import resource
import subprocess
import tempfile
import threading
import time

import common

SAMPLE_S = 0.01
LIMIT_S = 120
_EARLY_LOOKS = 50  # samples that come faster: some programs end within 15 ms
_MAPS_LOOKS = 10  # samples of a process that look for the allocator among its mappings
_PEERS = re.compile(r"/lib(?:jemalloc|mimalloc|tcmalloc|fallow)[^/]*$")


def _read(path):
    """A file's text; '' once its process has gone."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _kib(text, name):
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) if found else 0


def tree(pid):
    """The process and all that descend from it."""
    pids = [pid]
    for parent in pids:
        pids += [int(child) for child in _read(f"/proc/{parent}/task/{parent}/children").split()]
    return pids


def rollup(pid):
    """(Rss, Rss - LazyFree) in KiB, (0, 0) once it has gone."""
    text = _read(f"/proc/{pid}/smaps_rollup")
    rss = _kib(text, "Rss")
    return rss, rss - _kib(text, "LazyFree")


def mapped_objects(pid):
    return set(re.findall(r"(/\S+)(?: \(deleted\))?$", _read(f"/proc/{pid}/maps"), re.MULTILINE))


class Watch:
    """The peaks of a process tree, and whose malloc its members have mapped."""

    def __init__(self, preload):
        self.preload = os.path.realpath(preload) if preload else ""
        self.samples = self.honest_kib = self.high_kib = 0
        self.foreign = set()  # allocators that are mapped though nothing was preloaded
        self._looks, self._mapped = {}, set()

    def sample(self, pids):
        self.samples += 1
        for pid in pids:
            rss, honest = rollup(pid)
            self.honest_kib = max(self.honest_kib, honest)
            self.high_kib = max(self.high_kib, rss, _kib(_read(f"/proc/{pid}/status"), "VmHWM"))
            self._looks[pid] = self._looks.get(pid, 0) + 1
            if self._looks[pid] <= _MAPS_LOOKS and pid not in self._mapped:
                self._look(pid)

    def _look(self, pid):
        objects = mapped_objects(pid)
        if not self.preload:
            self.foreign |= {path for path in objects if _PEERS.search(path)}
        elif self.preload in {os.path.realpath(path) for path in objects}:
            self._mapped.add(pid)

    def add(self, figures):
        """The figures of a process that has ended, with its peaks."""
        return {**figures, "peak_rss_kib": max(figures["peak_rss_kib"] or 0, self.high_kib),
                "peak_honest_kib": self.honest_kib, "samples": self.samples}

    def error(self):
        """A text if a process that was seen often enough did not run on what was preloaded."""
        unmapped = [pid for pid, looks in self._looks.items() if looks >= 3 and pid not in self._mapped]
        if self.preload and (unmapped or not self._mapped):
            return f"{self.preload} was preloaded, but is not mapped"
        return f"nothing was preloaded, but {', '.join(sorted(self.foreign))} is mapped" if self.foreign else None


class Process:
    """A started process. On leaving the context it and its descendants, and no others, are ended."""

    def __init__(self, label, command, environment):
        self.label, self.command = label, command
        self.floor_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._out, self._err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self._timed_out = threading.Event()
        self.start = time.monotonic()
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=self._out,
                                         stderr=self._err)
        self.pid = self._process.pid
        self._timer = threading.Timer(LIMIT_S, self._give_up)
        self._timer.daemon = True
        self._timer.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._timer.cancel()
        if self._process.returncode is None:
            self._end_tree()
            self._process.wait()
        self._out.close()
        self._err.close()

    def _give_up(self):
        self._timed_out.set()
        self._end_tree()

    def _end_tree(self):
        for pid in reversed(tree(self.pid)):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass

    def finish(self, sample=None):
        """Waits for its end, calling sample every millisecond at first, then every 10. Its figures."""
        looks = 0
        pid, status, usage = os.wait4(self.pid, os.WNOHANG if sample else 0)
        while not pid:
            sample()
            looks += 1
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if not pid:
                time.sleep(SAMPLE_S if looks > _EARLY_LOOKS else SAMPLE_S / 10)
        wall_s = time.monotonic() - self.start
        self._timer.cancel()
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._refuse_failure()
        return {"wall_s": wall_s, "user_s": usage.ru_utime, "sys_s": usage.ru_stime, "faults": usage.ru_minflt,
                "peak_rss_kib": usage.ru_maxrss if usage.ru_maxrss > self.floor_kib else None}

    def _refuse_failure(self):
        if self._timed_out.is_set():
            common.fail(f"{self.label}: no end of {' '.join(self.command)} within {LIMIT_S} s")
        if self._process.returncode != 0:
            common.fail(f"{self.label}: {' '.join(self.command)} ended with {self._process.returncode}\n"
                        f"{(self.errors() or self.output()).strip()}")

    def output(self):
        self._out.seek(0)
        return self._out.read()

    def errors(self):
        self._err.seek(0)
        return self._err.read()
