"""The part of bench/run purge that watches processes which have freed their memory and sleep.

Each is watched from here, by /proc/PID/smaps_rollup and its own memory cgroup, so that nothing wakes it. The allocators
of one case are started one after another and then sleep at the same time."""

import json
import re
import subprocess
import threading
import time

import allocators
import common
import memory_cgroup
import panels

KEY = "idle"
IDENTITY = ("load", "keep", "threads", "allocator", "at_s")
LOADS = {"64k": "64 KiB blocks", "mixed": "mixed sizes, 16 B to 2 KiB"}
CASES = (("64k", 0), ("64k", 33), ("mixed", 0), ("mixed", 33))
QUICK_CASES = (("64k", 0), ("mixed", 33))
EARLY = (0.01, 0.05, 0.1, 0.15, 0.25, 0.5, 0.75)  # then each half second
ROUNDS_MAX = 2  # levels, not rates: they hardly differ from round to round

_missing = []  # why there is no cgroup's usage


def moments(options):
    return [*EARLY, *(half / 2 for half in range(2, int(options.idle_seconds * 2) + 1))]


def steps(options, chosen, number):
    if number > ROUNDS_MAX:
        return
    for load, keep in QUICK_CASES if options.quick else CASES:
        yield (options.idle_seconds + 0.8 * len(chosen), f"idle, {_case_name(load, keep)}",
               lambda load=load, keep=keep: _run_case(options, chosen, load, keep, number))


def _case_name(load, keep):
    return f"{LOADS[load]}, {f'all but each {keep}rd freed' if keep else 'all freed'}"


class _Sleeper:
    """A process that has freed its memory, and the thread that watches it."""

    def __init__(self, options, allocator, path, load, keep, cgroup):
        self.allocator, self.path, self.cgroup = allocator, path, cgroup
        self.result, self.samples, self.error, self.freed = None, [], None, None
        threads = 0 if options.single_threaded else 1
        self.command = [common.program(options, "fallow-idle"), "-m", f"{options.idle_mib}m", "-s", load,
                        "-k", str(keep), "-t", str(threads), "--json"]
        self.process = subprocess.Popen(
            [*(memory_cgroup.joining(cgroup) if cgroup else []), *self.command],
            env=allocators.environment(allocator, path), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self._watch, args=(moments(options),), daemon=True)

    def begin(self):
        """Waits until it has freed its memory, and watches it from then on. False if something is wrong."""
        line = self.process.stdout.readline()
        self.freed = time.monotonic()
        if not line:
            self.error = (f"{self.allocator.label}: {' '.join(self.command)} failed\n"
                          f"{self.process.stderr.read().strip()}")
            return False
        self.result = json.loads(line)
        malloc = self.result["malloc"]
        self.error = allocators.check(self.allocator, self.path, malloc["name"], malloc["path"])
        if not self.error:
            self.thread.start()
        return not self.error

    def _watch(self, at):
        try:
            for moment in at:
                time.sleep(max(0, self.freed + moment - time.monotonic()))
                self.samples.append(self._sample(moment))
        except (OSError, TypeError) as error:  # it has gone: no file, or an empty one
            self.error = f"{self.allocator.label}: it cannot be watched any more: {error}"

    def _sample(self, moment):
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as file:
            text = file.read()
        rss, lazy = (int(re.search(rf"^{name}: +(\d+) kB", text, re.MULTILINE)[1]) for name in ("Rss", "LazyFree"))
        return {"at_s": moment, "rss_kib": rss, "lazy_kib": lazy, "honest_kib": rss - lazy,
                "cgroup_kib": memory_cgroup.usage_kib(self.cgroup) if self.cgroup else None}

    def end(self):
        """Its input ends, so it goes; if it does not, it is made to."""
        try:
            _, complaint = self.process.communicate("", timeout=20)
            if complaint and not self.error:
                self.error = f"{self.allocator.label} complained, so it may not run as told:\n{complaint.strip()}"
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


