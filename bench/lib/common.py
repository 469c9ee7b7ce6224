"""What every command of bench/run shares: its options, its errors, its tables."""

import argparse
import os
import sys

import allocators

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parser(command, description):
    result = argparse.ArgumentParser(prog=f"bench/run {command}", description=description)
    result.add_argument("--no-build", action="store_true", help="install and build nothing")
    result.add_argument("--build-dir", default=os.path.join(ROOT, "build", "release"), metavar="DIR",
                        help="where the build is (build/release)")
    result.add_argument("--peers-only", action="store_true", help="do not measure Fallow")
    return result


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
