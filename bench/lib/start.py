"""bench/run start: what preloading an allocator costs a program that hardly allocates.

Time: /bin/true from start to exit, interleaved over all preloads. System calls: lines of strace over the same. Memory:
a process that sleeps, when it has settled."""

import re
import subprocess
import tempfile
import time

import allocators
import common

NOTHING = allocators.Allocator("glibc", "glibc, nothing preloaded", "")


def parse():
    parser = common.parser("start", "What preloading costs a program's start: time, system calls, memory.")
    parser.add_argument("--runs", type=int, default=1000, metavar="N", help="of /bin/true a preload (1000)")
    parser.add_argument("--peers", action="store_true", help="the peers as well, not only Fallow")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs is at least 1")
    return options


def times(options, paths):
    """[(lower quartile, median, upper quartile)] in microseconds."""
    command = [common.program(options, "fallow-spawn"), "-n", str(options.runs), *paths]
    done = subprocess.run(command, env=allocators.environment(NOTHING, ""), capture_output=True, text=True)
    if done.returncode != 0:
        common.fail(done.stderr.strip())
    return [tuple(float(value) for value in line.split()) for line in done.stdout.splitlines()]


def system_calls(path):
    """The names of the calls that /bin/true makes, in order; execve is the first."""
    with tempfile.NamedTemporaryFile("r") as log:
        preload = ["-E", f"LD_PRELOAD={path}"] if path else []
        subprocess.run(["strace", "-f", "-o", log.name, *preload, "/bin/true"], check=True,
                       env=allocators.environment(NOTHING, ""))
        return re.findall(r"^\d+ +(\w+)\(", log.read(), re.MULTILINE)


def sleeping_memory(path):
    """(Rss, Pss) in KiB of a process that sleeps."""
    with subprocess.Popen(["sleep", "60"], env=allocators.environment(NOTHING, path)) as process:
        try:
            time.sleep(0.2)
            with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
                text = file.read()
        finally:
            process.kill()
    return tuple(int(re.search(rf"^{name}: +(\d+) kB", text, re.MULTILINE)[1]) for name in ("Rss", "Pss"))


def main():
    options = parse()
    wanted = [a for a in allocators.DEFAULTS if a.library and (options.peers or a.is_fallow)]
    chosen = common.choose(options, wanted)
    empty = common.program(options, "libfallow-empty.so")
    subjects = [("glibc, nothing preloaded", ""), ("an empty object", empty), *((a.label, path) for a, path in chosen)]

    measured = times(options, [path for _, path in subjects])
    calls = [system_calls(path) for _, path in subjects]
    memory = [sleeping_memory(path) for _, path in subjects]
    rows = []
    for (label, _), (low, middle, high), names, (rss, pss) in zip(subjects, measured, calls, memory):
        rows.append([label, f"{middle:,.0f}", f"{middle - measured[0][1]:+,.0f}", f"{low:,.0f}-{high:,.0f}",
                     str(len(names)), f"{len(names) - len(calls[1]):+}", f"{rss:,}", f"{rss - memory[0][0]:+,}", f"{pss:,}"])
    print(f"/bin/true, {options.runs} interleaved starts of each; RSS of `sleep`\n")
    print("\n".join(common.table(["", "us, median", "more", "quartiles", "system calls", "than empty", "RSS KiB", "more",
                                  "PSS KiB"], rows)))
    for (label, _), names in zip(subjects[2:], calls[2:]):
        extra = {name: names.count(name) - calls[1].count(name) for name in dict.fromkeys(names)}
        text = ", ".join(f"{name} {number:+}" for name, number in extra.items() if number)
        print(f"\n{label}, system calls beside those of an empty object: {text or 'none'}")


if __name__ == "__main__":
    main()