def _run_case(options, chosen, load, keep, number):
    sleepers = []
    with memory_cgroup.Cgroups() as cgroups:
        try:
            for allocator, path in chosen:
                sleepers.append(_Sleeper(options, allocator, path, load, keep, cgroups.create()))
                if not sleepers[-1].begin():
                    break
            else:
                for sleeper in sleepers:
                    sleeper.thread.join()
        except BaseException:
            for sleeper in sleepers:
                sleeper.process.kill()
            raise
        finally:
            for sleeper in sleepers:
                sleeper.end()
        if cgroups.missing and cgroups.missing not in _missing:
            _missing.append(cgroups.missing)
    for sleeper in sleepers:
        if sleeper.error:
            common.fail(sleeper.error)
    return [{"load": load, "keep": keep, "threads": sleeper.result["threads"], "allocator": sleeper.allocator.key,
             "round": number, **sample, "live_kib": sleeper.result["kept_bytes"] / 1024,
             "full_rss_kib": sleeper.result["full_rss_kib"], "build_ms": sleeper.result["build_ms"],
             "free_ms": sleeper.result["free_ms"]}
            for sleeper in sleepers for sample in sleeper.samples]


def _threads(options):
    return "no other thread" if options.single_threaded else "one more thread, asleep"


def _cases(medians):
    return list(dict.fromkeys((row["load"], row["keep"]) for row in medians))


def _curve(medians, case, allocator):
    return {row["at_s"]: row for row in medians
            if (row["load"], row["keep"], row["allocator"]) == (*case, allocator.key)}


def _mib(kib):
    return "-" if kib is None else f"{kib / 1024:,.1f}"


def report(options, chosen, medians):
    lines = []
    shown = [at for at in (0.1, 1, 5, 12) if at in moments(options)]
    last = moments(options)[-1]
    if last not in shown:
        shown.append(last)
    for case in _cases(medians):
        rows = []
        for allocator, _ in chosen:
            curve = _curve(medians, case, allocator)
            first = next(iter(curve.values()))
            rows.append([allocator.label, _mib(first["full_rss_kib"]), f"{first['free_ms']:,.0f}",
                         *(f"{_mib(curve[at]['honest_kib'])} / {_mib(curve[at]['rss_kib'])} / "
                           f"{_mib(curve[at]['cgroup_kib'])}" for at in shown)])
        lines += ["", f"fallow-idle: {options.idle_mib} MiB in {_case_name(*case)}; "
                      f"{_mib(first['live_kib'])} MiB live; {_threads(options)}",
                  "MiB after the free: honest RSS / kernel RSS / cgroup usage", ""]
        lines += common.table(["", "full RSS", "freeing ms", *(f"{at:g} s" for at in shown)], rows)
    return lines


def caveats(_medians):
    return [f"No cgroup usage: {missing}." for missing in _missing]


def draw(base, options, chosen, medians, where, date, warnings):
    last = moments(options)[-1]
    grid, row = [], []
    for case in _cases(medians):
        series = []
        for allocator, _ in chosen:
            curve = _curve(medians, case, allocator)
            for name, dash in (("cgroup_kib", 3), ("rss_kib", 2), ("honest_kib", 1)):
                points = tuple((at, one[name] / 1024) for at, one in curve.items() if one[name] is not None)
                series.append(panels.Series(allocator.label, panels.COLOURS[allocator.key], points, dash))
        ticks = tuple((at, f"{at} s") for at in range(0, int(last) + 1, 2))
        name = _case_name(*case)
        row.append(panels.Panel(f"{name[0].upper()}{name[1:]}; MiB", tuple(series), ticks=ticks))
        if len(row) == 2:
            grid.append(row)
            row = []
    if row:
        grid.append(row)
    return panels.draw(base, "What a process that sleeps holds of what it has freed",
                       "Solid: honest RSS (Rss - LazyFree), what it really holds. Dashed: kernel RSS. Dotted: usage of "
                       "its cgroup. Lower is better.",
                       f"fallow-idle, {options.idle_mib} MiB, {_threads(options)}; watched from outside.", grid, where,
                       date, warnings)
