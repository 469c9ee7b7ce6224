"""bench/run instructions: how many instructions a malloc and a free take together, loop and PLT included.

valgrind's callgrind counts all of a process's instructions in user mode. Two runs that differ in nothing but the number
of loops differ by what the loops took: start-up, the first slow path and the exit cancel out."""

import re
import subprocess

import allocators
import common

# (label, bytes, batch, loops of the shorter run, further loops of the longer one)
CASES = (
    ("16 B", 16, 1, 2000, 20000),
    ("1 KiB", 1024, 1, 2000, 20000),
    ("32 KiB", 32768, 1, 2000, 20000),
    ("256 KiB", 262144, 1, 2000, 20000),
    ("64 x 16 B", 16, 64, 100, 400),
    ("64 x 1 KiB", 1024, 64, 100, 400),
)


def parse():
    parser = common.parser("instructions", "Instructions a malloc+free pair, counted by callgrind.")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,...",
                        help="of " + ", ".join(a.key for a in allocators.DEFAULTS))
    return parser.parse_args()


def count(program, allocator, path, size, batch, loops):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program,
               "-s", str(size), "-b", str(batch), "-n", str(loops)]
    done = subprocess.run(command, env=allocators.environment(allocator, path), capture_output=True, text=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not collected:
        common.fail(f"{allocator.label}: {' '.join(command)} ended with {done.returncode}\n{done.stderr.strip()}")
    used = re.search(r"^malloc  (.*) \((.*)\)$", done.stdout, re.MULTILINE)
    error = allocators.check(allocator, path, *used.groups())
    if error:
        common.fail(error)
    return int(collected[1])


def per_pair(program, allocator, path, case):
    _, size, batch, fewer, further = case
    short = count(program, allocator, path, size, batch, fewer)
    long = count(program, allocator, path, size, batch, fewer + further)
    return (long - short) / (further * batch)


def main():
    options = parse()
    chosen = common.choose(options, [a for a in allocators.DEFAULTS if not options.only or a.key in options.only])
    program = common.program(options, "fallow-pairs")
    rows = []
    for allocator, path in chosen:
        rows.append([allocator.label, *(f"{per_pair(program, allocator, path, case):,.1f}" for case in CASES)])
        print(f"{allocator.label} counted", flush=True)
    print("\nInstructions a pair of malloc and free, one thread; those of the loop and of the PLT included\n")
    print("\n".join(common.table(["", *(case[0] for case in CASES)], rows)))


if __name__ == "__main__":
    main()
