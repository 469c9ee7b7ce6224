"""The chart of bench/run ebizzy: two panels, memory kept and memory given back at once, on one scale; and what every
chart is drawn by (see panels.py).

Python decides what is drawn, gnuplot draws it, once as SVG and once as PNG. The background is the chart's own, so it
reads the same on a light and on a dark page.
"""

import shutil
import subprocess

import allocators
import common
import machine

WIDTH, HEADER, ROW, FOOTER = 1400, 112, 480, 64
MARGIN_LEFT, GAP, MARGIN_RIGHT = 84, 44, 36  # pixels beside and between the panels
ROW_TOP, ROW_BOTTOM = 84, 44  # pixels of a row above and below its plots: headings and keys, thread counts

PAPER, INK, FAINT, RULE, WARNING = "#fbfaf5", "#1f2a24", "#66716b", "#dddcd2", "#b4531a"
FALLOW = "#1f9d57"
COLOURS = {
    "glibc": "#59636b", "jemalloc": "#87929a", "mimalloc": "#adb6bc", "tcmalloc": "#d0d6da", "fallow": FALLOW,
    "jemalloc-at-once": "#87929a", "fallow-at-once-dontneed": "#e0a030", "fallow-at-once": FALLOW,
}
KEYS = {"jemalloc-at-once": "jemalloc: DONTNEED", "fallow-at-once": "Fallow: FREE",
        "fallow-at-once-dontneed": "Fallow: DONTNEED"}
PANELS = ((allocators.KEEP, "Freed memory kept, as by default"),
          (allocators.AT_ONCE, "Every freed buffer given back at once"))
MODES = {"walk": "walking all 256 MiB of records (cache-cold)",
         "stuck": "always the same record (--rng stuck, cache-hot)"}


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def _range(values, unit=""):
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    if max(values) >= 2:
        low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return f"{low}{unit}" if low == high else f"{low}–{high}{unit}"


def _series(drawn, policy):
    """The panel's allocators; Fallow last, and its MADV_FREE after its MADV_DONTNEED."""
    return sorted((a for a in drawn if a.policy == policy),
                  key=lambda a: (a.is_fallow, a.key == "fallow-at-once"))


def _ratio(cell, key):
    """What stands above a bar of Fallow's."""
    if key == "fallow":
        return cell[key]["of_best_peer"]
    if key == "fallow-at-once" and "fallow-at-once-dontneed" in cell:
        return cell[key]["records_per_second"] / cell["fallow-at-once-dontneed"]["records_per_second"]
    return None


def _messages(cells):
    """The title, the one thing to see, and a line below it."""
    purging, keeping = ([ratio for ratio in (_ratio(cell, key) for cell in cells.values() if key in cell) if ratio]
                        for key in ("fallow-at-once", "fallow"))
    title, below = "malloc under an ebizzy-like load", []
    if purging:
        title = f"Giving memory back at once: MADV_FREE is {_range(purging, '×')} the speed of MADV_DONTNEED"
    if keeping:
        below.append(f"Left to its defaults, Fallow runs at {_range(keeping)} of the fastest peer.")
    below.append("Records per second: allocate 512 KiB, copy a record in, search it, free it. Taller is better.")
    return title, "  ".join(below)


def label(text, x, y, size, colour, align="left", bold=False, height=1):
    font = f"DejaVu Sans{':Bold' if bold else ''},{size}"
    return (f"set label {quote(text)} at screen {x / WIDTH:.5f},{1 - y / height:.5f} {align} font {quote(font)} "
            f"tc rgb '{colour}' noenhanced front")


def _key(series, x, y, height):
    """The colours' names in a row, laid out by the font's mean width."""
    lines = []
    for number, allocator in enumerate(series, 1):
        name = KEYS.get(allocator.key, allocator.label)
        corners = [f"screen {px / WIDTH:.5f},{1 - py / height:.5f}" for px, py in ((x, y + 6), (x + 13, y - 7))]
        lines += [f"set object {number} rect from {corners[0]} to {corners[1]} fs solid 1 noborder "
                  f"fc rgb '{COLOURS[allocator.key]}' front",
                  label(name, x + 20, y, 12, INK, height=height)]
        x += 20 + 12 * 0.62 * len(name) + 22
    return lines


def _scale(cells, rng, options):
    """(top of the axis, its step), in thousands: the tallest bar and room for the figure above it."""
    top = max(f["records_per_second"] for t in options.threads for f in cells[rng, t].values()) / 1000 * 1.12
    step = next(s * 10 ** e for e in range(-3, 6) for s in (1, 2, 5) if top / (s * 10 ** e) <= 7)
    return top, step


