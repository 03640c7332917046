#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One word for one thing: headers use the terms of the glossary (include/strata/README.md), and no synonyms for them.

Identifiers are compared word by word, whether they are written `like_this` or `LikeThis`. Comments, texts and Markdown
files may use ordinary English, so only phrases that cannot mean anything else count there. `--list` prints all
findings, file by file, and the number of findings for each word. `--self-test` runs every rule on examples.
"""

import argparse
import collections
import re

import lint
import toolbox

SUFFIXES = ("md", "hpp", "cuh", "inl", "cpp")
SCAN_FAMILY = r"device/scan/"


class Rule:
    """`term` is in the glossary. `identifier` and `prose` are regular expressions for whole words, `exact` for whole
    names of types or template parameters. `within` restricts a rule to headers whose paths it matches."""

    def __init__(self, term, identifier="", prose="", exact="", within=""):
        self.term = term
        self.identifier = re.compile(rf"_({identifier})_") if identifier else None
        self.prose = re.compile(rf"\b({prose})\b", re.IGNORECASE) if prose else None
        self.exact = re.compile(rf"\b({exact})\b") if exact else None
        self.within = re.compile(within)


RULES = [
    Rule("tagged word", "packets?", prose="packets?"),
    Rule("epoch", "call_tags?", prose=r"call\s+tags?"),
    Rule("round", "waves?"),
    Rule("pipeline", "rings?", prose=r"rings?\s+(?:of\s+)?(?:buffers?|stages?)"),
    Rule("slice", "shares?", within=SCAN_FAMILY),
    Rule("upsweep", "folds?|folded"),
    Rule("local scan", "settles?|settled"),
    Rule("downsweep", "finish|finishes|finished", within=SCAN_FAMILY),
    Rule("problem", exact="Work|Form|What|Rings"),
    Rule("base configuration", "like"),
    Rule("overflowing partition", "heavy", prose=r"heavy\s+partitions?"),
    Rule("oversized bucket", "crowded", prose=r"crowded\s+buckets?"),
]


def snake(identifier):
    """`_like_this_`, for `LikeThis` and for `like_this`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", identifier).lower()
    return f"_{words.strip('_')}_"


def parts_of(name, text):
    """Code and prose of a file. Both are as long as the text, and have blanks where the other one has text."""
    blank = lambda found: re.sub(r"[^\n]", " ", found)
    if name.endswith(".md"):
        code = []
        def keep(match):
            code.append((match.start(), match.group(0)))
            return blank(match.group(0))
        prose = re.sub(r"(?m)^    .*$|`[^`\n]+`", keep, text)
        only_code = blank(text)
        for start, found in code:
            only_code = only_code[:start] + found + only_code[start + len(found):]
        return only_code, prose
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    prose = list(blank(text))
    for match in pattern.finditer(text):
        prose[match.start():match.end()] = match.group(0)
    # Comment marks become blanks, so that a phrase may continue in the next line.
    prose = re.sub(r"(?m)^(\s*)(//[/!]?<?)", lambda m: m.group(1) + " " * len(m.group(2)), "".join(prose))
    code = pattern.sub(lambda match: blank(match.group(0)), text)
    return re.sub(r"(?m)^[ \t]*#[ \t]*include.*$", lambda match: blank(match.group(0)), code), prose


def findings_in(name, text):
    """Findings (line, word, term to write) in one file. `name` is relative to include/strata."""
    code, prose = parts_of(name, text)
    rules = [rule for rule in RULES if rule.within.search(name)]
    identifiers = [(1, stem) for stem in re.findall(r"\w+", name)]
    identifiers += [(lint.line_of(code, match.start()), match.group(0))
                    for match in re.finditer(r"[A-Za-z_]\w*", code)]
    seen = {}
    for line, identifier in identifiers:
        if identifier not in seen:
            words = snake(identifier)
            seen[identifier] = next((rule for rule in rules
                                     if rule.identifier and rule.identifier.search(words)
                                     or rule.exact and rule.exact.fullmatch(identifier)), None)
        if seen[identifier]:
            yield line, identifier, seen[identifier].term
    for rule in rules:
        for match in rule.prose.finditer(prose) if rule.prose else ():
            found = re.sub(r"\s+", " ", match.group(0))
            yield lint.line_of(prose, match.start()), found, rule.term


