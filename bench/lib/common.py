"""What every command of bench/run shares: its options, its errors, its tables."""

import argparse
import json
import os
import subprocess
import sys
import time
from statistics import median

import allocators

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parser(command, description):
    result = argparse.ArgumentParser(prog=f"bench/run {command}", description=description)
    result.add_argument("--no-build", action="store_true", help="install and build nothing")
    result.add_argument("--build-dir", default=os.path.join(ROOT, "build", "release"), metavar="DIR",
                        help="where the build is (build/release)")
    result.add_argument("--peers-only", action="store_true", help="do not measure Fallow")
    return result


def at_least(least, kind):
    """An argparse type: a number of that kind, not below the least."""
    def convert(text):
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not least <= number < 1e6:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number from {least}")
        return number
    return convert


def add_output(result):
    result.add_argument("--output", metavar="DIR", default=os.path.join(ROOT, "build", "bench-results"),
                        help="where results go, each run in a directory by its date (build/bench-results)")


def fail(message):
    sys.exit(f"bench/run: {message}")


def shown(path):
    """A path as people want to read it: relative if it is below where they are."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def program(options, name):
    path = os.path.join(options.build_dir, "bench", name)
    if not os.access(path, os.X_OK):
        fail(f"{path} is not built")
    return path


def choose(options, wanted):
    """The wanted allocators that are there, as pairs (allocator, path). Without Fallow it fails."""
    if options.peers_only:
        wanted = [a for a in wanted if not a.is_fallow]
    found, missing = allocators.available(wanted, options.build_dir)
    if any(a.is_fallow for a in missing):
        fail(f"{options.build_dir}/libfallow.so is not built (--peers-only measures without it)")
    for allocator in missing:
        print(f"{allocator.label} is left out: {allocator.library} is not installed")
    return found


def table(header, rows):
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = []
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines


def rounds(options):
    return f"median of {options.rounds} interleaved rounds" if options.rounds > 1 else "one round"


class Progress:
    """One line a step, with the time left: steps may weigh differently."""

    def __init__(self, total, weight=None):
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.weight, self.weight_done = weight or total, 0
        self.live = sys.stdout.isatty()

    def step(self, text, weight=1):
        self.done += 1
        self.weight_done += weight
        left = (time.monotonic() - self.start) / self.weight_done * (self.weight - self.weight_done)
        line = f"[{self.done:3}/{self.total}] {int(left) // 60}:{int(left) % 60:02} left  {text}"
        print("\r\033[K" + line if self.live else line, end="" if self.live else "\n", flush=True)
        if self.live and self.done == self.total:
            print("\r\033[K", end="")


def run_json(label, command, environment, seconds):
    """The JSON that a program prints. Whatever is not exactly as told ends the comparison: a wrong figure is worse
    than none."""
    text = " ".join(command)
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        fail(f"{label}: no end of {text}")
    if done.returncode != 0:
        fail(f"{label}: {text} ended with {done.returncode}\n{done.stderr.strip()}")
    if done.stderr:
        fail(f"{label} complained, so it may not run as told:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def run_allocator(allocator, path, command, seconds):
    """The same on an allocator, made sure of by the program's own account."""
    result = run_json(allocator.label, command, allocators.environment(allocator, path), seconds)
    error = allocators.check(allocator, path, result["malloc"]["name"], result["malloc"]["path"])
    if error:
        fail(error)
    return result


def medians(rows, identity):
    """Rows that agree in the identity become one, each of their figures the median of those there are."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in identity), []).append(row)
    result = []
    for key, group in groups.items():
        figures = {}
        for name in group[0]:
            values = [row[name] for row in group if row.get(name) is not None]
            if name not in identity and name != "round":
                figures[name] = median(values) if values else None
        result.append({**dict(zip(identity, key)), **figures})
    return result


def point_latest(output, directory):
    link = os.path.join(output, "latest")
    temporary = f"{link}.{os.getpid()}"
    os.symlink(os.path.basename(directory), temporary)
    os.replace(temporary, link)
