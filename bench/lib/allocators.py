"""The allocators that are compared, declared once: what they are called, where they are found, how they are set."""

import os
import subprocess
from dataclasses import dataclass, field

# What would change an allocator behind the comparison's back.
_FOREIGN_SETTINGS = (
    "LD_", "MALLOC_", "GLIBC_TUNABLES", "MIMALLOC_", "TCMALLOC_", "HEAPPROFILE", "HEAPCHECK", "FALLOW_",
)

KEEP = "keep"  # freed memory is kept as the allocator's defaults have it
AT_ONCE = "at once"  # every freed buffer is given back at once


@dataclass(frozen=True)
class Allocator:
    key: str  # in files and on the command line
    label: str  # in tables and charts
    library: str  # a soname, "" for the program's own libc, or "fallow"
    policy: str = KEEP
    settings: dict = field(default_factory=dict)

    @property
    def is_fallow(self):
        return self.library == "fallow"


ALL = (
    Allocator("glibc", "glibc", ""),
    Allocator("jemalloc", "jemalloc", "libjemalloc.so.2"),
    Allocator("jemalloc-at-once", "jemalloc, at once (MADV_DONTNEED)", "libjemalloc.so.2", AT_ONCE,
              {"MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"}),
    Allocator("mimalloc", "mimalloc", "libmimalloc.so.2"),
    Allocator("tcmalloc", "tcmalloc", "libtcmalloc_minimal.so.4"),
    Allocator("fallow", "Fallow", "fallow"),
    Allocator("fallow-at-once", "Fallow, at once with MADV_FREE", "fallow", AT_ONCE,
              {"FALLOW_CONF": "dirty_decay_ms:0"}),
    Allocator("fallow-at-once-dontneed", "Fallow, at once with MADV_DONTNEED", "fallow", AT_ONCE,
              {"FALLOW_CONF": "dirty_decay_ms:0,purge:dontneed"}),
)

DEFAULTS = tuple(a for a in ALL if a.policy == KEEP)


def _installed(soname):
    """The path of a shared library by the loader's own cache, or None."""
    environment = dict(os.environ, PATH=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    listing = subprocess.run(["ldconfig", "-p"], env=environment, capture_output=True, text=True, check=True)
    for line in listing.stdout.splitlines():
        name, _, path = line.strip().partition(" => ")
        if name.split(" ")[0] == soname and "x32" not in name:
            return path
    return None


def find(allocator, build_dir):
    """The object to preload: a path, "" for none, None if it is not there."""
    if allocator.is_fallow:
        path = os.path.join(build_dir, "libfallow.so")
        return path if os.path.exists(path) else None
    return _installed(allocator.library) if allocator.library else ""


def available(allocators, build_dir):
    """(the pairs (allocator, path) that are there, the allocators that are not)"""
    found = [(allocator, find(allocator, build_dir)) for allocator in allocators]
    return ([(a, path) for a, path in found if path is not None], [a for a, path in found if path is None])


def environment(allocator, path, preload=True):
    """The environment that makes a program run on the allocator, free of settings from outside."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN_SETTINGS)}
    clean.update(allocator.settings)
    if preload and path:
        clean["LD_PRELOAD"] = path
    return clean


def check(allocator, path, name, malloc_path):
    """An error text if the program did not run on what it was told to; its own account is (name, malloc_path)."""
    if malloc_path.endswith(" (deleted)"):
        return f"{path} was replaced while it was measured: do not build at the same time"
    if not path:
        wrong = not name.startswith("glibc")
    else:
        wrong = os.path.realpath(malloc_path) != os.path.realpath(path)
    if wrong:
        return f"{allocator.label} was to be measured ({path or 'libc'}), but malloc was {name} ({malloc_path})"
    return None
