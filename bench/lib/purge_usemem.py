"""The part of bench/run purge that reads zeroed memory."""

import common
import panels

KEY = "usemem"
IDENTITY = ("write", "processes", "allocator")
PASSES = (("fresh", "fresh"), ("again", "freed and asked for again"))


def cases(options):
    """(whether it is written before it is freed, processes)"""
    if options.quick:
        return ((False, 1), (False, 2), (True, 1))
    return ((False, 1), (False, 2), (False, 4), (False, 8), (True, 1))


def steps(options, chosen, number):
    for write, processes in cases(options):
        for allocator, path in chosen:
            yield (0.3 + 0.3 * processes, f"usemem, {_case_name(write, processes)}: {allocator.label}",
                   lambda write=write, processes=processes, allocator=allocator, path=path:
                   _run(options, allocator, path, write, processes, number))


def _run(options, allocator, path, write, processes, number):
    command = [common.program(options, "fallow-usemem"), "-s", f"{options.usemem_mib}m", "-p", str(processes), "--json",
               *(["-w"] if write else [])]
    result = common.run_allocator(allocator, path, command, 300)
    row = {"write": write, "processes": processes, "allocator": allocator.key, "round": number}
    for name, _ in PASSES:
        row.update({f"{name}_{figure}": value for figure, value in result[name].items()})
    return [row]


def _case_name(write, processes):
    return f"{processes} process{'es' if processes > 1 else ''}{', written before it is freed' if write else ''}"


def _column(write, processes):
    return f"{processes} process{'es' if processes > 1 else ''}{', written' if write else ''}"


def _cells(medians):
    return {(row["write"], row["processes"], row["allocator"]): row for row in medians}


def report(options, chosen, medians):
    cells = _cells(medians)
    glibc = next((a for a, _ in chosen if a.key == "glibc"), None)
    lines = []
    for name, heading in PASSES:
        rows = []
        for allocator, _ in chosen:
            row = [allocator.label]
            for case in cases(options):
                cell = cells[(*case, allocator.key)]
                ratio = f" ({cell[f'{name}_us'] / cells[(*case, glibc.key)][f'{name}_us']:.2f})" if glibc else ""
                row.append(f"{cell[f'{name}_us'] / 1000:,.1f}{ratio} / {cell[f'{name}_rss_kib'] / 1024:+,.1f}")
            rows.append(row)
        lines += ["", f"fallow-usemem: {options.usemem_mib} MiB from calloc, one byte read a page, {heading}: "
                      f"ms{' (to glibc)' if glibc else ''} / MiB that RSS grew by, a process", ""]
        lines += common.table(["", *(_column(write, processes) for write, processes in cases(options))],
                              rows)
    return lines


def caveats(_medians):
    return []


def draw(base, options, chosen, medians, where, date, warnings):
    cells = _cells(medians)
    names = tuple(_column(write, processes) for write, processes in cases(options))
    grid = []
    for name, heading in PASSES:
        row = []
        for figure, unit in (("us", "calloc and reading, ms"), ("rss_kib", "what RSS grew by, MiB a process")):
            scale = 1000 if figure == "us" else 1024
            series = tuple(panels.Series(a.label, panels.COLOURS[a.key], tuple(
                max(0, cells[(*case, a.key)][f"{name}_{figure}"] / scale) for case in cases(options)))
                for a, _ in chosen)
            row.append(panels.Panel(f"{heading[0].upper()}{heading[1:]}: {unit}", series, groups=names,
                                    log_y=figure == "us"))
        grid.append(row)
    return panels.draw(base, f"{options.usemem_mib} MiB of zeroes, only read",
                       "calloc, then one byte read a page. Less is better; times on a logarithmic scale.",
                       f"fallow-usemem, {common.rounds(options)}.",
                       grid, where, date, warnings)
