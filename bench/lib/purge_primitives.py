"""The part of bench/run purge that measures the kernel: fallow-purge, no allocator."""

import json
import subprocess

import allocators
import chart
import common
import panels

KEY = "primitives"
IDENTITY = ("pages", "extent_bytes", "count", "busy", "advice", "calls")
GIB = 1 << 30
WAYS = (("free", "one"), ("free", "vectored"), ("dontneed", "one"), ("dontneed", "vectored"))
WAY_NAMES = {("free", "one"): "MADV_FREE, one call each", ("free", "vectored"): "MADV_FREE, vectored",
             ("dontneed", "one"): "MADV_DONTNEED, one call each", ("dontneed", "vectored"): "MADV_DONTNEED, vectored"}
WAY_COLOURS = {("free", "one"): "#8fceab", ("free", "vectored"): chart.FALLOW,
               ("dontneed", "one"): "#ecc98f", ("dontneed", "vectored"): "#e0a030"}
# (pages, bytes an extent, extents, bytes from one to the next): scattered over 1 GiB, or all of it
SHAPES = (("small", 16 << 10, 16384, 64 << 10), ("small", 64 << 10, 8192, 128 << 10), ("small", 2 << 20, 512, 2 << 20),
          ("huge", 64 << 10, 8192, 128 << 10), ("huge", 2 << 20, 512, 2 << 20))

_refusals = []  # what the system does not do, for the report


