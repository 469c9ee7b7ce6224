"""Two builds of Fallow on the rows of bench/run suite: what moved by more than the rounds differ among themselves."""

from math import comb
from statistics import median

import common
import suite_figures as figures_of
from suite_figures import FAULTS, HONEST, RSS, TIME
from suite_report import shown

LEAST = 0.02
FIGURES = ((TIME, "time"), (HONEST, "honest RSS"), (RSS, "kernel RSS"))


def moved(old, new):
    """Whether the rounds of the two builds tell that they differ: by interquartile ranges, five rounds of the same
    build would do so in one row of three."""
    if min(len(old), len(new)) < 2 or abs(median(new) / max(median(old), 1e-9) - 1) <= LEAST:
        return False
    return max(old) < min(new) or max(new) < min(old)


def rule(options):
    def chance(rounds):
        return f"1 of {comb(2 * rounds, rounds) // 2}"
    return [f"* moved beyond the noise: the medians differ by more than {LEAST:.0%}, and all rounds of one build are "
            "above all of the other.",
            f"Noise alone, where it is wider than {LEAST:.0%}, looks so in {chance(options.rounds)} figures of time, "
            f"{chance(options.memory_rounds)} of memory; single rounds are never marked."]


def report(options, rows, runs, cells):
    marked, body = [], []
    for row in rows:
        line = [row.label]
        for name, what in FIGURES:
            old, new = cells[row.key, "old"][name], cells[row.key, "new"][name]
            sign = "*" if moved(*(figures_of.values(runs, row.key, key, name) for key in ("old", "new"))) else " "
            change = f"{new / max(old, 1e-9):.3f}"
            line += [shown(name, old), shown(name, new), f"{change} {sign}"]
            if sign == "*":
                marked.append(f"  {change}  {row.label}, {what}")
        line += [shown(FAULTS, cells[row.key, key][FAULTS]) for key in ("old", "new")]
        body.append(line)
    header = ["", "ms old", "new", "new / old  ", "honest MiB old", "new", "new / old  ", "kernel MiB old", "new",
              "new / old  ",
              "faults old", "new"]
    lines = ["", f"new: {common.shown(options.build_dir)}/libfallow.so; old: {common.shown(options.against)}; "
                 f"time: {common.rounds(options)}, memory: {options.memory_rounds} of its own", "",
             *common.table(header, body), ""]
    for name, what in FIGURES:
        ratio, _ = figures_of.ratio(rows, "new", "old", cells, name)
        lines.append(f"  {what}: {ratio:.3f}, the geometric mean of new / old over {len(rows)} rows")
    return lines + ["", *rule(options), *(sorted(marked) or ["  No row moved."])]
