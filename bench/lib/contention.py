"""bench/run contention: how long the locks are held, and what that makes of 64 and 256 threads, by a model.

A build that times its locks runs some loads of the suite here, with as many threads as they have. Out of it come, a lock
rank: how often a second of processor time takes it, and for how long on average and at most. The model then gives each
of N threads a processor of its own. A thread works for an exponential time, takes one of the locks in proportion to their
rates, first come first served, and holds it for an exponential time with the measured mean, plus TRANSFER_NS if
somebody else held it last: the lock's line and what it protects come from another cache. Of a rank with many locks it takes any,
whoever's it is: each thread has an arena, as where N processors are usable, and no thread prefers its own."""

import heapq
import os
import random
import resource
import subprocess

import common

LOADS = (
    ("larson, blocks and threads handed over", "larson", "-t", "2"),
    ("small blocks", "churn-small", "-t", "2"),
    ("16 producers, one consumer, 64 B", "xthread", "--mode", "fan-in", "-t", "16"),
    ("producer and consumer, 32 KiB", "xthread", "--mode", "one-way", "-s", "32k"),
    ("short-lived threads", "threads"),
    ("random sizes, two threads", "random", "-t", "2"),
)
THREADS = (2, 8, 64, 256)
TRANSFER_NS = 100
ARENAS_MAX = 256
ORPHANS = 16  # of the 96 lists, those of classes that a load uses
PRIVATE = ("warm",)  # nobody but the heap's thread waits for it
TURNS = 400  # locks that each thread of the model takes


def parse():
    parser = common.parser("contention", "Hold times of locks, and a model of many threads. The build is one that was "
                           "configured with FALLOW_LOCK_TIMES=ON, in build/lock-times unless said otherwise.")
    parser.add_argument("--seed", type=int, default=1, help="of the model (1)")
    parser.set_defaults(build_dir=os.path.join(common.ROOT, "build", "lock-times"))
    return parser.parse_args()


def measure(options, command):
    """{rank: (times taken, times waited for, ns held in all, ns held at most)}, seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "LD_PRELOAD": os.path.join(options.build_dir, "libfallow.so")}
    done = subprocess.run([common.program(options, "fallow-suite"), *command], env=environment, capture_output=True,
                          text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = [line.split() for line in done.stderr.splitlines() if line.startswith("lock ")]
    if done.returncode != 0 or not rows:
        common.fail(f"fallow-suite {' '.join(command)} ended with {done.returncode}, and no times of locks: is the build "
                    f"configured with FALLOW_LOCK_TIMES=ON?\n{done.stderr}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {row[1]: tuple(int(cell) for cell in row[2:]) for row in rows}, seconds


def instances(rank, threads):
    return {"arena": min(threads, ARENAS_MAX), "orphans": ORPHANS}.get(rank, 1)


class Lock:
    def __init__(self):
        self.holder = self.last = None
        self.queue = []
        self.busy_ns = 0.0


def simulate(rates, holds, threads, numbers):
    """(share of the threads' time that they wait, {rank: share of the time that its busiest lock is held})."""
    ranks = list(rates)
    weights = [rates[rank] for rank in ranks]
    think_ns = 1e9 / sum(weights)
    locks = {rank: [Lock() for _ in range(instances(rank, threads))] for rank in ranks}
    events, order, waited_ns, now = [], 0, 0.0, 0.0

    def later(at, kind, thread, lock, rank):
        nonlocal order
        order += 1
        heapq.heappush(events, (at, order, kind, thread, lock, rank))

    def take(at, thread, lock, rank):
        hold = numbers.expovariate(1 / max(holds[rank], 1)) + (TRANSFER_NS if lock.last not in (thread, None) else 0)
        lock.holder = lock.last = thread
        lock.busy_ns += hold
        later(at + hold, "end", thread, lock, rank)

    for thread in range(threads):
        later(numbers.expovariate(1 / think_ns), "want", thread, None, None)
    left = TURNS * threads
    while left:
        now, _, kind, thread, lock, rank = heapq.heappop(events)
        if kind == "want":
            rank = numbers.choices(ranks, weights)[0]
            lock = numbers.choice(locks[rank])
            if lock.holder is None:
                take(now, thread, lock, rank)
            else:
                lock.queue.append((now, thread))
            continue
        left -= 1
        lock.holder = None
        later(now + numbers.expovariate(1 / think_ns), "want", thread, None, None)
        if lock.queue:
            since, following = lock.queue.pop(0)
            waited_ns += now - since
            take(now, following, lock, rank)
    return waited_ns / (now * threads), {rank: max(lock.busy_ns for lock in locks[rank]) / now for rank in ranks}


def main():
    options = parse()
    numbers = random.Random(options.seed)
    held, waits = [], []
    for label, *command in LOADS:
        ranks, seconds = measure(options, command)
        for rank, (taken, waited, total, longest) in ranks.items():
            if taken >= 100:
                held.append([label, rank, f"{taken / seconds:,.0f}",
                             f"{waited / taken:.2%}", f"{total / taken:,.0f}", f"{longest:,}"])
        rates = {rank: row[0] / seconds for rank, row in ranks.items() if rank not in PRIVATE}
        holds = {rank: row[2] / row[0] for rank, row in ranks.items()}
        cells = []
        for threads in THREADS:
            share, busy = simulate(rates, holds, threads, numbers)
            worst = max(busy, key=busy.get)
            cells.append(f"{share:.1%} ({worst} {busy[worst]:.0%})")
        waits.append([label, *cells])
        print(f"{label}: measured", flush=True)
    print("\nLocks, measured here: taken a second of processor time, waited for, and ns held\n")
    print("\n".join(common.table(["", "lock", "taken/s", "waited", "mean", "longest"], held)))
    print("\nThe model: share of the threads' time spent waiting (the busiest lock, and the share of time it is held)\n")
    print("\n".join(common.table(["threads", *(str(n) for n in THREADS)], waits)))


if __name__ == "__main__":
    main()
