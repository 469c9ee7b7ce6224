"""Charts of several panels in a grid: bars in groups, or lines. The parts of bench/run purge are drawn so."""

import math
from dataclasses import dataclass

import chart
import machine

WIDTH, HEADER, FOOTER = chart.WIDTH, 146, 64
LEFT, RIGHT, TOP, BOTTOM = 74, 26, 46, 40  # pixels of a panel beside, above and below what it plots

COLOURS = {"glibc": "#4d5a66", "jemalloc": "#c0623f", "mimalloc": "#4479b5", "tcmalloc": "#b3912f",
           "fallow": chart.FALLOW}


@dataclass(frozen=True)
class Series:
    label: str
    colour: str
    values: tuple  # bars: a value a group, None for none; lines: (x, y) pairs
    dash: int = 1  # lines: gnuplot's dash type; all but 1, solid, are thin and have no key


@dataclass(frozen=True)
class Panel:
    heading: str
    series: tuple
    groups: tuple = ()  # bars: the groups' names; lines: none
    ticks: tuple = ()  # lines: (x, name) pairs
    log_x: bool = False
    log_y: bool = False


def short(value):
    """A figure in few characters."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    if value >= 1e4:
        return f"{value / 1e3:.0f} k"
    if value >= 1e3:
        return f"{value / 1e3:.1f} k"
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2g}" if value >= 0.01 else "0"


def _values(panel):
    if panel.groups:
        return [value for series in panel.series for value in series.values if value is not None]
    return [y for series in panel.series for _, y in series.values]


def _scale(panel):
    """(bottom, top) of the y axis."""
    values = _values(panel) or [1]
    if not panel.log_y:
        return 0, max(max(values), 1e-9) * 1.12
    positive = [value for value in values if value > 0] or [1]
    bottom = 10 ** math.floor(math.log10(min(positive)))
    return bottom, max(max(positive) * 2.5, bottom * 10)


def _bars(panel, bottom):
    """(data blocks, plots, labels above the bars)"""
    blocks, plots, labels = [], [], []
    pitch = len(panel.series) + 1
    for number, series in enumerate(panel.series):
        rows = []
        for group, value in enumerate(series.values):
            if value is None:
                continue
            x, top = group * pitch + number, max(value, bottom)
            rows.append(f"{x + .5} {top} {x + .05} {x + .95} {bottom} {top}")
            labels.append(f"set label {chart.quote(short(value))} at first {x + .5},{top} center offset 0,0.5 "
                          f"font 'DejaVu Sans,8' tc rgb '{chart.INK}' noenhanced front")
        if rows:
            blocks += [f"$bars{number} << EOD", *rows, "EOD"]
            plots.append(f"$bars{number} using 1:2:3:4:5:6 with boxxyerror fs solid 1 noborder "
                         f"lc rgb '{series.colour}' notitle")
    return blocks, plots, labels


def _lines(panel, bottom):
    blocks, plots = [], []
    for number, series in enumerate(panel.series):
        if not series.values:
            continue
        blocks += [f"$lines{number} << EOD", *(f"{x} {max(y, bottom)}" for x, y in series.values), "EOD"]
        style = f"lw {2.5 if series.dash == 1 else 1} dt {series.dash}"
        plots.append(f"$lines{number} using 1:2 with lines {style} lc rgb '{series.colour}' notitle")
    return blocks, plots


def _panel(panel, box, height):
    left, right, top, bottom = box
    low, high = _scale(panel)
    lines = ["unset label", "unset object", "unset logscale",
             chart.label(panel.heading, left - 44, top - 22, 13, chart.INK, bold=True, height=height)]
    if panel.groups:
        blocks, plots, labels = _bars(panel, low)
        pitch = len(panel.series) + 1
        ticks = [(group * pitch + len(panel.series) / 2, name) for group, name in enumerate(panel.groups)]
        spread = (-0.6, len(panel.groups) * pitch - .4)
    else:
        (blocks, plots), labels, ticks = _lines(panel, low), [], panel.ticks
        xs = [x for series in panel.series for x, _ in series.values] or [0, 1]
        spread = (min(xs) if panel.log_x else 0, max(xs))
    if panel.log_x:
        lines.append("set logscale x 2")
    if panel.log_y:
        lines.append("set logscale y 10")
    names = ", ".join(f"{chart.quote(name)} {x}" for x, name in ticks)
    return lines + labels + blocks + [
        f"set lmargin at screen {left / WIDTH:.5f}", f"set rmargin at screen {right / WIDTH:.5f}",
        f"set tmargin at screen {1 - top / height:.5f}", f"set bmargin at screen {1 - bottom / height:.5f}",
        f"set xrange [{spread[0]}:{spread[1]}]", f"set yrange [{low}:{high}]",
        f"set xtics ({names}) scale 0 font 'DejaVu Sans,11' tc rgb '{chart.INK}'",
        f"set ytics autofreq scale 0 font 'DejaVu Sans,11' tc rgb '{chart.FAINT}' format '%g'",
        "plot " + (", ".join(plots) or "NaN notitle"),
    ]


def _legend(series, height):
    lines, x, y = [], chart.MARGIN_LEFT, 118
    for number, one in enumerate(series, 1):
        corners = [f"screen {px / WIDTH:.5f},{1 - py / height:.5f}" for px, py in ((x, y + 6), (x + 13, y - 7))]
        lines += [f"set object {number} rect from {corners[0]} to {corners[1]} fs solid 1 noborder "
                  f"fc rgb '{one.colour}' front", chart.label(one.label, x + 20, y, 12, chart.INK, height=height)]
        x += 20 + 12 * 0.62 * len(one.label) + 22
    return lines


def draw(base, title, below, footer, grid, where, date, warnings=(), row_height=330):
    """Writes base.svg and base.png; grid is a list of rows of panels. Returns the suffixes of what was written."""
    height = HEADER + row_height * len(grid) + FOOTER + (22 if warnings else 0)
    lines = ["set encoding utf8", "set multiplot", "unset key", f"set border 1 lw 1 lc rgb '{chart.RULE}'",
             "unset xlabel", f"set grid ytics lt 1 lw 1 lc rgb '{chart.RULE}' back"]
    for number, row in enumerate(grid):
        width = (WIDTH - chart.MARGIN_RIGHT) / len(row)
        for column, panel in enumerate(row):
            box = (column * width + LEFT, (column + 1) * width - RIGHT,
                   HEADER + number * row_height + TOP, HEADER + (number + 1) * row_height - BOTTOM)
            lines += _panel(panel, box, height)
    legend = list({series.label: series for row in grid for panel in row for series in panel.series
                   if series.dash == 1}.values())
    lines += ["unset label", "unset object", "unset border", "unset tics", "unset grid", "unset logscale",
              "set margins 0,0,0,0", "set xrange [0:1]", "set yrange [0:1]", *_legend(legend, height),
              chart.label(title, chart.MARGIN_LEFT, 42, 21, chart.INK, bold=True, height=height),
              chart.label(below, chart.MARGIN_LEFT, 80, 13, chart.FAINT, height=height),
              chart.label(footer, chart.MARGIN_LEFT, height - 42, 11, chart.FAINT, height=height),
              chart.label("  ".join(warnings), chart.MARGIN_LEFT, height - 64, 11, chart.WARNING, bold=True,
                          height=height),
              chart.label(f"{machine.one_line(where)}.  {date:%Y-%m-%d}", chart.MARGIN_LEFT, height - 20, 11,
                          chart.FAINT, height=height),
              "plot NaN notitle", "unset multiplot"]
    return chart.render(base, "\n".join(lines) + "\n", height)