def not_in_glossary(readme):
    """The terms of rules that the glossary of a README lacks."""
    glossary = re.findall(r"(?m)^\| ([^|]+) \|", readme[readme.index("## Glossary"):])
    terms = {term.strip() for row in glossary for term in re.sub(r"\(.*?\)", "", row).split(",")}
    return [rule.term for rule in RULES if rule.term not in terms]


def findings():
    """(file, line, word, term to write), in order."""
    folder = toolbox.INCLUDE / "strata"
    for path in sorted(path for suffix in SUFFIXES for path in folder.rglob(f"*.{suffix}")):
        name = path.relative_to(folder).as_posix()
        yield from ((name, *row) for row in sorted(findings_in(name, path.read_text())))


# (file, text, the word that is found there, or nothing)
EXAMPLES = [
    ("device/a.cuh", "// in packets with tags", "packets"),
    ("device/a.cuh", "/// the call\n/// tag", "call tag"),
    ("device/a.cuh", "int num_waves;  // Waves of blocks, in the usual place, for those who wait.", "num_waves"),
    ("device/a.cuh", "constexpr int ring_stages = 3; // a string", "ring_stages"),
    ("device/a.cuh", "// Buffers form a ring of stages.", "ring of stages"),
    ("device/a.cuh", "// Ranks form a ring.", ""),
    ("device/a.cuh", "class AgentRing;", "AgentRing"),
    ("device/agent_ring.cuh", "", "agent_ring"),
    ("device/a.cuh", "#include <strata/device/agent_ring.cuh>", ""),
    ("device/a.cuh", "template <class Work> class works;", "Work"),
    ("device/a.cuh", "// It does the Work, what it can. A fold expression.", ""),
    ("device/scan/a.cuh", "int warp_share;", "warp_share"),
    ("device/reduce/a.cuh", "int even_share;", ""),
    ("device/a.cuh", "int heavy_rows;  // The heavy part comes last.", "heavy_rows"),
    ("device/a.cuh", "int like_this; // like that", "like_this"),
    ("device/a.cuh", "int likely, shared, unsettled_folder;", ""),
    ("README.md", "Rows of a crowded bucket.\n", "crowded bucket"),
    ("README.md", "For those who read `scan/agent_ring.cuh`.\n", "agent_ring"),
]


def self_test():
    for name, text, expected in EXAMPLES:
        found = [word for _, word, _ in findings_in(name, text)]
        if found != ([expected] if expected else []):
            toolbox.fail(f"{name}: {text!r} gives {found}, not '{expected}'")
    if [line for line, _, _ in findings_in("device/a.cuh", "// a\n// packet\nint ring;\n")] != [3, 2]:
        toolbox.fail("the lines of findings are wrong")
    glossary = "## Glossary\n\n| term | meaning | source |\n| tagged word | 8 bytes | |\n"
    if not_in_glossary(glossary) != [rule.term for rule in RULES if rule.term != "tagged word"]:
        toolbox.fail("a rule of a term without a row in the glossary is not found")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print every finding, and sums")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    for term in not_in_glossary((toolbox.INCLUDE / "strata" / "README.md").read_text()):
        toolbox.fail(f"words.py has a rule for '{term}', which is not in the glossary of include/strata/README.md")
    rows = list(findings())
    lines = [f"include/strata/{name}:{line}: '{word}': write {term}" for name, line, word, term in rows]
    if arguments.list:
        print("\n".join(lines))
        for title, column in (("file", 0), ("term", 3)):
            print(f"\nfindings by {title}")
            for what, count in collections.Counter(row[column] for row in rows).most_common():
                print(f"{count:6} {what}")
    if rows:
        toolbox.fail("\n".join([f"{len(rows)} words that the headers do not use", *lines[:50]]))


if __name__ == "__main__":
    main()
