"""The tables of bench/run suite: rows by allocators, geometric means over rows, and where Fallow is behind."""

import common
import suite_figures as figures_of
from suite_figures import FAULTS, HONEST, RSS, TIME

BEHIND = {TIME: 1.10, HONEST: 1.15}  # of the best peer: from there on a row is listed
NAMES = {TIME: "time", HONEST: "peak honest RSS", RSS: "peak kernel RSS"}
UNITS = {TIME: "ms", HONEST: "MiB", RSS: "MiB"}


def shown(name, value):
    if name == TIME:
        value *= 1e3
        return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}"
    return f"{value:,.0f}" if name == FAULTS else f"{value / 1024:,.1f}"


def _fallow(chosen):
    return next((a for a, _ in chosen if a.is_fallow), None)


def _of_best(row, chosen, cells, name):
    """(Fallow / best peer, that peer), or None."""
    fallow, best = _fallow(chosen), figures_of.best_peer(row, chosen, cells, name)
    if not fallow or not best:
        return None
    return cells[row.key, fallow.key][name] / max(cells[row.key, best.key][name], 1e-9), best


def _by_row(heading, rows, chosen, cells, name):
    compared = name != FAULTS and _fallow(chosen) and len(chosen) > 1
    header = ["", *(a.label for a, _ in chosen), *(["Fallow / best peer"] if compared else [])]
    body = []
    for row in rows:
        line = [row.label, *(shown(name, cells[row.key, a.key][name]) if (row.key, a.key) in cells else "-"
                             for a, _ in chosen)]
        if compared:
            of_best = _of_best(row, chosen, cells, name)
            line.append(f"{of_best[0]:.2f}  {of_best[1].label:8}" if of_best else "")
        body.append(line)
    return ["", heading, "", *common.table(header, body)]


def _flushed(rows, chosen, cells):
    lines = []
    for row in rows:
        there = [(a, cells[row.key, a.key]) for a, _ in chosen
                 if "flushed_rss_kib" in cells.get((row.key, a.key), {})]
        if there:
            lines += ["", f"{row.label}, 1 s after FLUSHALL: MiB", ""]
            lines += common.table(["", "honest RSS", "kernel RSS"], [
                [a.label, shown(HONEST, cell["flushed_honest_kib"]), shown(RSS, cell["flushed_rss_kib"])]
                for a, cell in there])
    return lines


def _means(rows, chosen, cells):
    """Each allocator over all rows, then Fallow against the peer that is best over all rows."""
    keys = [a.key for a, _ in chosen]
    shared = figures_of.common_rows(rows, keys, cells)
    fallow = _fallow(chosen)
    header, body = [""], [[a.label] for a, _ in chosen]
    for name in figures_of.MEANS:
        header += [f"{NAMES[name]} {UNITS[name]}", *(["/ Fallow"] if fallow else [])]
        for line, key in zip(body, keys):
            line.append(shown(name, figures_of.mean(shared, key, cells, name)) if shared else "-")
            if fallow:
                line.append(f"{figures_of.ratio(rows, key, fallow.key, cells, name)[0]:.3f}")
    lines = ["", f"Geometric means over the {len(shared)} rows that every allocator has"
             + ("; / Fallow: of (an allocator's figure / Fallow's) over the rows that both have" if fallow else ""), "",
             *common.table(header, body)]
    peers = [key for key in keys if not fallow or key != fallow.key]
    if not fallow or not peers:
        return lines
    lines.append("")
    labels = {a.key: a.label for a, _ in chosen}
    for name in figures_of.MEANS:
        ratios = {key: figures_of.ratio(rows, key, fallow.key, cells, name)[0] for key in peers}
        best = min(ratios, key=ratios.get)
        lines.append(f"  {NAMES[name]}: the best peer by geometric mean is {labels[best]}; "
                     f"Fallow has {1 / ratios[best]:.3f} of its")
    return lines


def _behind(rows, chosen, cells):
    if not _fallow(chosen):
        return []
    lines = []
    for name, limit in BEHIND.items():
        rated = [(row, _of_best(row, chosen, cells, name)) for row in rows]
        rated = sorted(((of_best[0], row, of_best[1]) for row, of_best in rated if of_best and of_best[0] > limit),
                       key=lambda one: -one[0])
        lines += ["", f"Rows where Fallow is above {limit:.2f} of the best peer in {NAMES[name]}: "
                      f"{len(rated) or 'none'}"]
        fallow = _fallow(chosen).key
        lines += [f"  {ratio:6.2f}  {row.label}: {shown(name, cells[row.key, fallow][name])} against "
                  f"{shown(name, cells[row.key, peer.key][name])} {UNITS[name]} ({peer.label})"
                  for ratio, row, peer in rated]
    return lines


def report(options, rows, chosen, cells):
    memory = f"median of {options.memory_rounds} rounds of its own" if options.memory_rounds > 1 else "one round"
    lines = _by_row(f"Time, ms: {common.rounds(options)}", rows, chosen, cells, TIME)
    lines += _by_row(f"Peak honest RSS (Rss - LazyFree), MiB: {memory}", rows, chosen, cells, HONEST)
    lines += _by_row(f"Peak kernel RSS, MiB: {memory}", rows, chosen, cells, RSS)
    lines += _by_row(f"Minor page faults: {common.rounds(options)}", rows, chosen, cells, FAULTS)
    lines += _flushed(rows, chosen, cells)
    lines += _means(rows, chosen, cells)
    return lines + _behind(rows, chosen, cells)
