"""The part of bench/run purge that times small mallocs and frees while another thread frees a lot."""

import common
import panels

KEY = "latency"
IDENTITY = ("allocator",)
PHASES = (("alone", "alone"), ("meanwhile", "while 1 MiB blocks are freed, and after"))
FIGURES = (("p50_ns", "p50"), ("p99_ns", "p99"), ("p99.9_ns", "p99.9"), ("p99.99_ns", "p99.99"))


def _mib(options):
    return 512 if options.quick else 2048


def steps(options, chosen, number):
    for allocator, path in chosen:
        yield (3, f"latency: {allocator.label}",
               lambda allocator=allocator, path=path: _run(options, allocator, path, number))


def _run(options, allocator, path, number):
    command = [common.program(options, "fallow-latency"), "-m", f"{_mib(options)}m", "-S",
               "0.5" if options.quick else "1", "--json"]
    result = common.run_allocator(allocator, path, command, 120)
    row = {"allocator": allocator.key, "round": number, "freed_us": result["freed_us"]}
    for phase, _ in PHASES:
        row.update({f"{phase}_{figure}": value for figure, value in result[phase].items()})
    return [row]


def _cells(medians):
    return {row["allocator"]: row for row in medians}


def report(options, chosen, medians):
    cells = _cells(medians)
    rows = []
    for allocator, _ in chosen:
        cell = cells[allocator.key]
        rows.append([allocator.label,
                     *(f"{cell[f'{phase}_{figure}']:,.0f}" for phase, _ in PHASES for figure, _ in FIGURES),
                     f"{cell['meanwhile_worst_ns'] / 1000:,.0f}", f"{cell['freed_us'] / 1000:,.1f}"])
    header = ["", *(f"{name}, {phase}" for phase, _ in PHASES for _, name in FIGURES), "worst, us", "all freed in, ms"]
    return ["", f"fallow-latency: ns a malloc or free of up to 1 KiB, alone and while another thread frees {_mib(options)} MiB "
                "in blocks of 1 MiB", "", *common.table(header, rows)]


def caveats(_medians):
    return ["Latencies contain two readings of the clock each, and whatever else the machine did."]


def draw(base, options, chosen, medians, where, date, warnings):
    cells = _cells(medians)
    grid = [[]]
    for phase, heading in PHASES:
        series = tuple(panels.Series(a.label, panels.COLOURS[a.key], tuple(
            cells[a.key][f"{phase}_{figure}"] for figure, _ in FIGURES)) for a, _ in chosen)
        grid[0].append(panels.Panel(f"ns a call, {heading}", series, groups=tuple(name for _, name in FIGURES),
                                    log_y=True))
    return panels.draw(base, "Small mallocs and frees beside a thread that frees a lot",
                       f"Each call timed; {_mib(options)} MiB are freed meanwhile. Less is better; logarithmic.",
                       f"fallow-latency, {common.rounds(options)}.",
                       grid, where, date, warnings)
