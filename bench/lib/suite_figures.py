"""What bench/run suite computes of its runs: medians, and geometric means over rows."""

import math
from statistics import median

import common

TIME, HONEST, RSS, FAULTS = "seconds", "peak_honest_kib", "peak_rss_kib", "faults"
MEANS = (TIME, HONEST, RSS)


def summarize(runs):
    """{(row key, allocator key): figures}: times and faults of the timed runs, memory of the watched ones."""
    cells = {}
    for watched, names in ((False, ("seconds", "wall_s", "user_s", "sys_s", "faults")),
                           (True, ("peak_rss_kib", "peak_honest_kib", "flushed_rss_kib", "flushed_honest_kib"))):
        part = [{"row": run["row"], "allocator": run["allocator"], **{name: run.get(name) for name in names}}
                for run in runs if run["watched"] == watched]
        for figures in common.medians(part, ("row", "allocator")):
            cell = cells.setdefault((figures["row"], figures["allocator"]), {})
            cell.update({name: figures[name] for name in names if figures[name] is not None})
    return cells


def values(runs, row, allocator, name):
    """One figure, round by round."""
    return [run[name] for run in runs if run["row"] == row and run["allocator"] == allocator
            and run["watched"] == (name in (HONEST, RSS)) and run.get(name) is not None]


def geometric_mean(numbers):
    return math.exp(sum(math.log(max(number, 1e-9)) for number in numbers) / len(numbers)) if numbers else None


def common_rows(rows, keys, cells):
    """The rows that every one of the allocators has."""
    return [row for row in rows if all((row.key, key) in cells for key in keys)]


def mean(rows, key, cells, name):
    """The geometric mean of a figure over rows that are all there."""
    return geometric_mean([cells[row.key, key][name] for row in rows])


def ratio(rows, key, base, cells, name):
    """(the geometric mean of an allocator's figure / the base's, the number of rows): those that both have."""
    both = common_rows(rows, (key, base), cells)
    ratios = [cells[row.key, key][name] / max(cells[row.key, base][name], 1e-9) for row in both]
    return geometric_mean(ratios), len(both)


def best_peer(row, chosen, cells, name):
    """The peer with the least of a figure in a row, or None."""
    peers = [a for a, _ in chosen if not a.is_fallow and (row.key, a.key) in cells]
    return min(peers, key=lambda a: cells[row.key, a.key][name], default=None)


def all_means(rows, chosen, cells):
    keys = [a.key for a, _ in chosen]
    rows = common_rows(rows, keys, cells)
    return [{"allocator": key, "rows": len(rows), **{name: mean(rows, key, cells, name) for name in MEANS}}
            for key in keys]
