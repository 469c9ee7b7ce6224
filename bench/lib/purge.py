"""bench/run purge: what giving memory back costs and what it achieves, in five parts, each with a table, files and a
chart: the kernel's primitives (fallow-purge), processes that sleep (fallow-idle), one block over and over
(fallow-churn), zeroed memory that is only read (fallow-usemem), and what a thread's small calls wait for while another
frees a lot (fallow-latency)."""

import csv
import datetime
import json
import os
import signal
import sys

import allocators
import common
import machine
import purge_churn
import purge_idle
import purge_latency
import purge_primitives
import purge_usemem

PARTS = (purge_primitives, purge_idle, purge_churn, purge_usemem, purge_latency)
PART_KEYS = [part.KEY for part in PARTS]


def parse():
    parser = common.parser("purge", "What giving memory back costs, and what it achieves, Fallow against its peers.")
    parser.add_argument("--quick", action="store_true", help="one round, fewer and smaller cases: under a minute, and "
                                                             "rough")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=PART_KEYS, metavar="NAME,...",
                        help="of " + ", ".join(PART_KEYS))
    parser.add_argument("--rounds", type=common.at_least(1, int), metavar="N",
                        help=f"(3); those who sleep have {purge_idle.ROUNDS_MAX} at most")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,...",
                        help="of " + ", ".join(a.key for a in allocators.DEFAULTS))
    parser.add_argument("--single-threaded", action="store_true",
                        help="those who sleep have no second thread")
    parser.add_argument("--idle-seconds", type=common.at_least(1, float), metavar="S",
                        help="how long they are watched (12, past Fallow's lazy_decay_ms; quick 3)")
    common.add_output(parser)
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.idle_seconds = options.idle_seconds or (3 if options.quick else 12)
    options.idle_mib = 128 if options.quick else 512
    options.usemem_mib = 128 if options.quick else 256
    for name, given, known in (("--only: no allocator", options.only or (), {a.key for a in allocators.DEFAULTS}),
                               ("--parts: no part", options.parts, set(PART_KEYS))):
        unknown = set(given) - known
        if unknown:
            parser.error(f"{name} {', '.join(sorted(unknown))}")
    return options


def run_all(options, parts, chosen):
    """{part key: rows}; every case of a part has its turn before any has its second."""
    plan = [(part, number, *step) for part in parts for number in range(1, options.rounds + 1)
            for step in part.steps(options, chosen, number)]
    progress = common.Progress(len(plan), sum(weight for _, _, weight, *_ in plan))
    rows = {part.KEY: [] for part in parts}
    for part, number, weight, text, run in plan:
        rows[part.KEY] += run()
        progress.step(f"round {number}, {text}", weight)
    return rows


def write_part(base, part, document, rows, medians):
    with open(f"{base}.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with open(f"{base}.json", "w", encoding="utf-8") as file:
        json.dump({**document, "part": part.KEY, "medians": medians, "runs": rows}, file, indent=1)
        file.write("\n")
    return ["csv", "json"]


def caveats(options, where):
    texts = []
    if where["load_average"] > 0.5 * where["cpus"]:
        texts.append(f"The machine was busy (load average {where['load_average']:.1f}): do not rely on times.")
    if options.quick:
        texts.append("Quick figures, from single short runs: rough.")
    return texts


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):  # what was started is ended, and cgroups are removed
        signal.signal(number, lambda *_: sys.exit("bench/run: ended from outside, nothing written"))
    options = parse()
    chosen = common.choose(options, [a for a in allocators.DEFAULTS if not options.only or a.key in options.only])
    if not chosen:
        common.fail("there is nothing to measure")
    parts = [part for part in PARTS if part.KEY in options.parts]
    where = machine.describe()
    date = datetime.datetime.now().astimezone()
    print(machine.one_line(where))

    rows = run_all(options, parts, chosen)
    directory = os.path.join(options.output, date.strftime("%Y-%m-%d-%H%M%S"))
    os.makedirs(directory, exist_ok=True)
    text, written = [machine.one_line(where)], []
    for part in parts:
        if not rows[part.KEY]:
            text += ["", f"{part.KEY}: nothing could be measured", *part.caveats([])]
            continue
        medians = common.medians(rows[part.KEY], part.IDENTITY)
        warnings = caveats(options, where) + part.caveats(medians)
        document = {
            "date": date.isoformat(timespec="seconds"), "quick": options.quick, "caveats": warnings, "machine": where,
            "allocators": [{"name": a.key, "label": a.label, "settings": a.settings, "library": path,
                            "version": machine.library_version(path)} for a, path in chosen],
        }
        text += [*part.report(options, chosen, medians), "", *warnings]
        base = os.path.join(directory, part.KEY)
        suffixes = write_part(base, part, document, rows[part.KEY], medians)
        suffixes += part.draw(base, options, chosen, medians, where, date, warnings)
        written.append(f"{part.KEY}.{{{','.join(suffixes)}}}")
    print("\n".join(text[1:]))
    with open(os.path.join(directory, "purge.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join([*text, ""]))
    common.point_latest(options.output, directory)
    print(f"\n{common.shown(directory)}: purge.txt {' '.join(written)}; also {common.shown(options.output)}/latest")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nbench/run: interrupted, nothing written")
