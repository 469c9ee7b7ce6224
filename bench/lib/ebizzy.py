"""bench/run ebizzy: fallow-ebizzy over Fallow and its peers, interleaved, with a table, files and a chart."""

import argparse
import csv
import datetime
import json
import os
import sys
from statistics import median

import allocators
import chart
import common
import machine

COLUMNS = ("rng", "threads", "round", "allocator", "records_per_second", "real_s", "user_s", "sys_s",
           "honest_peak_kib", "rss_peak_kib", "lazy_peak_kib", "end_rss_kib", "end_lazy_kib")


def parse():
    parser = common.parser("ebizzy", "Fallow against its peers under fallow-ebizzy -n 512, interleaved.")
    parser.add_argument("--quick", action="store_true",
                        help="1 and 2 threads, one round of 1 s: under a minute, and rough")
    parser.add_argument("--rng", choices=("walk", "stuck", "both"), default="walk",
                        help="walk the whole set, cache-cold (default), or only ever copy chunk 0, cache-hot, as the "
                             "historical program does; see fallow-ebizzy --help")
    parser.add_argument("--threads", type=_numbers, metavar="N,...", help="(1,2,4,8)")
    parser.add_argument("--rounds", type=common.at_least(1, int), metavar="N", help="(3)")
    parser.add_argument("--seconds", type=common.at_least(0.1, float), metavar="S", help="of each run (3)")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,...",
                        help="of " + ", ".join(a.key for a in allocators.ALL))
    common.add_output(parser)
    options = parser.parse_args()
    options.threads = options.threads or ([1, 2] if options.quick else [1, 2, 4, 8])
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.seconds = options.seconds or (1 if options.quick else 3)
    options.modes = ["walk", "stuck"] if options.rng == "both" else [options.rng]
    unknown = set(options.only or ()) - {a.key for a in allocators.ALL}
    if unknown:
        parser.error(f"--only: no allocator {', '.join(sorted(unknown))}")
    return options


def _numbers(text):
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of thread counts")
    return numbers


def command_line(options, threads, rng):
    return ["-S", f"{options.seconds:g}", "-n", "512", "-t", str(threads), "--rng", rng]


def run_all(options, chosen):
    program = common.program(options, "fallow-ebizzy")
    plan = [(rng, number, threads, allocator, path)
            for rng in options.modes for number in range(1, options.rounds + 1)
            for threads in options.threads for allocator, path in chosen]
    progress = common.Progress(len(plan))
    runs = []
    for rng, number, threads, allocator, path in plan:
        command = [program, *command_line(options, threads, rng), "--json"]
        result = common.run_allocator(allocator, path, command, 60 + 10 * options.seconds)
        runs.append({"allocator": allocator.key, "round": number, "threads": threads, "rng": rng, "result": result})
        progress.step(f"{rng}, round {number}, threads {threads}: "
                      f"{result['records_per_second']:9,.0f} records/s  {allocator.label}")
    return runs


def _memory(result, name):
    """A peak over the samples of the loaded window; a window too short for any has those beside it."""
    memory = result["memory"]
    moments = ("load",) if memory["load"]["samples"] else ("start", "end")
    return max(memory[moment].get(name, 0) for moment in moments)


def summarize(options, chosen, runs):
    """{(rng, threads): {allocator key: figures}}, medians over the rounds."""
    cells = {}
    for rng in options.modes:
        for threads in options.threads:
            cell = cells[rng, threads] = {}
            for allocator, _ in chosen:
                results = [run["result"] for run in runs if run["allocator"] == allocator.key
                           and run["threads"] == threads and run["rng"] == rng]
                rates = [result["records_per_second"] for result in results]
                cell[allocator.key] = {
                    "records_per_second": median(rates),
                    "spread": (max(rates) - min(rates)) / median(rates),
                    "honest_peak_kib": median(_memory(result, "honest_peak_kib") for result in results),
                    "rss_peak_kib": median(_memory(result, "rss_peak_kib") for result in results),
                }
            best = max((cell[a.key]["records_per_second"] for a, _ in chosen
                        if a.policy == allocators.KEEP and not a.is_fallow), default=None)
            for figures in cell.values():
                figures["of_best_peer"] = figures["records_per_second"] / best if best else None
    return cells


def purge_ratio(cell):
    """Fallow's MADV_FREE against its MADV_DONTNEED, or None."""
    if "fallow-at-once" not in cell or "fallow-at-once-dontneed" not in cell:
        return None
    return cell["fallow-at-once"]["records_per_second"] / cell["fallow-at-once-dontneed"]["records_per_second"]


def starved(runs):
    """(runs of one thread that had to share their CPU, runs of one thread): what the noise of others did."""
    alone = [run["result"] for run in runs if run["threads"] == 1]
    return sum(r["user_s"] + r["sys_s"] < 0.95 * r["real_s"] for r in alone), len(alone)


