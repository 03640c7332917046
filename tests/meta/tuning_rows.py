#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every tuning row says where its numbers come from.

A row is a `static constexpr <something>_tuning name` with numbers of its own, in a struct of a tuning.hpp or
*_tuning.hpp. Each row has a declaration of its own. Its comment must name a GPU, a date, and a figure with its unit.
Otherwise it says `Not measured. Adapted from <row>` or, if the rules in guides/tuning.md give the numbers, `Not
measured. Derived from <row>`. A struct whose rows depend on `limits_of` an architecture must say the latter.

The comment of a row is the text between the previous row and this one, or after it in its line, or above the function
that makes it. A comment above a struct or at its head applies to all of its rows. It may have GPU, date and unit, if
the rows have figures. A comment above a hub applies to the policy that its GPU selects: the newest one that is not
newer than the GPU. `--list` prints all rows with their comments. `--self-test` runs the rule on examples.
"""

import argparse
import re

import lint
import toolbox

GPU = r"\b(?:GTX |RTX |Tesla |Jetson )?[ABGHLPTV]\d{1,4}[A-Z]?\b|\b[GR]TX \w*\d{4}"
DATE = r"\b20\d\d-\d\d(?:-\d\d)?\b"
UNIT = (r"(?<![A-Za-z])(?:[kKMGT]i?B(?:/s)?|ns|us|ms|(?:nano|micro|milli)?seconds?|%|"
        r"(?:items|keys|pairs|rows|elements)(?: per second|/s))(?![A-Za-z])")
NOT_MEASURED = r"\bNot measured\. (?:Adapted|Derived) from `?[A-Za-z_][\w:]*"
DERIVED = r"\bNot measured\. Derived from `?[A-Za-z_][\w:]*"

# Compute capabilities, in the numbers of policies.
ARCHITECTURES = {"T4": 750, "A100": 800, "A10": 860, "L4": 890, "L40": 890, "H100": 900, "H200": 900, "B200": 1000}


def is_of_policy(comment, number, numbers):
    """True if a GPU that a comment names selects this policy among those of a hub."""
    taken = {max((each for each in numbers if each <= ARCHITECTURES[gpu]), default=0)
             for gpu in re.findall(r"\b[A-Z]\d+\b", comment) if gpu in ARCHITECTURES}
    return number in taken


def is_sound(comment):
    """True if a comment says where numbers come from."""
    if re.search(NOT_MEASURED, comment):
        return True
    figures = re.sub(rf"{GPU}|{DATE}|CUDA \d+(?:\.\d+)?|20\d\d-\d\d-", "", comment)
    return all((re.search(GPU, comment), re.search(DATE, comment), re.search(UNIT, figures),
                re.search(r"\d", figures)))


def comment_lines(lines, number):
    """The text of a comment line, or None."""
    match = re.match(r"\s*//[/!]?<?\s?(.*)", lines[number]) if 0 <= number < len(lines) else None
    return match.group(1) if match else None


def comment_above(lines, number):
    found = []
    while (text := comment_lines(lines, number - 1)) is not None:
        found.insert(0, text)
        number -= 1
    return " ".join(found)


def comment_below(lines, number):
    found = []
    while (text := comment_lines(lines, number)) is not None:
        found.append(text)
        number += 1
    return " ".join(found)


def end_of(text, begin, what="{}"):
    """The end of the bracket that begins at or after `begin`."""
    depth = 0
    for position in range(text.index(what[0], begin), len(text)):
        depth += (text[position] == what[0]) - (text[position] == what[1])
        if depth == 0:
            return position + 1
    return len(text)


def line_above_template(lines, number):
    """The line above a `template <...>` head that ends just above this line, or this line if there is none."""
    while number > 0 and re.match(r"\s*template\b", lines[number - 1]):
        number -= 1
    return number


def comment_of_function(code, lines, name):
    """The comment above the function with this name, in the same file."""
    match = re.search(rf"^[ \t]*(?:static |inline |constexpr |STRATA_\w+ )*[\w:<>]+ {name}\(", code, re.MULTILINE)
    return comment_above(lines, line_above_template(lines, lint.line_of(code, match.start()) - 1)) if match else ""


def rows_of(text):
    """(line, struct, row, comment, whether it is sound) of each row in a file."""
    code = lint.without_comments(text)
    lines = text.split("\n")
    structs = [(match.start(), end_of(code, match.start()), match.end(), match.group(1)) for match in
               re.finditer(r"\bstruct (\w+)\b[^;{}()]*\{", code)]
    def above(position):
        return comment_above(lines, line_above_template(lines, lint.line_of(code, position) - 1))
    last_row = {}
    for row in re.finditer(r"\bstatic constexpr (?:\w+::)*\w+_tuning (\w+)\b([^;]*);", code):
        around = [each for each in structs if each[0] < row.start() < each[1]]
        if not around:
            continue
        begin, struct_end, body, struct = around[-1]
        is_derived = re.search(r"\blimits_of\(", code[begin:struct_end])
        number, end = lint.line_of(code, row.start()) - 1, lint.line_of(code, row.end()) - 1
        first = max(last_row.get(begin, 0), lint.line_of(code, body - 1))
        last_row[begin] = end + 1
        numbers = re.sub(r"\b[A-Za-z_]\w*(?:::[\w.]+)+", "", row.group(2))
        if not (re.search(r"\d", numbers) or re.search(r"[{(].*\w", numbers, re.DOTALL)):
            continue  # the numbers of another row
        behind = re.search(r"//[/!]?<?\s?(.*)", lines[end])
        own = [comment_lines(lines, i) or "" for i in range(first, number)]
        own += [behind.group(1) if behind else ""]
        own += [comment_of_function(code, lines, name) for name in re.findall(r"\b(\w+)\(", row.group(2))]
        own = " ".join(own).strip()
        head = above(begin)
        in_body = comment_below(lines, lint.line_of(code, body - 1))
        if re.search(rf"{GPU}|{NOT_MEASURED}", in_body):
            head += " " + in_body  # otherwise this comment is about the first row
        of_hub = ""
        if policy := re.fullmatch(r"Policy(\d+)", struct):
            for hub in around[:-1]:
                numbers = [int(each[3][len("Policy"):]) for each in structs
                           if hub[0] < each[0] < hub[1] and re.fullmatch(r"Policy\d+", each[3])]
                if is_of_policy(above(hub[0]), int(policy.group(1)), numbers):
                    of_hub = above(hub[0])
        comments = [own, head, of_hub]
        if re.search(r"\d", own):
            comments.append(f"{head} {of_hub} {own}")
        sound = next((comment for comment in comments if is_sound(comment)), None)
        if is_derived:
            sound = next((comment for comment in comments if re.search(DERIVED, comment)), None)
        yield number + 1, struct, row.group(1), sound or own, sound is not None


def rows():
    for path in sorted((toolbox.INCLUDE / "strata").rglob("*tuning.hpp")):
        name = path.relative_to(toolbox.ROOT).as_posix()
        yield from ((name, *row) for row in rows_of(path.read_text()))


SOUND = "// H200, 2026-11-21, CUDA 13.0. i32, 2^28: 4582 GB/s (256 threads: 4560).\n"
HEAD = "template <class T>\nstruct a_hub {\n"
POLICY = "struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {\n"
ROW = "static constexpr reduce_tuning tuning{512, 128};\n"
LIMITS = "static constexpr auto limits = detail::limits_of(N);\n"
END = "};\n};\n"

# (text, its rows that are not sound)
EXAMPLES = [
    (HEAD + POLICY + SOUND + ROW + END, []),
    (HEAD + POLICY + ROW + END, ["tuning"]),
    (SOUND + HEAD + POLICY + ROW + END, []),
    (HEAD + SOUND + POLICY + ROW + END, []),
    (SOUND + HEAD + POLICY + ROW + "};\n" + POLICY.replace("750", "900") + ROW.replace("tuning{", "other{") + END,
     ["tuning"]),
    (HEAD + POLICY + SOUND + "\n" + ROW + ROW.replace("tuning{", "other{") + END, []),
    (HEAD + POLICY + SOUND + ROW + ROW.replace("tuning{", "other{") + END, []),
    (HEAD + POLICY + ROW + SOUND + ROW.replace("tuning{", "other{") + END, ["tuning"]),
    (HEAD + POLICY + "// H200: 4582 GB/s\n" + ROW + END, ["tuning"]),
    (HEAD + POLICY + "// H200, 2026-11-21: as fast as it goes\n" + ROW + END, ["tuning"]),
    (HEAD + POLICY + "// 2026-11-21: 4582 GB/s\n" + ROW + END, ["tuning"]),
    (HEAD + POLICY + "// Not measured. Adapted from Policy900::tuning.\n" + ROW + END, []),
    (HEAD + POLICY + ROW[:-1] + "  // Not measured. Adapted from Policy900.\n" + END, []),
    (HEAD + POLICY + "// Not measured.\n" + ROW + END, ["tuning"]),
    (HEAD + POLICY + "// Not measured. Derived from rows_900, with as many blocks as fit.\n" + ROW + END, []),
    (HEAD + POLICY + "// Derived from rows_900, with as many blocks as fit.\n" + ROW + END, ["tuning"]),
    (HEAD + "// Not measured. Derived from rows_900.\ntemplate <int N>\nstruct rows {\n" + LIMITS + ROW + END, []),
    (HEAD + "// Not measured. Adapted from rows_900.\ntemplate <int N>\nstruct rows {\n" + LIMITS + ROW + END,
     ["tuning"]),
    (HEAD + POLICY + "static constexpr reduce_tuning tuning = Policy750::tuning;\n" + END, []),
    (HEAD + POLICY + "static constexpr reduce_tuning tuning =\n  big ? reduce_tuning{1} : row();\n" + END, ["tuning"]),
    (HEAD + POLICY + "static constexpr int threads = 7;\n" + END, []),
    (HEAD + POLICY.replace("struct", "// H200, 2026-11-22, medians in microseconds.\nstruct") + "// 2^10: 5.2.\n" +
     ROW + ROW.replace("tuning{", "other{") + END, ["other"]),
    (HEAD + POLICY + "static constexpr int a = 3;\n" + SOUND + "static constexpr int b = 4;\n" + ROW + END, []),
    (HEAD + SOUND + "struct rows {\n" + ROW + END, []), (HEAD + "struct rows {\n" + ROW + END, ["tuning"]),
    (SOUND + "constexpr reduce_tuning made(int n) { return {n}; }\n" + HEAD + POLICY +
     "static constexpr reduce_tuning tuning = made(2);\n" + END, []),
    (HEAD + "// Not measured. Adapted from Policy900, with less memory.\n" + POLICY + ROW + END, []),
    (HEAD + "struct block {\nstatic constexpr radix_tuning value{Policy::a.threads, Policy::a.items};\n" + END, []),
    (HEAD + POLICY + "// A100, 2026-11-21, 10^9 items per second: 407, 312.\n" + ROW + END, []),
]


def self_test():
    for text, expected in EXAMPLES:
        found = [row for _, _, row, _, sound in rows_of(text) if not sound]
        if found != expected:
            toolbox.fail(f"{text!r} gives {found}, not {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print all rows")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    found = list(rows())
    if not found:
        toolbox.fail("no row of tuning is found")
    if arguments.list:
        for name, line, policy, row, comment, sound in found:
            print(f"{name}:{line}: {policy}::{row}: {'' if sound else 'NOT SOUND: '}{comment[:160].strip()}")
    bad = [f"{name}:{line}: {policy}::{row} has no GPU, date and figure, and no 'Not measured. Adapted from <row>'"
           for name, line, policy, row, _, sound in found if not sound]
    if bad:
        toolbox.fail("\n".join([f"{len(bad)} of {len(found)} rows of tuning", *bad]))


if __name__ == "__main__":
    main()
