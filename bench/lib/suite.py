"""bench/run suite: known shapes of load and whole programs over Fallow and its peers, interleaved, with tables, files
and a chart; or over two builds of Fallow. bench/run programs is the same with other rows."""

import csv
import datetime
import json
import os
import signal
import sys
from dataclasses import replace

import allocators
import common
import machine
import suite_against
import suite_chart
import suite_figures
import suite_report
import suite_rows
import suite_run

COLUMNS = ("row", "allocator", "round", "watched", "seconds", "wall_s", "user_s", "sys_s", "faults", "peak_rss_kib",
           "peak_honest_kib", "samples", "flushed_rss_kib", "flushed_honest_kib")


def parse(name, summary, rows):
    parser = common.parser(name, summary)
    parser.add_argument("--quick", action="store_true", help="fewer rows, one round of each kind: rough")
    parser.add_argument("--rows", type=lambda text: text.split(","), metavar="NAME,...",
                        help="of those that --list names; may have * in it")
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    parser.add_argument("--rounds", type=common.at_least(1, int), metavar="N", help="for time (5; quick 1)")
    parser.add_argument("--memory-rounds", type=common.at_least(1, int), metavar="N",
                        help="for memory (2; --against 3; quick 1)")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,...",
                        help="of " + ", ".join(a.key for a in allocators.DEFAULTS))
    parser.add_argument("--against", metavar="OTHER.so", help="compare the build with another build of Fallow instead")
    common.add_output(parser)
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.memory_rounds = options.memory_rounds or (1 if options.quick else 3 if options.against else 2)
    options.name = name
    options.chosen_rows, unknown = suite_rows.choose(rows, options.rows, options.quick)
    if unknown:
        parser.error(f"--rows: no row {', '.join(unknown)}; --list names them")
    unknown = set(options.only or ()) - {a.key for a in allocators.DEFAULTS}
    if unknown:
        parser.error(f"--only: no allocator {', '.join(sorted(unknown))}")
    if options.against and (options.only or options.peers_only):
        parser.error("--against compares two builds of Fallow and nothing else")
    if options.against and not os.path.exists(options.against):
        parser.error(f"--against: there is no {options.against}")
    return options


def print_rows(rows):
    lines = [[row.key, row.label, row.kind, str(row.threads), "yes" if row.quick else ""] for row in rows]
    print("\n".join(common.table(["name", "what", "kind", "threads", "quick"], lines)))


def choose_allocators(options):
    """Pairs (allocator, path)."""
    if not options.against:
        return common.choose(options, [a for a in allocators.DEFAULTS if not options.only or a.key in options.only])
    fallow = next(a for a in allocators.DEFAULTS if a.is_fallow)
    (_, path), = common.choose(options, [fallow])
    return [(replace(fallow, key="new", label="new"), path),
            (replace(fallow, key="old", label="old"), os.path.abspath(options.against))]


def choose_rows(options, chosen):
    """(rows that can run, (row key, allocator key) pairs to leave out, notes about both)"""
    rows, skipped, notes = [], set(), []
    for row in options.chosen_rows:
        lacking = suite_rows.missing(row)
        if lacking:
            notes.append(f"{row.key} is left out: {' and '.join(lacking)} not installed.")
            continue
        rows.append(row)
        if not row.whole:
            common.program(options, row.command[0])
        linked = suite_run.own_malloc(row) if any(not path for _, path in chosen) else ""
        if linked:
            skipped |= {(row.key, a.key) for a, path in chosen if not path}
            notes.append(f"{row.key} has no figure for glibc: the program is linked with {linked}.")
    return rows, skipped, notes


def plan(options, rows, chosen, skipped):
    """(round, watched, row, allocator, path): every allocator has its turn at a row before any has its second, and
    another begins in each round."""
    steps = []
    for watched, rounds in ((False, options.rounds), (True, options.memory_rounds)):
        for number in range(1, rounds + 1):
            for row_number, row in enumerate(rows):
                first = (number + row_number) % len(chosen)
                steps += [(number, watched, row, allocator, path) for allocator, path in chosen[first:] + chosen[:first]
                          if (row.key, allocator.key) not in skipped]
    return steps