def steps(options, _chosen, number):
    divisor = 8 if options.quick else 1
    for pages, extent, count, stride in SHAPES:
        for busy in (0, 1):
            yield (6 / divisor, f"primitives, {_shape_name(pages, extent, count // divisor)}, {busy} busy",
                   lambda shape=(pages, extent, count // divisor, stride), busy=busy:
                   _run(options, shape, busy, number))


def _run(options, shape, busy, number):
    pages, extent, count, stride = shape
    command = [common.program(options, "fallow-purge"), "-p", pages, "-e", str(extent), "-n", str(count),
               "-d", str(stride), "-b", str(busy), "--json"]
    for calls in ("both", "one"):
        done = subprocess.run([*command, "-c", calls], capture_output=True, text=True, timeout=300,
                              env=allocators.environment(allocators.ALL[0], ""))
        if done.returncode == 3:
            refusal = done.stderr.strip().partition(": ")[2]
            if refusal not in _refusals:
                _refusals.append(refusal)
        elif done.returncode != 0 or done.stderr:
            common.fail(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr.strip()}")
        else:
            return _rows(json.loads(done.stdout), number)
    return []


def _rows(result, number):
    per_gib = GIB / (result["extent_bytes"] * result["count"])
    counted = result["has_tlb_row"] or result["has_call_row"]
    rows = []
    for run in result["runs"]:
        rows.append({
            "pages": result["pages"], "extent_bytes": result["extent_bytes"], "count": result["count"],
            "busy": result["busy"], "advice": run["advice"], "calls": run["calls"], "round": number,
            "purge_us_per_gib": run["purge_us"] * per_gib,
            "system_calls_per_gib": run["system_calls"] * per_gib,
            "tlb_interrupts_per_gib": run["tlb_interrupts"] * per_gib if counted else None,
            "call_interrupts_per_gib": run["call_interrupts"] * per_gib if counted else None,
            "rewrite_us_per_gib": run["rewrite_us"] * per_gib,
            "warm_write_us_per_gib": run["warm_write_us"] * per_gib,
            "rewrite_faults_per_gib": run["rewrite_faults"] * per_gib,
            "huge_kib": run["huge_kib"], "fallen_kib": run["fallen_kib"], "lazy_kib": run["lazy_kib"],
            "background_interrupts_per_s": result["background_interrupts_per_s"],
        })
    return rows


def _shape_name(pages, extent, count):
    size = f"{extent >> 20} MiB" if extent >= 1 << 20 else f"{extent >> 10} KiB"
    return f"{count:,} x {size}, {pages} pages"


def _groups(medians):
    """{(pages, extent, count, busy): {way: row}}"""
    groups = {}
    for row in medians:
        key = (row["pages"], row["extent_bytes"], row["count"], row["busy"])
        groups.setdefault(key, {})[row["advice"], row["calls"]] = row
    return groups


def _group_name(key):
    return f"{_shape_name(*key[:3])}, {key[3]} busy"


def _interrupts(row):
    if row["tlb_interrupts_per_gib"] is None:
        return None
    return row["tlb_interrupts_per_gib"] + row["call_interrupts_per_gib"]


def _ratio(above, below, figure):
    if above is None or below is None:
        return "-"
    above, below = figure(above), figure(below)
    return f"{above / below:.3f}" if above is not None and below else "-"


def _number(value):
    return "-" if value is None else f"{value:,.0f}"


def report(_options, _chosen, medians):
    lines = ["", "fallow-purge: the kernel's primitives, per GiB purged", ""]
    rows = []
    for key, ways in _groups(medians).items():
        rows.append([_group_name(key), *[""] * 6])
        for way in WAYS:
            if way in ways:
                row = ways[way]
                rows.append([f"  {WAY_NAMES[way]}", *(_number(row[name]) for name in (
                    "purge_us_per_gib", "system_calls_per_gib", "tlb_interrupts_per_gib", "call_interrupts_per_gib",
                    "rewrite_us_per_gib", "rewrite_faults_per_gib"))])
    lines += common.table(["", "purge us", "calls", "TLB", "CAL", "write again us", "faults"], rows)
    lines += ["", "Ratios: vectored to one call each; MADV_FREE to MADV_DONTNEED, vectored where there is that", ""]
    rows = []
    for key, ways in _groups(medians).items():
        free, dontneed = (ways.get((advice, "vectored"), ways.get((advice, "one"))) for advice in ("free", "dontneed"))
        time = [_ratio(ways.get((advice, "vectored")), ways.get((advice, "one")), lambda row: row["purge_us_per_gib"])
                for advice in ("free", "dontneed")]
        interrupts = _ratio(ways.get(("free", "vectored")), ways.get(("free", "one")), _interrupts) if key[3] else "-"
        rows.append([_group_name(key), time[0], interrupts, time[1],
                     _ratio(free, dontneed, lambda row: row["purge_us_per_gib"]),
                     _ratio(free, dontneed, lambda row: row["purge_us_per_gib"] + row["rewrite_us_per_gib"])])
    lines += common.table(["", "FREE: time", "FREE: interrupts", "DONTNEED: time", "FREE/DONTNEED",
                           "the same and writing again"], rows)
    return lines


def caveats(medians):
    texts = [f"Left out: {refusal}." for refusal in _refusals]
    background = max((row["background_interrupts_per_s"] for row in medians), default=0)
    if background > 1000:
        texts.append(f"Interrupts are the whole machine's: up to {background:,.0f}/s came from elsewhere.")
    if any(row["tlb_interrupts_per_gib"] is None for row in medians):
        texts.append("Interrupts are not counted: /proc/interrupts has neither TLB nor CAL.")
    short = [row for row in medians if row["pages"] == "huge" and row["huge_kib"] < 0.9 * row["count"] / 1024 *
             max(row["extent_bytes"], 128 << 10)]
    if short:
        texts.append("The kernel did not give huge pages for all of the mapping.")
    return texts


def draw(base, options, _chosen, medians, where, date, warnings):
    groups = _groups(medians)
    names = tuple(f"{extent >> 20} MiB, {pages}" if extent >= 1 << 20 else f"{extent >> 10} KiB, {pages}"
                  for pages, extent, _, busy in groups if busy == 0)
    figures = (("Purging, ms per GiB", lambda row: row["purge_us_per_gib"] / 1000),
               ("Interrupts (TLB + CAL) per GiB", _interrupts),
               ("Writing one byte a page again, ms per GiB", lambda row: row["rewrite_us_per_gib"] / 1000))
    grid = []
    for heading, figure in figures:
        row = []
        for busy in (0, 1):
            if heading.startswith("Interrupts") and not busy:
                continue
            cells = [ways for key, ways in groups.items() if key[3] == busy]
            if not cells:
                continue
            series = tuple(panels.Series(WAY_NAMES[way], WAY_COLOURS[way],
                                         tuple(figure(ways[way]) if way in ways else None for ways in cells))
                           for way in WAYS)
            beside = ", beside one busy thread" if busy else ", alone"
            row.append(panels.Panel(heading + beside, series, groups=names, log_y=True))
        if row:
            grid.append(row)
    footer = f"fallow-purge, {common.rounds(options)}."
    return panels.draw(base, "What giving memory back costs, and taking it again",
                       "Scattered extents of a mapping, by size and pages; less is better. Logarithmic scales.", footer,
                       grid, where, date, warnings)
