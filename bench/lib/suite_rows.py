"""The rows of bench/run suite, declared once: what runs, on how many threads, what it needs."""

import fnmatch
import shutil
import sys
from dataclasses import dataclass

PAIRS, SHAPE, WHOLE, SERVER = "fallow-pairs", "fallow-suite", "whole program", "server"


@dataclass(frozen=True)
class Row:
    key: str  # in files and on the command line
    label: str
    kind: str  # PAIRS and SHAPE time themselves and name their malloc
    command: tuple  # {programs} and {scratch} stand for directories, {python} for the interpreter
    threads: int = 1
    quick: bool = False  # part of --quick
    weight: float = 0.5  # about how many seconds it takes
    needs: tuple = ()  # (command, Debian's package) pairs that may be missing
    forks: bool = False  # its work is done by processes that it starts
    settings: tuple = ()  # (name, value) pairs of its environment
    prepare: tuple = ()  # a command that makes its input, once, before anything is measured

    @property
    def whole(self):
        return self.kind in (WHOLE, SERVER)


def _pairs(size, loops, batch=1, quick=False):
    name, text = (f"-b{batch}", f", batches of {batch}") if batch > 1 else ("", "")
    unit = {"k": " KiB", "m": " MiB"}.get(size[-1], " B")
    return Row(f"pairs-{size}{name}", f"pairs, {size.rstrip('km')}{unit}{text}", PAIRS,
               ("fallow-pairs", "-s", size, "-n", str(loops), "-b", str(batch)), quick=quick, weight=0.3)


def _shape(key, label, *arguments, threads=1, quick=False):
    return Row(key, label, SHAPE, ("fallow-suite", *arguments), threads=threads, quick=quick)


def _whole(key, label, package, *command, **more):
    needs = ((command[0], package),) if package else ()
    return Row(key, label, WHOLE, command, needs=needs, weight=0.9, **more)


ROWS = (
    _pairs("16", 60_000_000, quick=True),
    _pairs("64", 60_000_000),
    _pairs("256", 60_000_000),
    _pairs("1k", 60_000_000),
    _pairs("4k", 40_000_000, quick=True),
    _pairs("32k", 15_000_000),
    _pairs("256k", 3_000_000, quick=True),
    _pairs("4m", 2_000_000),
    _pairs("16", 600_000, 64, quick=True),
    _pairs("1k", 300_000, 64),
    _pairs("32k", 10_000, 64, quick=True),
    _shape("larson-2", "larson, 2 threads", "larson", "-t", "2", threads=2, quick=True),
    _shape("larson-8", "larson, 8 threads", "larson", "-t", "8", threads=8),
    _shape("larson-64", "larson, 64 threads", "larson", "-t", "64", threads=64),
    _shape("xthread-64", "xthread, one way, 64 B", "xthread", "-s", "64", "--mode", "one-way", threads=2, quick=True),
    _shape("xthread-1k", "xthread, one way, 1 KiB", "xthread", "-s", "1k", "--mode", "one-way", threads=2),
    _shape("xthread-32k", "xthread, one way, 32 KiB", "xthread", "-s", "32k", "--mode", "one-way", threads=2),
    _shape("xthread-two-way", "xthread, two ways, 64 B", "xthread", "-s", "64", "--mode", "two-way", threads=2),
    _shape("xthread-fan-in", "xthread, 16 to one", "xthread", "-t", "16", "--mode", "fan-in", threads=17),
    _shape("xthread-fan-out", "xthread, one to many", "xthread", "-t", "4", "--mode", "fan-out", threads=5),
    _shape("churn-small", "small blocks", "churn-small", quick=True),
    _shape("churn-small-2", "small blocks, 2 threads", "churn-small", "-t", "2", threads=2),
    _shape("random", "random sizes", "random", quick=True),
    _shape("big", "big blocks", "big"),
    _shape("realloc", "realloc", "realloc"),
    _shape("calloc", "calloc", "calloc"),
    _shape("strings", "strings", "strings", quick=True),
    _shape("tree", "tree", "tree"),
    _shape("cache-passive", "false sharing, passive", "cache", "--mode", "passive", threads=2),
    _shape("cache-active", "false sharing, active", "cache", "--mode", "active", threads=2),
    _shape("frag", "fragmentation", "frag", quick=True),
    _shape("threads", "short-lived threads", "threads", threads=2),
    _whole("sqlite", "sqlite3, in memory", "sqlite3", "sqlite3", "-batch", "-bail", ":memory:",
           ".read {programs}/tables.sql", quick=True),
    _whole("python", "python3", "", "{python}", "-S", "-B", "{programs}/objects.py",
           settings=(("PYTHONMALLOC", "pymalloc"), ("PYTHONHASHSEED", "0"))),
    _whole("python-malloc", "python3, PYTHONMALLOC=malloc", "", "{python}", "-S", "-B", "{programs}/objects.py",
           settings=(("PYTHONMALLOC", "malloc"), ("PYTHONHASHSEED", "0")), quick=True),
    _whole("perl", "perl", "perl", "perl", "{programs}/words.pl", settings=(("PERL_HASH_SEED", "0"),), quick=True),
    _whole("g++", "g++ -O1", "g++", "g++", "-O1", "-c", "{programs}/templates.cpp", "-o", "{scratch}/templates.o",
           forks=True),
    _whole("xz", "xz -6, 2 threads", "xz-utils", "xz", "-T2", "-6", "--block-size=1MiB", "-k", "-f",
           "{scratch}/words", threads=2),
    Row("redis", "redis-server", SERVER,
        ("redis-benchmark", "-q", "-n", "200000", "-r", "100000", "-P", "16", "-d", "200",
         "-t", "set,get,lpush,hset,zadd,sadd,spop", "-s"),
        quick=True, weight=1.6, needs=(("redis-server", "redis-server"), ("redis-benchmark", "redis-tools"))),
)


def choose(rows, patterns, quick):
    """(the rows that the patterns, or all, name; the patterns that name none)"""
    if not patterns:
        return [row for row in rows if row.quick or not quick], []
    chosen = [row for row in rows if any(fnmatch.fnmatchcase(row.key, pattern) for pattern in patterns)]
    return chosen, [pattern for pattern in patterns if not fnmatch.filter([row.key for row in rows], pattern)]


def missing(row):
    """The Debian packages that a row lacks."""
    return [package for command, package in row.needs if not shutil.which(command)]


def command(arguments, programs, scratch):
    places = {"programs": programs, "scratch": scratch, "python": sys.executable}
    return [argument.format(**places) for argument in arguments]