def _headings(options):
    return [f"{threads} thread{'s' if threads > 1 else ''}" for threads in options.threads]


def _rate_cell(figures):
    ratio = figures["of_best_peer"]
    return f"{figures['records_per_second']:,.0f}" + (f"  {ratio:5.2f}" if ratio is not None else "")


def caveats(options, runs):
    """What a reader must know before believing the figures."""
    shared, alone = starved(runs)
    texts = []
    if shared:
        texts.append(f"{shared} of {alone} runs with one thread had to share their CPU: something else was running, "
                     "so do not rely on these figures.")
    if options.quick:
        texts.append("Quick figures, from single short runs: rough.")
    return texts


def report(options, chosen, cells, warnings):
    lines = []
    rounds = f"median of {options.rounds} rounds" if options.rounds > 1 else "one round"
    for rng in options.modes:
        columns = [cells[rng, threads] for threads in options.threads]
        lines += ["", f"fallow-ebizzy -S {options.seconds:g} -n 512 --rng {rng}: records/s, {rounds}; "
                      "then the ratio to the best peer that keeps its memory", ""]
        lines += common.table(["", *_headings(options)],
                              [[a.label, *(_rate_cell(cell[a.key]) for cell in columns)] for a, _ in chosen])
        ratios = [purge_ratio(cell) for cell in columns]
        if all(ratios):
            lines += ["", "  Fallow giving back at once, MADV_FREE against MADV_DONTNEED: " +
                      ", ".join(f"{ratio:.2f}x ({heading})" for ratio, heading in zip(ratios, _headings(options)))]
        lines += ["", "Peak memory of the same runs, MiB: honest RSS (Rss - LazyFree) / kernel RSS", ""]
        lines += common.table(["", *_headings(options)],
                              [[a.label, *(f"{cell[a.key]['honest_peak_kib'] / 1024:.1f} / "
                                           f"{cell[a.key]['rss_peak_kib'] / 1024:.1f}" for cell in columns)]
                               for a, _ in chosen])
    if options.rounds > 1:
        spread, where = max((figures["spread"], f"{key}, {threads} threads, {rng}")
                            for (rng, threads), cell in cells.items() for key, figures in cell.items())
        lines += ["", f"Widest spread of one figure over its rounds: {spread:.0%} ({where})"]
    return lines + [""] + warnings


def write_csv(path, runs):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for run in runs:
            result = run["result"]
            end = result["memory"]["end"]
            writer.writerow([run["rng"], run["threads"], run["round"], run["allocator"],
                             *(result[name] for name in ("records_per_second", "real_s", "user_s", "sys_s")),
                             *(_memory(result, name) for name in ("honest_peak_kib", "rss_peak_kib", "lazy_peak_kib")),
                             end.get("rss_peak_kib", ""), end.get("lazy_peak_kib", "")])


def write_json(path, options, where, chosen, cells, runs, warnings, date):
    document = {
        "date": date.isoformat(timespec="seconds"),
        "quick": options.quick,
        "caveats": warnings,
        "machine": where,
        "command": ["fallow-ebizzy", "-S", f"{options.seconds:g}", "-n", "512"],
        "allocators": [{"name": a.key, "label": a.label, "policy": a.policy, "settings": a.settings, "library": path,
                        "version": machine.library_version(path)} for a, path in chosen],
        "medians": [{"rng": rng, "threads": threads, "allocator": key, **figures}
                    for (rng, threads), cell in cells.items() for key, figures in cell.items()],
        "runs": runs,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def main():
    options = parse()
    chosen = common.choose(options, [a for a in allocators.ALL if not options.only or a.key in options.only])
    if not chosen:
        common.fail("there is nothing to measure")
    where = machine.describe()
    date = datetime.datetime.now().astimezone()
    print(machine.one_line(where))
    if where["load_average"] > 0.5 * where["cpus"]:
        print(f"The machine is busy (load average {where['load_average']:.1f}): expect noise.")

    runs = run_all(options, chosen)
    cells = summarize(options, chosen, runs)
    warnings = caveats(options, runs)
    lines = report(options, chosen, cells, warnings)
    print("\n".join(lines))

    directory = os.path.join(options.output, date.strftime("%Y-%m-%d-%H%M%S"))
    os.makedirs(directory, exist_ok=True)
    base = os.path.join(directory, "ebizzy")
    write_csv(f"{base}.csv", runs)
    write_json(f"{base}.json", options, where, chosen, cells, runs, warnings, date)
    with open(f"{base}.txt", "w", encoding="utf-8") as file:
        file.write("\n".join([machine.one_line(where), *lines, ""]))
    written = ["csv", "json", "txt"]
    written += chart.draw(base, options, where, [a for a, _ in chosen], cells, warnings, date)
    common.point_latest(options.output, directory)
    print(f"\n{common.shown(base)}.{{{','.join(written)}}}, also in {common.shown(options.output)}/latest")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nbench/run: interrupted, nothing written")