def run_all(options, rows, steps):
    progress = common.Progress(len(steps), sum(row.weight for _, _, row, *_ in steps))
    runs = []
    with suite_run.scratch() as directory:
        suite_run.prepare(rows, directory)
        for number, watched, row, allocator, path in steps:
            figures = suite_run.run(options, row, allocator, path, directory, watched)
            runs.append({"row": row.key, "allocator": allocator.key, "round": number, "watched": watched, **figures})
            shown = (f"{figures['peak_honest_kib'] / 1024:7,.1f} MiB" if watched else
                     f"{figures['seconds'] * 1e3:7,.0f} ms")
            progress.step(f"round {number}, {row.key}: {shown}  {allocator.label}", row.weight)
    return runs


def caveats(options, where):
    texts = []
    if where["load_average"] > 0.5 * where["cpus"]:
        texts.append(f"The machine was busy (load average {where['load_average']:.1f}): do not rely on times.")
    if options.rounds == 1:
        texts.append("One round: rough.")
    return texts


def write_csv(path, runs):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(runs)


def write_json(path, options, where, chosen, rows, cells, runs, notes, date):
    document = {
        "date": date.isoformat(timespec="seconds"), "quick": options.quick, "rounds": options.rounds,
        "memory_rounds": options.memory_rounds, "caveats": notes, "machine": where,
        "commit": machine.library_version("libfallow.so"),
        "allocators": [{"name": a.key, "label": a.label, "settings": a.settings, "library": library,
                        "version": machine.library_version(library)} for a, library in chosen],
        "rows": [{"name": row.key, "label": row.label, "kind": row.kind, "threads": row.threads,
                  "command": row.command, "settings": dict(row.settings)} for row in rows],
        "medians": [{"row": row, "allocator": allocator, **figures} for (row, allocator), figures in cells.items()],
        "geometric_means": suite_figures.all_means(rows, chosen, cells),
        "runs": runs,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def main(name="suite", summary="Time and memory of known shapes of load and of whole programs, interleaved.",
         all_rows=suite_rows.ROWS):
    for number in (signal.SIGTERM, signal.SIGHUP):  # what was started is ended
        signal.signal(number, lambda *_: sys.exit("bench/run: ended from outside, nothing written"))
    options = parse(name, summary, all_rows)
    if options.list:
        print_rows(all_rows)
        return
    chosen = choose_allocators(options)
    if not chosen:
        common.fail("there is nothing to measure")
    where = machine.describe()
    date = datetime.datetime.now().astimezone()
    print(machine.one_line(where))
    rows, skipped, notes = choose_rows(options, chosen)
    if not rows:
        common.fail(" ".join(["there is nothing to measure.", *notes]))

    runs = run_all(options, rows, plan(options, rows, chosen, skipped))
    cells = suite_figures.summarize(runs)
    warnings = caveats(options, where)
    if options.against:
        lines = suite_against.report(options, rows, runs, cells)
    else:
        lines = suite_report.report(options, rows, chosen, cells)
    lines += ["", *notes, *warnings]
    print("\n".join(lines))

    directory = os.path.join(options.output, date.strftime("%Y-%m-%d-%H%M%S"))
    os.makedirs(directory, exist_ok=True)
    base = os.path.join(directory, name)
    write_csv(f"{base}.csv", runs)
    write_json(f"{base}.json", options, where, chosen, rows, cells, runs, notes + warnings, date)
    with open(f"{base}.txt", "w", encoding="utf-8") as file:
        file.write("\n".join([machine.one_line(where), *lines, ""]))
    written = ["csv", "json", "txt"]
    if not options.against:
        written += suite_chart.draw(base, options, where, chosen, rows, cells, warnings, date)
    common.point_latest(options.output, directory)
    print(f"\n{common.shown(base)}.{{{','.join(written)}}}, also in {common.shown(options.output)}/latest")


def run_command(*arguments):
    try:
        main(*arguments)
    except KeyboardInterrupt:
        sys.exit("\nbench/run: interrupted, nothing written")


if __name__ == "__main__":
    run_command()
