#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns the CSV files of benchmark runs into a Markdown table of ratios and an SVG chart, and checks that the ratios
meet a list of bars.

    report.py reduce.csv segmented_reduce.csv --markdown table.md --svg chart.svg
    report.py *.csv --overview overview.svg
    report.py reduce.csv --bars bars/reduce.csv
    report.py new/*.csv --context new.json --other-cub 3.0.1 old/*.csv
    report.py results/h200/{block_*,warp}.csv --pages ../include/strata/guides/your_kernel.md

A ratio is the median time of CUB, or of another rival, divided by strata's: above 1, strata is faster. A bar is a limit
that a figure must meet, such as a least ratio. Needs only Python 3.9.
"""

import argparse
import collections
import csv
import fnmatch
import html
import json
import math
import re
import statistics
import sys
import textwrap

COLUMNS = ("algorithm,type,case,n,lib,ms_median,ms_min,items_per_s,gb_per_s,"
           "percent_of_copy").split(",")
# Only the files of programs for several devices have this column.
LINK_COLUMN = "percent_of_link"
# Only the files of programs that time collectives in a kernel have these columns: cycles of one collective if one block
# runs alone, and the resources of the kernel.
CYCLES_COLUMN = "cycles"
USE_COLUMNS = ["registers", "shared_bytes", "blocks_per_multiprocessor"]
MORE_COLUMNS = [LINK_COLUMN, CYCLES_COLUMN, *USE_COLUMNS]
BAR_COLUMNS = "algorithm,type,case,n,rival,min_ratio,min_percent_of_copy".split(",")
# A list of bars may also have some of these columns, in this order.
RATE_COLUMN = "min_items_per_s"
TIME_COLUMN = "max_ms"
RIVAL_TIME_COLUMN = "max_rival_ms"
# Limits strata's time to a multiple of its time in another case of the same type. If the other algorithm or case is
# empty, it is the bar's own.
TIMES_COLUMN, OTHER_ALGORITHM_COLUMN, OTHER_CASE_COLUMN = OTHER_COLUMNS = (
    "max_times_of_other", "other_algorithm", "other_case")
# Least geometric mean of the ratios of all cases that match a bar, whose algorithm, type and case may be patterns.
MEAN_COLUMN = "min_mean_ratio"
MORE_BAR_COLUMNS = [RATE_COLUMN, TIME_COLUMN, RIVAL_TIME_COLUMN, *OTHER_COLUMNS, MEAN_COLUMN]

SPDX_COMMENT = ("<!-- SPDX-FileCopyrightText: 2026 The strata authors -->\n"
                "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->")

TITLE = "strata beside CUB"


def page_title(context):
    """Returns the title of the table and charts, with the version of CUB if it is known."""
    return f"{TITLE} {context['cub']}" if (context or {}).get("cub") else TITLE


# Medians that differ less than this count as the same.
SAME = 0.01
# Samples that scatter more than this cannot show that two medians are the same.
QUIET = 0.05

Key = collections.namedtuple("Key", "algorithm type case n")


class Timing:
    """The figures of one library in one case, from all files that have it."""

    def __init__(self):
        self.medians = []
        self.minima = []
        self.items_per_s = []
        self.gb_per_s = []
        self.percent_of_copy = []
        self.more = {name: [] for name in MORE_COLUMNS}

    def add(self, row):
        self.medians.append(float(row["ms_median"]))
        self.minima.append(float(row["ms_min"]))
        for name in ("items_per_s", "gb_per_s", "percent_of_copy"):
            if row.get(name):
                getattr(self, name).append(float(row[name]))
        for name in MORE_COLUMNS:
            if row.get(name):
                self.more[name].append(float(row[name]))

    @property
    def median(self):
        return statistics.median(self.medians)

    @property
    def noise(self):
        """The relative distance of the median from the fastest sample, or of the runs from each other if that is
        more."""
        within = statistics.median(m / least - 1 for m, least in zip(self.medians, self.minima))
        return max(within, max(self.medians) / min(self.medians) - 1)

    def median_of(self, name):
        values = self.more[name] if name in self.more else getattr(self, name)
        return statistics.median(values) if values else None


class Comparison:
    """Compares strata with a rival in one case."""

    def __init__(self, key, rival, ours, theirs):
        self.key = key
        self.rival = rival
        self.ours = ours
        self.theirs = theirs
        self.ratio = theirs.median / ours.median
        self.noise = max(ours.noise, theirs.noise)
        self.status = status_of(self.ratio, self.noise)


def status_of(ratio, noise):
    # Twice as fast and half as fast have the same distance.
    distance = max(ratio, 1 / ratio) - 1
    if distance <= SAME:
        return "same" if noise <= QUIET else "unsure"
    if distance <= noise:
        return "unsure"
    return "faster" if ratio > 1 else "slower"


def read_rows(lines, columns, what, optional=()):
    """Returns the rows of a CSV, which must have `columns` and may have `optional` ones. Lines with # are comments."""
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    found = reader.fieldnames or []
    if found != [*columns, *(name for name in optional if name in found)]:
        raise ValueError(f"{what}: the columns are {found}, not {columns}")
    return list(reader)


def key_of(row):
    return Key(row["algorithm"], row["type"], row["case"], int(row["n"]))


def read_results(paths):
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            yield from read_rows(file, COLUMNS, path, MORE_COLUMNS)


def read_timings(paths):
    """Returns {Key: {lib: Timing}} in the order of the files."""
    timings = {}
    for row in read_results(paths):
        if row["ms_median"]:
            timings.setdefault(key_of(row), {}).setdefault(row["lib"], Timing()).add(row)
    return timings


def read_failures(paths):
    """Returns [(Key, lib)] of the rows without a time: a call failed, or its result was wrong."""
    return list(dict.fromkeys((key_of(row), row["lib"]) for row in read_results(paths) if not row["ms_median"]))


def rivals_of(libs):
    return [lib for lib in libs if lib not in ("strata", "copy")]


def compare(timings):
    return [Comparison(key, rival, libs["strata"], libs[rival])
            for key, libs in timings.items() if "strata" in libs for rival in rivals_of(libs)]


# ------------------------------------------------------------------ Markdown


def power_of_two(n):
    return n > 0 and n & (n - 1) == 0


def n_text(n):
    return f"2^{n.bit_length() - 1}" if power_of_two(n) else f"{n:,}"


def time_text(milliseconds):
    """Returns the microseconds with at least three significant digits."""
    us = milliseconds * 1000
    if us >= 100:
        return f"{us:,.0f}"
    return f"{us:.1f}" if us >= 10 else f"{us:.2f}"


def rounded(value, digits=0):
    return "" if value is None else f"{value:,.{digits}f}"


def label(key):
    return f"{key.algorithm} {key.type} {key.case} {n_text(key.n)}"


def label_of(comparison):
    rival = "" if comparison.rival == "cub" else f" beside {comparison.rival}"
    return label(comparison.key) + rival


def count_of(comparisons):
    counts = collections.Counter(c.status for c in comparisons)
    parts = [f"{counts[s]} {s}" for s in ("faster", "same", "slower", "unsure")]
    losses = counts["slower"]
    verdict = "no losses" if losses == 0 else f"**{losses} {'loss' if losses == 1 else 'losses'}**"
    return f"{', '.join(parts)}; {verdict}."


def headline(comparisons):
    with_cub = [c for c in comparisons if c.rival == "cub"]
    others = [c for c in comparisons if c.rival != "cub"]
    lines = []
    if with_cub or not others:
        lines.append(f"{len(with_cub)} comparisons with CUB: {count_of(with_cub)}")
    if others:
        lines.append(f"{len(others)} comparisons with other kernels: {count_of(others)}")
    return "\n".join(lines)


def prose(text):
    """Wraps text into lines of at most 100 columns, and an empty line."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False) + [""]


def has_link(timings):
    return any(timing.median_of(LINK_COLUMN) is not None for timing in timings)


def link_cell(timing, link):
    return f" {rounded(timing.median_of(LINK_COLUMN))} |" if link else ""


def is_collective(comparison):
    """True if the case times one collective in a kernel that does little else."""
    return comparison.ours.median_of(USE_COLUMNS[0]) is not None


# Groups of collectives by the beginning of the algorithm's name.
COLLECTIVES = [
    ("Block sorts", r"Block(Radix|Merge)Sort::"),
    ("Block reductions and scans", r"Block(Reduce|Scan)::"),
    ("Block radix ranks", r"BlockRadixRank"),
    ("Block histograms, flags, differences, runs", r"Block(Histogram|Discontinuity|AdjacentDifference|RunLength)"),
    ("Block exchanges and shuffles", r"Block(Exchange|Shuffle)::"),
    ("Block loads and stores", r"Block(Load|Store)::"),
    ("Warp collectives", r"Warp"),
    ("Functions of threads", r"Thread|StableOddEvenSort|MergePath|UpperBound"),
    ("Programs of block collectives", r"program: "),
]
ONE_BLOCK = " one block"


def collective_groups(comparisons):
    """Returns [(group, True if one block ran alone, its comparisons with CUB)] for each group that has comparisons."""
    found = []
    for alone in (False, True):
        for name, pattern in COLLECTIVES:
            members = [c for c in comparisons if c.rival == "cub" and is_collective(c) and
                       re.match(pattern, c.key.algorithm) and c.key.case.endswith(ONE_BLOCK) == alone]
            if members:
                found.append((name, alone, members))
    return found


def collective_summary(comparisons):
    """Returns the lines of the table of groups of collectives, or none if there are no collectives."""
    groups = collective_groups(comparisons)
    if not groups:
        return []
    lines = ["## Collectives of blocks, warps and threads beside CUB", ""] + prose(
        "Each is called over and over in a kernel that does little else. In one regime blocks fill the device several "
        "times, and the time of the launch counts. In the other one block is alone on the device, and the cycles of a "
        "call count.")
    lines += ["| collectives | regime | cases | geometric mean of ratios | least | greatest | slower |",
              "|---|---|--:|--:|--:|--:|--:|"]
    for name, alone, members in groups:
        ratios = [c.ratio for c in members]
        slower = sum(c.status == "slower" for c in members)
        lines.append(f"| {name} | {'one block' if alone else 'full device'} | {len(members)} | "
                     f"{statistics.geometric_mean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} | {slower} |")
    return lines + [""]


def pair_cell(c, name):
    """Returns a cell with strata's figure and the rival's."""
    return " / ".join(rounded(timing.median_of(name)) or "-" for timing in (c.ours, c.theirs))


def collective_table(members):
    lines = ["| type | case | strata us | CUB us | ratio | status | cycles | registers | shared bytes | "
             "blocks per multiprocessor |", "|---|---|--:|--:|--:|---|--:|--:|--:|--:|"]
    for c in members:
        ratio, status = f"{c.ratio:.2f}", c.status
        if status == "slower":
            ratio, status = f"**{ratio}**", f"**{status}**"
        has_cycles = c.ours.median_of(CYCLES_COLUMN) is not None
        lines.append(f"| {c.key.type} | {c.key.case} | {time_text(c.ours.median)} | {time_text(c.theirs.median)} | "
                     f"{ratio} | {status} | {pair_cell(c, CYCLES_COLUMN) if has_cycles else ''} | " +
                     " | ".join(pair_cell(c, name) for name in USE_COLUMNS) + " |")
    return lines


# ------------------------------------------------------------------ tables of pages


PAGE_TABLE = re.compile(r"(<!-- table of (collectives|algorithms):([^\n]*)\n(.*?)-->\n)(.*?)(<!-- end of table -->)",
                        re.DOTALL)
TYPE_NAMES = {"i8": "signed char", "u8": "unsigned char", "u16": "unsigned short", "i32": "int", "u32": "unsigned",
              "u64": "unsigned 64", "f16": "half", "f32": "float", "f64": "double", "struct16": "16-byte struct"}


def of_case(timings, algorithm, of_type, case):
    """Returns {lib: Timing} of the first case with these names, whatever its number of items."""
    for key, libs in timings.items():
        if (key.algorithm, key.type, key.case) == (algorithm, of_type, case):
            return libs
    raise ValueError(f"the results lack {algorithm},{of_type},{case}")


def collectives_rows(cases, timings, _):
    """The rows of a table of what strata's collectives cost: cycles of one block alone, rate of a full device,
    registers, shared memory."""
    yield "| call | items | threads x items | cycles | items a ns | registers | shared bytes |"
    yield "|---|---|---|--:|--:|--:|--:|"
    for algorithm, of_type, case in cases:
        full = of_case(timings, algorithm, of_type, case)["strata"]
        alone = of_case(timings, algorithm, of_type, case + ONE_BLOCK)["strata"]
        cells = [algorithm, TYPE_NAMES[of_type], case.replace("x", " x "), rounded(alone.median_of(CYCLES_COLUMN)),
                 rounded(full.median_of("items_per_s") / 1e9)]
        cells += [rounded(full.median_of(name)) for name in USE_COLUMNS[:2]]
        yield f"| {' | '.join(cells)} |"


def algorithms_rows(cases, timings, libs):
    """The rows of a table of ratios: CUB's time divided by the time of each algorithm of strata's, on a full device /
    in one block."""
    def ratio(found, lib):
        return f"{found['cub'].median / found[lib].median:.2f}" if lib in found else ""
    yield f"| sort | keys | threads x items | {' | '.join(lib.replace('_', ' ') for lib in libs)} | default |"
    yield f"|---|---|---|{'--:|' * (len(libs) + 1)}"
    for algorithm, of_type, case in cases:
        both = [of_case(timings, algorithm, of_type, case + end) for end in ("", ONE_BLOCK)]
        cells = ["/".join(ratio(found, lib) for found in both) for lib in [*libs, "strata"]]
        name = algorithm.split("::")[1]
        yield f"| {name} | {TYPE_NAMES[of_type]} | {case.replace('x', ' x ')} | {' | '.join(cells)} |"


def page_with_tables(text, timings):
    """Returns the page with its tables of collectives and algorithms rewritten. The comment in front of a table lists
    its cases, one per line: `algorithm,type,case`. For a table of algorithms, their names follow the colon."""
    def written(match):
        cases = [line.rsplit(",", 2) for line in match[4].splitlines()]
        rows = collectives_rows if match[2] == "collectives" else algorithms_rows
        lines = rows(cases, timings, match[3].split())
        return "".join([match[1], "\n", *(line + "\n" for line in lines), "\n", match[6]])
    return PAGE_TABLE.sub(written, text)


def by_algorithm(comparisons):
    """Returns {algorithm: its comparisons with CUB}."""
    found = {}
    for comparison in comparisons:
        if comparison.rival == "cub":
            found.setdefault(comparison.key.algorithm, []).append(comparison)
    return found


def versions_table(version, comparisons, others):
    """Returns the lines of a section that puts versions of CUB side by side. `others` is {version: comparisons}. Each
    version counts its own cases, because a newer CUB may have calls that an older one lacks."""
    columns = {version: by_algorithm(comparisons), **{other: by_algorithm(those) for other, those in others.items()}}
    lines = ["## Versions of CUB", ""] + prose(
        "The geometric mean of CUB's time over strata's, the least of these ratios, and how many cases strata loses of "
        "how many.")
    names = " | ".join(f"{name} | least | slower" for name in (f"CUB {version}" for version in columns))
    lines += [f"| algorithm | {names} |", f"|---|{'--:|--:|--:|' * len(columns)}"]
    for algorithm in dict.fromkeys(name for column in columns.values() for name in column):
        cells = []
        for column in columns.values():
            ratios = [c.ratio for c in column.get(algorithm, [])]
            slower = sum(c.status == "slower" for c in column.get(algorithm, []))
            cells.append(f"{statistics.geometric_mean(ratios):.2f} | {min(ratios):.2f} | {slower} of {len(ratios)}"
                         if ratios else " |  | ")
        lines.append(f"| {algorithm} | {' | '.join(cells)} |")
    return lines + [""]


def markdown(comparisons, timings, context=None, title=TITLE, failures=(), others=None):
    """Returns the page of the results. `others` is {version: comparisons} with other versions of CUB."""
    lines = [SPDX_COMMENT, "", f"# {title}", "", headline(comparisons), ""]
    if context:
        lines += ["| | |", "|---|---|"]
        lines += [f"| {key} | {value} |" for key, value in context.items()] + [""]
    lines += prose(
        "Ratio = the rival's median time / strata's: above 1 strata is faster. If the medians differ by at most "
        f"{SAME:.0%}, the status is `same`, or `unsure` if the samples scatter by more than {QUIET:.0%}. If they "
        "differ by more, the status is `unsure` if the samples scatter at least as much. Times are in microseconds per "
        "call; % of copy compares the bytes per second with those of a device-to-device copy of the input, reads and "
        "writes counted.")
    losses = [c for c in comparisons if c.status == "slower"]
    if losses:
        lines += prose("Losses: " + "; ".join(f"{label_of(c)} ({c.ratio:.2f})" for c in
                                              sorted(losses, key=lambda c: c.ratio)) + ".")
    if failures:
        lines += prose("Without a result, because the call failed or its result was wrong: " +
                       "; ".join(f"{label(key)}, {lib}" for key, lib in failures) + ".")
    missing = [key for key, libs in timings.items() if "strata" not in libs]
    if missing:
        lines += prose("Not compared, because a library has no result: " +
                       "; ".join(label(key) for key in missing) + ".")
    if others:
        lines += versions_table((context or {}).get("cub", "of these files"), comparisons, others)
    lines += collective_summary(comparisons)
    of_algorithms = collections.defaultdict(list)
    for comparison in comparisons:
        of_algorithms[comparison.key.algorithm].append(comparison)
    for algorithm, members in of_algorithms.items():
        only_cub = all(c.rival == "cub" for c in members)
        if all(is_collective(c) for c in members):
            lines += [f"## {algorithm}", "", "Where there are two figures, they are strata's and CUB's.", "",
                      *collective_table([c for c in members if c.rival == "cub"]), ""]
            continue
        theirs = "CUB us" if only_cub else "rival | rival us"
        link = has_link(c.ours for c in members)
        lines += [f"## {algorithm}", "",
                  f"| type | case | n | strata us | {theirs} | ratio | status | GB/s | % of copy |"
                  f"{' % of link |' if link else ''}",
                  f"|---|---|--:|--:|{'' if only_cub else '---|'}--:|--:|---|--:|--:|"
                  f"{'--:|' if link else ''}"]
        for c in members:
            ratio = f"{c.ratio:.2f}"
            status = c.status
            if status == "slower":
                ratio, status = f"**{ratio}**", f"**{status}**"
            lines.append(
                f"| {c.key.type} | {c.key.case} | {n_text(c.key.n)} | {time_text(c.ours.median)} | "
                f"{'' if only_cub else c.rival + ' | '}{time_text(c.theirs.median)} | {ratio} | {status} | "
                f"{rounded(c.ours.median_of('gb_per_s'))} | "
                f"{rounded(c.ours.median_of('percent_of_copy'))} |"
                + link_cell(c.ours, link))
        lines.append("")
    alone = collections.defaultdict(list)
    for key, libs in timings.items():
        if "strata" in libs and not rivals_of(libs):
            alone[key.algorithm].append((key, libs["strata"]))
    for algorithm, members in alone.items():
        link = has_link(ours for _, ours in members)
        lines += [f"## {algorithm}, without a rival", "",
                  f"| type | case | n | strata us | GB/s | % of copy |{' % of link |' if link else ''}",
                  f"|---|---|--:|--:|--:|--:|{'--:|' if link else ''}"]
        lines += [f"| {key.type} | {key.case} | {n_text(key.n)} | {time_text(ours.median)} | "
                  f"{rounded(ours.median_of('gb_per_s'))} | "
                  f"{rounded(ours.median_of('percent_of_copy'))} |" + link_cell(ours, link)
                  for key, ours in members]
        lines.append("")
    return "\n".join(lines)  # the last line is empty, so the file ends with a newline


def read_context(path):
    """Returns the device and the versions from Google Benchmark's JSON, without the entries about the host."""
    host_only = {"caches", "load_avg", "executable", "host_name", "library_build_type", "num_cpus",
                 "mhz_per_cpu", "cpu_scaling_enabled", "json_schema_version"}
    with open(path, encoding="utf-8") as file:
        context = json.load(file)["context"]
    return {key: value for key, value in context.items() if key not in host_only}


# ------------------------------------------------------------------ SVG

PANEL_WIDTH, PANEL_HEIGHT = 430, 270
LEFT, RIGHT, TOP, BOTTOM = 48, 78, 34, 40
PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#555555"]

Panel = collections.namedtuple("Panel", "title axis series")


def panels_of(comparisons):
    """Returns one panel per algorithm and case, over n. Cases `len=L` with the same n make one more panel, over L.
    Panels show only comparisons with CUB; the table has the other rivals."""
    over_n = collections.defaultdict(lambda: collections.defaultdict(list))
    over_length = collections.defaultdict(lambda: collections.defaultdict(list))
    for c in comparisons:
        if c.rival != "cub":
            continue
        over_n[(c.key.algorithm, c.key.case)][c.key.type].append((math.log2(c.key.n), c))
        match = re.match(r"len=(\d+)(.*)$", c.key.case)
        if match:
            size = round(math.log2(c.key.n))
            series = (c.key.type + match.group(2)).strip()
            over_length[(c.key.algorithm, size)][series].append((math.log2(int(match[1])), c))
    panels = []
    for groups, title, axis in (
            (over_n, lambda key: f"{key[0]}, {key[1]}", "items, log2"),
            (over_length, lambda key: f"{key[0]}, 2^{key[1]} items", "segment length, log2")):
        for key, by_series in groups.items():
            series = {name: sorted(points, key=lambda point: point[0])
                      for name, points in by_series.items()}
            if any(len({x for x, _ in points}) > 1 for points in series.values()):
                panels.append(Panel(title(key), axis, series))
    return panels


def nice_ticks(low, high):
    """Returns round ratios between two bounds."""
    candidates = [0.1, 0.2, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]
    inside = [tick for tick in candidates if low <= tick <= high]
    return inside if len(inside) <= 8 else inside[::2] + ([1] if 1 not in inside[::2] else [])


def draw_panel(panel, x0, y0, colours):
    points = [point for line in panel.series.values() for point in line]
    xs = [x for x, _ in points]
    ratios = [c.ratio for _, c in points] + [0.8, 1.25]
    low, high = min(ratios) / 1.05, max(ratios) * 1.05
    width, height = PANEL_WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TOP - BOTTOM
    span = max(max(xs) - min(xs), 1e-9)

    def px(x):
        return x0 + LEFT + (x - min(xs)) / span * width

    def py(ratio):
        return y0 + TOP + (1 - math.log(ratio / low) / math.log(high / low)) * height

    out = [f'<text x="{x0 + LEFT}" y="{y0 + 20}" class="title">{html.escape(panel.title)}</text>']
    for tick in nice_ticks(low, high):
        kind = "one" if tick == 1 else "grid"
        out.append(f'<line x1="{x0 + LEFT}" x2="{x0 + LEFT + width}" y1="{py(tick):.1f}" '
                   f'y2="{py(tick):.1f}" class="{kind}"/>')
        out.append(f'<text x="{x0 + LEFT - 6}" y="{py(tick) + 4:.1f}" class="end">{tick:g}</text>')
    for x in sorted({round(x) for x in xs}):
        if min(xs) - 0.5 <= x <= max(xs) + 0.5:
            place = px(min(max(x, min(xs)), max(xs)))
            out.append(f'<text x="{place:.1f}" y="{y0 + TOP + height + 16}" class="mid">{x}</text>')
    out.append(f'<text x="{x0 + LEFT + width / 2}" y="{y0 + TOP + height + 32}" class="mid">'
               f'{panel.axis}</text>')
    for row, (name, line) in enumerate(panel.series.items()):
        colour = colours[name]
        path = " ".join(f"{px(x):.1f},{py(c.ratio):.1f}" for x, c in line)
        out.append(f'<polyline points="{path}" class="line" stroke="{colour}"/>')
        for x, c in line:
            tip = html.escape(f"{label(c.key)}: {c.ratio:.2f} ({c.status})")
            out.append(f'<circle cx="{px(x):.1f}" cy="{py(c.ratio):.1f}" r="3" fill="{colour}">'
                       f'<title>{tip}</title></circle>')
        legend_y = y0 + TOP + 8 + 16 * row
        # Set as a style, because the style sheet's rule for text overrides an attribute.
        out.append(f'<text x="{x0 + LEFT + width + 10}" y="{legend_y}" style="fill:{colour}" '
                   f'class="legend">{html.escape(name)}</text>')
    return out


def svg(comparisons, title=TITLE):
    panels = panels_of(comparisons)
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    colours = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(names)}
    columns = 2 if len(panels) > 1 else 1
    rows = max(1, math.ceil(len(panels) / columns))
    width, height = columns * PANEL_WIDTH, 30 + rows * PANEL_HEIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        "<style>text{fill:#333}.title{font-weight:bold}.end{text-anchor:end}.mid{text-anchor:middle}"
        ".legend{font-weight:bold}.grid{stroke:#ddd}.one{stroke:#333;stroke-width:1.5}"
        ".line{fill:none;stroke-width:2}</style>",
        SPDX_COMMENT,
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{html.escape(title)}: '
        "CUB's time / strata's, above 1 strata is faster</text>",
    ]
    for i, panel in enumerate(panels):
        out += draw_panel(panel, i % columns * PANEL_WIDTH, 30 + i // columns * PANEL_HEIGHT,
                          colours)
    return "\n".join(out + ["</svg>", ""])


# ------------------------------------------------------------------ overview

# One pair of bars for each primitive: label, algorithm, type, case. It shows the largest input that a rival ran as
# well.
OVERVIEW = [
    ("Sum", "DeviceReduce::Sum", "i32", "uniform"),
    ("Sums of segments of 100", "DeviceSegmentedReduce::Sum", "i32", "len=100"),
    ("Prefix sum", "DeviceScan::ExclusiveSum", "i32", "uniform"),
    ("Scan of 16-byte structs", "DeviceScan::InclusiveScan", "struct16", "compose"),
    ("Transform an array", "DeviceTransform::Transform", "i32", "scale"),
    ("Differences of neighbours", "DeviceAdjacentDifference::SubtractLeftCopy", "i32", "random"),
    ("Select half of the items", "DeviceSelect::If", "i32", "half"),
    ("Partition in two halves", "DevicePartition::If", "i32", "half"),
    ("Reduce by key", "DeviceReduce::ReduceByKey", "u32:i32", "runs=16"),
    ("Lengths of runs of 16", "DeviceRunLengthEncode::Encode", "u32", "runs=16"),
    ("Histogram of 256 bins", "DeviceHistogram::HistogramEven", "u8", "bins=256 uniform"),
    ("The 1,000 greatest", "DeviceTopK::MaxKeys", "f32", "uniform k=1000"),
    ("Transpose", "DeviceTranspose::Transpose", "u32", "16384x16384"),
    ("Copy buffers of 4 KB", "DeviceMemcpy::Batched", "bytes", "4 KB"),
    ("Merge two halves", "DeviceMerge::MergeKeys", "i32", "50:50"),
    ("Sort segments of 2,000", "DeviceSegmentedMergeSort::SortKeysCopy", "i32", "u2000"),
    ("Radix sort segments of 2,000", "DeviceSegmentedRadixSort::SortKeys", "u32", "u2000"),
    ("Radix sort of keys", "DeviceRadixSort::SortKeys", "u32", "uniform"),
    ("Radix sort of pairs", "DeviceRadixSort::SortPairs", "u32:u32", "uniform"),
    ("Merge sort", "DeviceMergeSort::SortKeysCopy", "i32", "uniform"),
    ("Hash join, 2^24 x 2^24 rows", "DeviceHashJoin::Inner", "u32:u32", "2^24x2^24 match=1 zipf=0 mult=1 dense"),
]
OVERVIEW_TITLE = "Speed in % of a copy's bytes per second"
# The colours fit pages with a light and with a dark background.
OVERVIEW_STYLE = (
    "text{fill:#333}.end{text-anchor:end}.mid{text-anchor:middle}.name{font-weight:bold}"
    ".small{font-size:11px;fill:#666}.ours{fill:#0072b2}.theirs{fill:#b5b5b5}.limit{stroke:#333;stroke-dasharray:4 3}"
    ".page{fill:#fff}.halo{paint-order:stroke;stroke:#fff;stroke-width:3px}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.small{fill:#aaa}.ours{fill:#56b4e9}.theirs{fill:#7d7d7d}"
    ".limit{stroke:#e6e6e6}.page{fill:#16181c}.halo{stroke:#16181c}}")
# Names of rivals that are not CUB's call for the same task, by algorithm and library.
RIVAL_NAMES = {("DeviceHashJoin::Inner", "cub"): "CUB's parts", ("DeviceHashJoin::Inner", "host"): "the host",
               ("DeviceTopK::MaxKeys", "cub_sort"): "CUB's sort", ("DeviceTopK::MaxKeys", "sort"): "strata's sort",
               ("DeviceTranspose::Transpose", "plain_tile"): "plain tiles",
               ("DeviceTranspose::Transpose", "naive"): "a plain kernel",
               ("DeviceSegmentedMergeSort::SortKeysCopy", "one_block"): "one block each"}
# What is counted, if not items.
COUNTED = {"DeviceHashJoin::Inner": "rows", "DeviceMemcpy::Batched": "buffers"}


def rival_name(algorithm, rival, libs):
    # In files of November 2026, `cub` is CUB's sort: they were measured with a CUB that has no top-k.
    if algorithm.startswith("DeviceTopK::") and rival == "cub" and "cub_sort" not in libs:
        rival = "cub_sort"
    return RIVAL_NAMES.get((algorithm, rival), "CUB" if rival == "cub" else rival)


def overview_rows(timings):
    """Returns one tuple for each primitive in the files: (label, key, name of the fastest rival, strata's percent of a
    copy's speed, the rival's percent, the rival's time divided by strata's)."""
    rows = []
    for text, algorithm, type_, case in OVERVIEW:
        keys = [key for key, libs in timings.items() if key[:3] == (algorithm, type_, case) and "strata" in libs and
                rivals_of(libs)]
        if not keys:
            continue
        key = max(keys, key=lambda key: key.n)
        rival = min(rivals_of(timings[key]), key=lambda lib: timings[key][lib].median)
        ours, theirs = timings[key]["strata"], timings[key][rival]
        name = rival_name(algorithm, rival, timings[key])
        rows.append((text, key, name, ours.median_of("percent_of_copy"), theirs.median_of("percent_of_copy"),
                     theirs.median / ours.median))
    return rows


def overview_title(context):
    """Returns the title of the overview, with the GPU and the version of CUB if they are known."""
    gpu, cub = (context or {}).get("gpu"), (context or {}).get("cub")
    if not gpu:
        return OVERVIEW_TITLE
    return f"Speed on {gpu}{f' beside CUB {cub}' if cub else ''}, in % of a copy's bytes per second"


def collective_bars(groups, left, top, length):
    """Draws a bar for the geometric mean of each group of collectives. A bar for 1.5 times CUB's speed is `length`
    long."""
    unit = length / 1.5
    out = [f'<text x="14" y="{top}" font-size="16" class="name">In a kernel: speed of collectives over CUB&#x27;s, '
           'geometric means</text>',
           f'<line x1="{left + unit}" x2="{left + unit}" y1="{top + 14}" y2="{top + 20 + 24 * len(groups)}" '
           'class="limit"/>']
    for i, (name, _, members) in enumerate(groups):
        y = top + 18 + 24 * i
        ratios = [c.ratio for c in members]
        mean = statistics.geometric_mean(ratios)
        out += [f'<text x="{left - 10}" y="{y + 13}" class="end name">{html.escape(name)}</text>',
                f'<rect x="{left}" y="{y}" width="{min(mean, 1.7) * unit:.1f}" height="16" class="ours"/>',
                f'<text x="{left + min(mean, 1.7) * unit + 6:.1f}" y="{y + 13}" class="halo"><tspan class="name">'
                f'{mean:.2f} times</tspan> {len(members)} cases, {min(ratios):.2f} to {max(ratios):.2f}</text>']
    return out


def overview_svg(timings, title):
    row_height, left, scale, right, top = 38, 330, 3.6, 190, 76
    rows = overview_rows(timings)
    groups = [group for group in collective_groups(compare(timings)) if not group[1]]
    end_of_rows = top + len(rows) * row_height
    width, height = left + round(122 * scale) + right, end_of_rows + 44 + (60 + 24 * len(groups) if groups else 0)
    limit = left + 100 * scale
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="13">',
        f"<style>{OVERVIEW_STYLE}</style>",
        SPDX_COMMENT,
        f'<rect width="{width}" height="{height}" class="page"/>',
        f'<text x="14" y="24" font-size="16" class="name">{html.escape(title)}</text>',
        '<rect x="14" y="38" width="12" height="12" class="ours"/><text x="32" y="49">strata</text>'
        '<rect x="86" y="38" width="12" height="12" class="theirs"/><text x="104" y="49">best rival</text>',
        f'<text x="{limit}" y="49" class="mid">the limit: a copy of the input, 100 %</text>',
        f'<text x="{width - right}" y="66" class="small">speed over the rival&#x27;s</text>',
        f'<line x1="{limit}" x2="{limit}" y1="56" y2="{end_of_rows}" class="limit"/>',
        f'<text x="14" y="{end_of_rows + 30}" class="small">Only the bytes that must be read and written count. A sum '
        'reads and does not write, so it can exceed a copy. Sorts and joins move items several times.</text>',
    ]
    for i, (text, key, rival, ours, theirs, ratio) in enumerate(rows):
        y = top + i * row_height
        out.append(f'<text x="{left - 10}" y="{y + 11}" class="end name">{html.escape(text)}</text>')
        out.append(f'<text x="{left - 10}" y="{y + 25}" class="end small">{html.escape(key.algorithm.split("::")[0])}, '
                   f'{html.escape(key.type)}, {n_text(key.n)} {COUNTED.get(key.algorithm, "items")}</text>')
        for row, (value, kind) in enumerate(((ours, "ours"), (theirs, "theirs"))):
            out.append(f'<rect x="{left}" y="{y + row * 14}" width="{value * scale:.1f}" height="13" class="{kind}"/>')
            end = left + value * scale
            if end < limit < end + 40:  # interrupts the line of the limit behind the number
                out.append(f'<rect x="{limit - 2}" y="{y + row * 14 - 1}" width="4" height="15" class="page"/>')
            out.append(f'<text x="{end + 5:.1f}" y="{y + row * 14 + 11}" class="small halo">{value:.0f} %</text>')
        out.append(f'<text x="{width - right}" y="{y + 18}"><tspan class="name">{ratio:.2f} times</tspan> '
                   f'{html.escape(rival)}</text>')
    if groups:
        out += collective_bars(groups, left, end_of_rows + 70, 100 * scale)
    return "\n".join(out + ["</svg>", ""])


# ------------------------------------------------------------------ numbers of groups

# The lines of the chart of grouped aggregation: library, what it is called.
GROUP_LINES = [("strata", "any order"), ("ordered", "in order of keys"), ("cub", "CUB: sort, reduce by key"),
               ("table", "one table, atomics"), ("copy", "a copy of the keys")]
GROUP_COLOURS = ["#0072b2", "#56b4e9", "#d55e00", "#888888", "#009e73"]
GROUP_STYLE = ("text{fill:#333}.end{text-anchor:end}.mid{text-anchor:middle}.name{font-weight:bold}.page{fill:#fff}"
               ".grid{stroke:#999;stroke-opacity:.35}.line{fill:none;stroke-width:2}"
               "@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.page{fill:#16181c}}")


def group_points(timings):
    """Returns {library: [(number of groups, milliseconds)]} of grouped aggregations of the most rows of a sweep."""
    sweep = {}
    for key, libs in timings.items():
        match = re.fullmatch(r"uniform groups=(\d+)", key.case)
        if match and (key.algorithm, key.type) == ("DeviceGroupBy::Aggregate", "u32:u32"):
            sweep.setdefault(key.n, {})[int(match[1])] = libs
    lines = {}
    for groups, libs in sorted(sweep[max(sweep)].items() if sweep else []):
        if groups & (groups - 1) == 0:
            for lib, timing in libs.items():
                lines.setdefault(lib, []).append((groups, timing.median))
    return lines


def groups_svg(timings, title):
    """Draws the time of a grouped aggregation over the number of groups, both logarithmic."""
    lines = group_points(timings)
    points = [point for lib, _ in GROUP_LINES for point in lines.get(lib, [])]
    left, top, width, height, right = 52, 60, 620, 340, 190
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + right} {top + height + 50}" '
           f'width="{left + width + right}" height="{top + height + 50}" font-family="sans-serif" font-size="12">',
           f"<style>{GROUP_STYLE}</style>", SPDX_COMMENT,
           f'<rect width="{left + width + right}" height="{top + height + 50}" class="page"/>',
           f'<text x="{left}" y="24" font-size="15" class="name">{html.escape(title)}</text>',
           f'<text x="{left}" y="44">milliseconds</text>']
    if points:
        last = max(math.log2(groups) for groups, _ in points) or 1
        low = math.floor(math.log2(min(time for _, time in points)))
        high = max(low + 1, math.ceil(math.log2(max(time for _, time in points))))

        def px(groups):
            return left + math.log2(groups) / last * width

        def py(time):
            return top + (1 - (math.log2(time) - low) / (high - low)) * height

        for power in range(low, high + 1):
            out.append(f'<line x1="{left}" x2="{left + width}" y1="{py(2.0**power):.1f}" y2="{py(2.0**power):.1f}" '
                       'class="grid"/>')
            out.append(f'<text x="{left - 6}" y="{py(2.0**power) + 4:.1f}" class="end">{2.0**power:g}</text>')
        for power in range(0, math.floor(last) + 1, 3):
            out.append(f'<text x="{px(2**power):.1f}" y="{top + height + 18}" class="mid">{n_text(2**power)}</text>')
        out.append(f'<text x="{left + width / 2}" y="{top + height + 40}" class="mid">groups</text>')
        for row, ((lib, name), colour) in enumerate(zip(GROUP_LINES, GROUP_COLOURS)):
            if lib not in lines:
                continue
            path = " ".join(f"{px(groups):.1f},{py(time):.1f}" for groups, time in lines[lib])
            out.append(f'<polyline points="{path}" class="line" stroke="{colour}"/>')
            for groups, time in lines[lib]:
                out.append(f'<circle cx="{px(groups):.1f}" cy="{py(time):.1f}" r="2.5" fill="{colour}">'
                           f'<title>{html.escape(name)}, {n_text(groups)} groups: {time:.3g} ms</title></circle>')
            y = top + 10 + 18 * row
            out.append(f'<line x1="{left + width + 12}" x2="{left + width + 30}" y1="{y - 4}" y2="{y - 4}" '
                       f'stroke="{colour}" stroke-width="3"/>')
            out.append(f'<text x="{left + width + 36}" y="{y}">{html.escape(name)}</text>')
    return "\n".join(out + ["</svg>", ""])


def groups_title(timings, context):
    """Returns the title of the chart of grouped aggregation, with the number of rows and the GPU if it is known."""
    rows = max((key.n for key in timings if key.algorithm == "DeviceGroupBy::Aggregate"), default=0)
    gpu = (context or {}).get("gpu")
    return f"Sums of {n_text(rows)} rows by key{f' on {gpu}' if gpu else ''}"


# ------------------------------------------------------------------ bars


Bar = collections.namedtuple("Bar", "key rival min_ratio min_percent_of_copy min_items_per_s max_ms "
                             "max_rival_ms max_times other min_mean_ratio")


def read_bars(path):
    """Returns the bars of a file. Values that a bar does not have are None; a rival that it does not name is ""."""
    def number(row, name):
        return float(row[name]) if row.get(name) else None

    def other_of(row):
        return key_of({**row, "algorithm": row.get(OTHER_ALGORITHM_COLUMN) or row["algorithm"],
                       "case": row.get(OTHER_CASE_COLUMN) or row["case"]})

    with open(path, newline="", encoding="utf-8") as file:
        return [Bar(key_of(row if row["n"] else {**row, "n": 0}), row["rival"], number(row, "min_ratio"),
                    number(row, "min_percent_of_copy"), number(row, RATE_COLUMN),
                    number(row, TIME_COLUMN), number(row, RIVAL_TIME_COLUMN),
                    number(row, TIMES_COLUMN), other_of(row if row["n"] else {**row, "n": 0}),
                    number(row, MEAN_COLUMN))
                for row in read_rows(file, BAR_COLUMNS, path, MORE_BAR_COLUMNS)]


def is_pattern(key):
    return any("*" in text for text in (key.algorithm, key.type, key.case))


def check_pattern(bar, comparisons):
    """Checks a bar for all cases that match its patterns, which `|` separates. Returns (text, True if it is met)."""
    def matches(text, patterns):
        return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns.split("|"))

    members = [c for c in comparisons if c.rival == bar.rival and matches(c.key.algorithm, bar.key.algorithm) and
               matches(c.key.type, bar.key.type) and matches(c.key.case, bar.key.case)]
    name = f"{bar.key.algorithm} {bar.key.type} {bar.key.case}"
    if not members:
        return f"MISSING {name}", False
    least = min(members, key=lambda c: c.ratio)
    found, passed = [f"{len(members)} cases"], True
    for what, value, bar_value in (("least ratio", least.ratio, bar.min_ratio),
                                   ("mean ratio", statistics.geometric_mean(c.ratio for c in members),
                                    bar.min_mean_ratio)):
        if bar_value is not None:
            passed = passed and value >= bar_value
            found.append(f"{what} {value:.3f} (bar {bar_value:g})")
    if bar.min_ratio is not None and least.ratio < bar.min_ratio:
        below = sorted((c for c in members if c.ratio < bar.min_ratio), key=lambda c: c.ratio)
        found.append("below: " + "; ".join(f"{label(c.key)} ({c.ratio:.3f})" for c in below))
    return f"{'pass' if passed else 'FAIL'}    {name}: {', '.join(found)}", passed


def check_bars(bars, comparisons, timings):
    """Returns (one line of text for each bar and a sum, True if every bar is met)."""
    by_key = {(c.key, c.rival): c for c in comparisons}
    lines, met = [], 0
    for bar in bars:
        if is_pattern(bar.key):
            line, passed = check_pattern(bar, comparisons)
            lines.append(line)
            met += passed
            continue
        ours = timings.get(bar.key, {}).get("strata")
        other = timings.get(bar.other, {}).get("strata")
        c = by_key.get((bar.key, bar.rival))
        name = f"{label(bar.key)}{' beside ' + bar.rival if bar.rival else ''}"
        if ours is None or (bar.rival and c is None):
            lines.append(f"MISSING {name}")
            continue
        found = []
        passed = True
        for what, value, bar_value, sign, digits in (
                ("ratio", c and c.ratio, bar.min_ratio, 1, 3),
                ("% of copy", ours.median_of("percent_of_copy"), bar.min_percent_of_copy, 1, 1),
                ("10^9 items/s", billions(ours.median_of("items_per_s")),
                 billions(bar.min_items_per_s), 1, 2),
                ("ms", ours.median, bar.max_ms, -1, 4),
                (f"ms of {bar.rival}", c and c.theirs.median, bar.max_rival_ms, -1, 4),
                (f"times {label(bar.other)}", other and ours.median / other.median,
                 bar.max_times, -1, 3)):
            if bar_value is not None:
                passed = passed and value is not None and sign * value >= sign * bar_value
                found.append(f"{what} {rounded(value, digits) or 'none'} (bar {bar_value:g})")
        met += passed
        name = label_of(c) if c else label(bar.key)
        lines.append(f"{'pass' if passed else 'FAIL'}    {name}: {', '.join(found)}")
    lines.append(f"{met} of {len(bars)} bars are met")
    return lines, met == len(bars)


def billions(value):
    return None if value is None else value / 1e9


def write_pages(paths, timings):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            text = page_with_tables(text, timings)
        except ValueError as error:
            print(f"report.py: {path}: {error}", file=sys.stderr)
            return 2
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("csv", nargs="+", help="written by a benchmark program; the time of a case "
                        "that is in several files is the median of its medians")
    parser.add_argument("--markdown", metavar="FILE", help="where the table goes (default: printed)")
    parser.add_argument("--svg", metavar="FILE", help="where the chart goes")
    parser.add_argument("--overview", metavar="FILE", help="where a chart with one bar for each primitive goes")
    parser.add_argument("--bars", metavar="FILE", help="print pass or FAIL for each bar in this file; the "
                        "exit code is 1 unless all are met")
    parser.add_argument("--context", metavar="FILE", help="JSON of Google Benchmark of the same run")
    parser.add_argument("--other-cub", nargs="+", action="append", default=[], metavar=("VERSION", "CSV"),
                        help="files of the same programs with another CUB: a table puts the versions side by side")
    parser.add_argument("--title", help="title of the table and the charts")
    parser.add_argument("--pages", nargs="+", metavar="PAGE", help="only rewrite the tables of collectives in these "
                        "Markdown pages")
    options = parser.parse_args(arguments)
    try:
        timings = read_timings(options.csv)
        failures = read_failures(options.csv)
        comparisons = compare(timings)
        context = read_context(options.context) if options.context else None
        bars = read_bars(options.bars) if options.bars else None
        others = {version: compare(read_timings(paths)) for version, *paths in options.other_cub}
    except (OSError, ValueError, KeyError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    if options.pages:
        return write_pages(options.pages, timings)
    heading = options.title or page_title(context)
    text = markdown(comparisons, timings, context, heading, failures, others)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(text)
    elif bars is None:
        print(text)
    if options.svg:
        with open(options.svg, "w", encoding="utf-8") as file:
            file.write(svg(comparisons, heading))
    if options.overview:
        with open(options.overview, "w", encoding="utf-8") as file:
            file.write(overview_svg(timings, options.title or overview_title(context)))
    print(headline(comparisons))
    if bars is None:
        return 0
    lines, all_met = check_bars(bars, comparisons, timings)
    print("\n".join(lines))
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
