"""The chart of bench/run suite: one point an allocator, time across and memory up, both relative to glibc."""

import chart
import common
import machine
import panels
import suite_figures as figures_of
from suite_figures import HONEST, TIME

HEIGHT = 820
LEFT, RIGHT, TOP, BOTTOM = 110, 60, 136, 142  # pixels beside, above and below what is plotted
POINT, CHARACTER = 17, 9.2  # pixels of a point's radius and of a label's character
BOTH = "#eef5ec"  # behind the corner where an allocator takes less of both
LEAST_REACH = 1.1  # an axis reaches at least from 1 / this to this


def points(rows, chosen, cells):
    """({allocator key: (time, memory)} relative to glibc or else the first, that allocator's label, rows)"""
    keys = [a.key for a, _ in chosen]
    shared = figures_of.common_rows(rows, keys, cells)
    base = next((a for a, _ in chosen if a.key == "glibc"), chosen[0][0])
    return ({key: tuple(figures_of.ratio(shared, key, base.key, cells, name)[0] for name in (TIME, HONEST))
             for key in keys}, base.label, len(shared))


def _reach(values):
    """The ends of an axis, around 1 and all values."""
    low, high = min(*values, 1 / LEAST_REACH), max(*values, LEAST_REACH)
    margin = 0.12 * (high - low)
    return max(0, low - margin), high + margin


def _pixel(point, reach):
    (x_low, x_high), (y_low, y_high) = reach
    width, height = chart.WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    return (LEFT + (point[0] - x_low) / (x_high - x_low) * width,
            TOP + (1 - (point[1] - y_low) / (y_high - y_low)) * height)


def _overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _placed(texts, spots):
    """{key: (x, y, alignment)}: each label beside its point, where nothing else is."""
    taken = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in spots.values()]
    result = {}
    for key, text in texts.items():
        x, y = spots[key]
        width = CHARACTER * max(len(line) for line in text)
        choices = []
        for dx, dy, align, left in ((POINT + 9, 0, "left", 0), (-POINT - 9, 0, "right", -width),
                                    (0, -POINT - 26, "center", -width / 2), (0, POINT + 26, "center", -width / 2)):
            box = (x + dx + left, y + dy - 20, x + dx + left + width, y + dy + 20)
            outside = box[0] < LEFT or box[2] > chart.WIDTH - RIGHT or box[1] < TOP or box[3] > HEIGHT - BOTTOM
            choices.append((outside + sum(_overlap(box, other) for other in taken), len(choices), box,
                            (x + dx, y + dy, align)))
        _, _, box, result[key] = min(choices)
        taken.append(box)
    return result


def _title(options, relative, base):
    if "fallow" not in relative or base != "glibc":
        return f"Time and memory over the {options.name}"
    time, memory = relative["fallow"]
    return f"Over the {options.name}, Fallow takes {time:.2f} of glibc's time and {memory:.2f} of its memory"


def script(options, where, chosen, rows, cells, warnings, date):
    relative, base, count = points(rows, chosen, cells)
    reach = tuple(_reach([point[axis] for point in relative.values()]) for axis in (0, 1))
    texts = {a.key: (a.label, "{:.2f} × time, {:.2f} × memory".format(*relative[a.key])) for a, _ in chosen}
    places = _placed(texts, {key: _pixel(point, reach) for key, point in relative.items()})

    lines = ["set encoding utf8", "unset key", f"set border 3 lw 1 lc rgb '{chart.RULE}'",
             f"set grid xtics ytics lt 1 lw 1 lc rgb '{chart.RULE}' back",
             f"set lmargin at screen {LEFT / chart.WIDTH:.5f}",
             f"set rmargin at screen {1 - RIGHT / chart.WIDTH:.5f}",
             f"set tmargin at screen {1 - TOP / HEIGHT:.5f}", f"set bmargin at screen {BOTTOM / HEIGHT:.5f}"]
    for axis, (low, high) in zip("xy", reach):
        lines += [f"set {axis}range [{low}:{high}]",
                  f"set {axis}tics autofreq nomirror scale 0 font 'DejaVu Sans,12' tc rgb '{chart.FAINT}' format '%g'"]
    lines += ["set style textbox opaque noborder margins 0.4,0.2 "
              f"fillcolor rgb '{chart.PAPER}'",
              f"set object 1 rect from graph 0, graph 0 to first 1, first 1 fs solid 1 noborder fc rgb '{BOTH}' behind",
              "set label 'less of both' at graph 0, graph 0 left offset 1,1 font 'DejaVu Sans,12' "
              f"tc rgb '{chart.FALLOW}'"]
    for arrow in ("first 1, graph 0 to first 1, graph 1", "graph 0, first 1 to graph 1, first 1"):
        lines.append(f"set arrow from {arrow} nohead lw 1 dt 2 lc rgb '{chart.FAINT}' back")
    lines += ["$points << EOD", *(f"{x} {y} {int(panels.COLOURS[key][1:], 16)}" for key, (x, y) in relative.items()),
              "EOD"]
    one_x, one_y = _pixel((1, 1), reach)
    for key, (x, y, align) in places.items():
        colour = chart.FALLOW if key == "fallow" else chart.INK
        boxed = "" if x < one_x and y > one_y else " boxed"  # keeps dashes off the text
        lines += [chart.label(texts[key][0], x, y - 9, 16, colour, align, bold=True, height=HEIGHT) + boxed,
                  chart.label(texts[key][1], x, y + 12, 11, chart.FAINT, align, height=HEIGHT) + boxed]
    below = (f"Geometric means over {count} rows, relative to {base} (dashed). Towards the lower left is better: less "
             "time, less memory.")
    footer = (f"bench/run {options.name}: time, {common.rounds(options)}; peak honest RSS (Rss - LazyFree) in rounds of "
              "its own.")
    title = _title(options, relative, base)
    lines += [chart.label(title, chart.MARGIN_LEFT, 42, 22, chart.INK, bold=True, height=HEIGHT),
              chart.label(below, chart.MARGIN_LEFT, 78, 13, chart.FAINT, height=HEIGHT),
              chart.label(f"Peak honest RSS, × {base}", chart.MARGIN_LEFT, TOP - 18, 13, chart.INK, bold=True,
                          height=HEIGHT),
              chart.label(f"Time, × {base}", chart.WIDTH - RIGHT, HEIGHT - BOTTOM + 48, 13, chart.INK, "right",
                          bold=True, height=HEIGHT),
              chart.label("  ".join(warnings), chart.MARGIN_LEFT, HEIGHT - 64, 11, chart.WARNING, bold=True,
                          height=HEIGHT),
              chart.label(footer, chart.MARGIN_LEFT, HEIGHT - 42, 11, chart.FAINT, height=HEIGHT),
              chart.label(f"{machine.one_line(where)}.  {date:%Y-%m-%d}", chart.MARGIN_LEFT, HEIGHT - 20, 11,
                          chart.FAINT, height=HEIGHT),
              "plot $points using 1:2:3 with points pt 7 ps 3.4 lc rgb variable notitle"]
    return "\n".join(lines) + "\n"


def draw(base, options, where, chosen, rows, cells, warnings, date):
    """Writes base.svg and base.png. Returns the suffixes of what was written."""
    if not figures_of.common_rows(rows, [a.key for a, _ in chosen], cells):
        print("No chart: there is no row that every allocator has")
        return []
    return chart.render(base, script(options, where, chosen, rows, cells, warnings, date), HEIGHT)