def _panel(options, cells, rng, policy, heading, series, box, height, scale, first):
    left, right, top, bottom = box
    group = len(series) + 1.1  # bars and a gap
    lines = ["unset label", "unset object", *_key(series, left, top - 28, height),
             label(heading, left, top - 58, 15, INK, bold=True, height=height)]
    blocks, plots = [], []
    for s, allocator in enumerate(series):
        name = "$" + allocator.key.replace("-", "_")
        rows = []
        for g, threads in enumerate(options.threads):
            cell = cells[rng, threads]
            x = g * group + s
            rate = cell[allocator.key]["records_per_second"] / 1000
            rows.append(f"{x + .5} {rate / 2} {x + .04} {x + .96} 0 {rate}")
            ratio = _ratio(cell, allocator.key)
            if ratio is not None:
                text = f"{ratio:.2f}" if allocator.key == "fallow" else f"{ratio:.1f}×"
                size = 11 if allocator.key == "fallow" else 15
                lines.append(f"set label {quote(text)} at first {x + .5},{rate} center offset 0,0.7 "
                             f"font 'DejaVu Sans:Bold,{size}' tc rgb '{FALLOW}' noenhanced front")
        blocks += [f"{name} << EOD", *rows, "EOD"]
        plots.append(f"{name} using 1:2:3:4:5:6 with boxxyerror fs solid 1 noborder lc rgb '{COLOURS[allocator.key]}' "
                     "notitle")
    tics = ", ".join(f"'{t} thread{'s' if t > 1 else ''}' {g * group + len(series) / 2}"
                     for g, t in enumerate(options.threads))
    limit, step = scale
    return lines + blocks + [
        f"set lmargin at screen {left / WIDTH:.5f}", f"set rmargin at screen {right / WIDTH:.5f}",
        f"set tmargin at screen {1 - top / height:.5f}", f"set bmargin at screen {1 - bottom / height:.5f}",
        f"set xrange [-0.6:{len(options.threads) * group - .5}]", f"set yrange [0:{limit}]",
        f"set xtics ({tics}) scale 0 font 'DejaVu Sans,13' tc rgb '{INK}'",
        f"set ytics 0,{step} scale 0 font 'DejaVu Sans,12' tc rgb '{FAINT}' format '{'%g k' if first else ''}'",
        "plot " + ", ".join(plots),
    ]


def script(options, where, drawn, cells, warnings, date):
    """(gnuplot commands without the terminal, height in pixels)"""
    height = HEADER + ROW * len(options.modes) + FOOTER + (22 if warnings else 0)
    title, below = _messages(cells)
    lines = ["set encoding utf8", "set multiplot", "unset key", f"set border 1 lw 1 lc rgb '{RULE}'", "unset xlabel",
             f"set grid ytics lt 1 lw 1 lc rgb '{RULE}' back"]
    panels = [(policy, heading, _series(drawn, policy)) for policy, heading in PANELS]
    panels = [panel for panel in panels if panel[2]]
    units = sum(len(series) + 1.1 for _, _, series in panels)
    room = WIDTH - MARGIN_LEFT - MARGIN_RIGHT - GAP * (len(panels) - 1)

    for row, rng in enumerate(options.modes):
        top, left = HEADER + ROW * row, MARGIN_LEFT
        for number, (policy, heading, series) in enumerate(panels):
            right = left + room * (len(series) + 1.1) / units
            box = (left, right, top + ROW_TOP, top + ROW - ROW_BOTTOM)
            if len(options.modes) > 1 and number == 0:
                heading = f"{heading}; {MODES[rng].partition(' (')[0]}"
            lines += _panel(options, cells, rng, policy, heading, series, box, height, _scale(cells, rng, options),
                            number == 0)
            left = right + GAP

    footer = (f"fallow-ebizzy -S {options.seconds:g} -n 512, {' and '.join(MODES[rng] for rng in options.modes)}; "
              f"{common.rounds(options)}.")
    lines += ["unset label", "unset object", "unset border", "unset tics", "unset grid",
              "set margins 0,0,0,0", "set xrange [0:1]", "set yrange [0:1]",
              label(title, MARGIN_LEFT, 42, 23, INK, bold=True, height=height),
              label(below, MARGIN_LEFT, 84, 14, FAINT, height=height),
              label(footer, MARGIN_LEFT, height - 42, 11, FAINT, height=height),
              label("  ".join(warnings), MARGIN_LEFT, height - 64, 11, WARNING, bold=True, height=height),
              label(f"{machine.one_line(where)}.  {date:%Y-%m-%d}", MARGIN_LEFT, height - 20, 11, FAINT,
                     height=height),
              "plot NaN notitle", "unset multiplot"]
    return "\n".join(lines) + "\n", height


def _finish_svg(path):
    """gnuplot leaves ':Bold' in the family's name, and names no family for viewers without DejaVu."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    family = 'font-family="DejaVu Sans, Verdana, sans-serif"'
    text = text.replace('font-family="DejaVu Sans:Bold"', f'{family} font-weight="bold"')
    text = text.replace('font-family="DejaVu Sans"', family)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def render(base, commands, height):
    """Has gnuplot write base.svg and base.png. Returns the suffixes of what was written."""
    if not shutil.which("gnuplot"):
        print("No chart: gnuplot is not installed")
        return []
    terminals = {
        "svg": f"svg size {WIDTH},{height} dynamic enhanced font 'DejaVu Sans,12' background '{PAPER}'",
        "png": f"pngcairo size {2 * WIDTH},{2 * height} enhanced font 'DejaVu Sans,12' fontscale 1.5 linewidth 2 "
               f"background '{PAPER}'",
    }
    for suffix, terminal in terminals.items():
        done = subprocess.run(["gnuplot"], input=f"set terminal {terminal}\nset output {quote(f'{base}.{suffix}')}\n"
                              + commands, text=True, capture_output=True)
        if done.returncode != 0 or done.stderr:
            print(f"No {suffix.upper()} chart: gnuplot said\n{done.stderr.strip()}")
            return []
    _finish_svg(f"{base}.svg")
    return list(terminals)


def draw(base, options, where, drawn, cells, warnings, date):
    return render(base, *script(options, where, drawn, cells, warnings, date))
