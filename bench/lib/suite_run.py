"""A row of bench/run suite on an allocator: once timed, or once watched. Whatever is not exactly as told ends the
comparison."""

import json
import os
import random
import socket
import tempfile
import time

import allocators
import common
import suite_process
import suite_rows

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "suite_programs")
AFTER_FLUSH_S = 1
_WATCH_TRIES = 5
_SERVER = ("redis-server", "--port", "0", "--save", "", "--appendonly", "no", "--daemonize", "no",
           "--loglevel", "warning")


def scratch():
    """A context: a directory with the input that xz compresses, removed afterwards."""
    directory = tempfile.TemporaryDirectory(prefix="fallow-suite-")
    numbers = random.Random(1)
    words = ["".join(numbers.choices("etaoinshrdlu", k=numbers.randint(2, 9))) for _ in range(4000)]
    with open(os.path.join(directory.name, "words"), "w", encoding="ascii") as file:
        file.write(" ".join(numbers.choices(words, k=800000)))
    return directory


def prepare(rows, directory):
    """Makes the inputs of the rows that have any."""
    for row in rows:
        if row.prepare:
            command = suite_rows.command(row.prepare, PROGRAMS, directory)
            environment = _environment(row, allocators.ALL[0], "")
            with suite_process.Process(f"the input of {row.key}", command, environment) as process:
                process.finish()


def own_malloc(row):
    """The allocator that a server is linked with itself, or ''. Nothing preloaded is then not glibc."""
    if row.kind != suite_rows.SERVER:
        return ""
    glibc = allocators.ALL[0]
    watch = suite_process.Watch("")
    with tempfile.TemporaryDirectory(prefix="fallow-suite-") as directory, _server(glibc, "", directory) as server:
        _connect(server, directory).close()
        watch.sample([server.pid])
    return os.path.basename(min(watch.foreign, default=""))


def run(options, row, allocator, path, directory, watched):
    """The figures of one run; peak_honest_kib only if watched. A process that ended before anybody saw what it held is
    run again; if that is of no use, its peak of kernel RSS counts, which cannot be less."""
    for _ in range(_WATCH_TRIES):
        figures = _run_once(options, row, allocator, path, directory, watched)
        if not watched or figures["peak_honest_kib"]:
            return figures
    return {**figures, "peak_honest_kib": figures["peak_rss_kib"]}


def _run_once(options, row, allocator, path, directory, watched):
    if row.kind == suite_rows.SERVER:
        return _run_server(row, allocator, path, directory, watched)
    command = suite_rows.command(row.command, PROGRAMS, directory)
    if not row.whole:
        command = [common.program(options, command[0]), *command[1:], "--json"]
    watch = suite_process.Watch(path) if watched else None
    with suite_process.Process(f"{row.key}, {allocator.label}", command,
                               _environment(row, allocator, path)) as process:
        figures = process.finish(watch and (lambda: watch.sample(suite_process.tree(process.pid))))
        if watch:
            figures = watch.add(figures)
        if row.whole:
            _check_watch(row, allocator, watch)
            return {"seconds": figures["wall_s"], **figures}
        if process.errors():
            common.fail(f"{row.key}, {allocator.label} complained, so it may not run as told:\n"
                        f"{process.errors().strip()}")
        result = json.loads(process.output())
    error = allocators.check(allocator, path, result["malloc"]["name"], result["malloc"]["path"])
    if error:
        common.fail(f"{row.key}: {error}")
    return {"seconds": result["seconds"], **figures}


def _environment(row, allocator, path):
    return {**allocators.environment(allocator, path), "LC_ALL": "C", **dict(row.settings)}


def _check_watch(row, allocator, watch):
    error = watch.error() if watch else None
    if error:
        common.fail(f"{row.key}, {allocator.label}: {error}")


def _server(allocator, path, directory):
    command = [*_SERVER, "--dir", directory, "--unixsocket", os.path.join(directory, "socket")]
    return suite_process.Process(f"redis, {allocator.label}", command, allocators.environment(allocator, path))


def _connect(server, directory):
    """A connection to the server, once it answers."""
    end = time.monotonic() + 10
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(30)
        try:
            connection.connect(os.path.join(directory, "socket"))
            _ask(connection, "PING", b"+PONG")
            return connection
        except OSError:
            connection.close()
        if time.monotonic() > end:
            common.fail(f"redis-server does not answer\n{server.output().strip()}")
        time.sleep(0.01)


def _ask(connection, text, expected):
    connection.sendall(text.encode() + b"\r\n")
    answer = connection.recv(4096)
    if not answer.startswith(expected):
        common.fail(f"redis-server answered {answer!r} to {text}")


def _run_server(row, allocator, path, directory, watched):
    """The time is that of the client, which runs on glibc; all else is the server's."""
    watch = suite_process.Watch(path) if watched else None
    client_command = [*suite_rows.command(row.command, PROGRAMS, directory), os.path.join(directory, "socket")]
    after = {}
    with _server(allocator, path, directory) as server, _connect(server, directory) as connection:
        with suite_process.Process("redis-benchmark", client_command,
                                   _environment(row, allocators.ALL[0], "")) as client:
            seconds = client.finish(watch and (lambda: watch.sample([server.pid])))["wall_s"]
        _ask(connection, "FLUSHALL", b"+OK")
        if watch:
            time.sleep(AFTER_FLUSH_S)
            rss, honest = suite_process.rollup(server.pid)
            after = {"flushed_rss_kib": rss, "flushed_honest_kib": honest}
            _check_watch(row, allocator, watch)
        connection.sendall(b"SHUTDOWN NOSAVE\r\n")
        figures = server.finish()
    return {"seconds": seconds, **(watch.add(figures) if watch else figures), **after}
