"""The part of bench/run purge that allocates, touches and frees one block over and over, size by size."""

import common
import panels

KEY = "churn"
IDENTITY = ("bytes", "allocator")
MIB = 1 << 20
SIZES = tuple(sorted([(256 << 10) << doubling for doubling in range(13)] + [7 * MIB, int(7.1 * MIB)]))
QUICK_SIZES = tuple(size for size in SIZES if size <= 128 * MIB and size not in (512 << 10, 2 * MIB, 8 * MIB, 32 * MIB))


def sizes(options):
    return QUICK_SIZES if options.quick else SIZES


def steps(options, chosen, number):
    seconds = 0.05 if options.quick else 0.15
    for size in sizes(options):
        for allocator, path in chosen:
            yield (seconds + 0.1 + size / MIB * 0.002, f"churn, {_size_name(size)}: {allocator.label}",
                   lambda size=size, allocator=allocator, path=path:
                   _run(options, allocator, path, size, seconds, number))


def _run(options, allocator, path, size, seconds, number):
    command = [common.program(options, "fallow-churn"), "-s", str(size), "-S", str(seconds),
               "-n", "3" if size < 256 * MIB else "2", "--json"]
    result = common.run_allocator(allocator, path, command, 120)
    return [{"bytes": size, "allocator": allocator.key, "round": number,
             **{name: result[name] for name in ("loops", "us_per_loop", "median_us", "worst_us", "faults_per_loop",
                                                "first_us", "first_faults")}}]


def _size_name(size):
    if size >= 1 << 30:
        return f"{size >> 30} GiB"
    return f"{size / MIB:.3g} MiB" if size >= MIB else f"{size >> 10} KiB"


def _cells(medians):
    return {(row["bytes"], row["allocator"]): row for row in medians}


def _us(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"


def report(options, chosen, medians):
    cells = _cells(medians)
    lines = []
    ours = next((a for a, _ in chosen if a.is_fallow), None)
    peers = [a for a, _ in chosen if not a.is_fallow]
    for heading, name in (("microseconds a loop", "us_per_loop"), ("page faults a loop", "faults_per_loop")):
        lines += ["", f"fallow-churn: malloc, touch each page, free: {heading}"]
        header = ["", *(a.label for a, _ in chosen)]
        with_ratio = ours and peers and name == "us_per_loop"
        if with_ratio:
            lines[-1] += "; then how many times as long as Fallow the peers take"
            header += [f"{a.label}/Fallow" for a in peers]
        rows = []
        for size in sizes(options):
            row = [_size_name(size), *(_us(cells[size, a.key][name]) for a, _ in chosen)]
            if with_ratio:
                row += [f"{cells[size, a.key][name] / cells[size, ours.key][name]:.2f}" for a in peers]
            rows.append(row)
        lines += ["", *common.table(header, rows)]
    return lines


def caveats(_medians):
    return []


def draw(base, options, chosen, medians, where, date, warnings):
    cells = _cells(medians)
    ticks = tuple((size / MIB, _size_name(size)) for size in sizes(options) if size & (size - 1) == 0)[::2]
    grid = [[]]
    for heading, name in (("Microseconds a MiB of the block", "us_per_loop"),
                          ("Page faults a MiB of the block", "faults_per_loop")):
        series = tuple(panels.Series(a.label, panels.COLOURS[a.key],
                                     tuple((size / MIB, cells[size, a.key][name] / (size / MIB))
                                           for size in sizes(options))) for a, _ in chosen)
        log_y = name == "us_per_loop"
        grid[0].append(panels.Panel(heading, series, ticks=ticks, log_x=True, log_y=log_y))
    return panels.draw(base, "One block, allocated, touched and freed, over and over",
                       "By the size of the block; lower is better, and a step is a cliff.",
                       f"fallow-churn, {common.rounds(options)}.",
                       grid, where, date, warnings, row_height=420)
