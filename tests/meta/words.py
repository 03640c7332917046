#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Words that the files of include/strata do not use, because the field has a better known one for what they mean.

Identifiers are compared word by word, whether they are written `like_this` or `LikeThis`; comments, texts and
Markdown files as prose. `--list` prints all findings, file by file, and how many each word has. `--self-test` runs
every rule on examples.
"""

import argparse
import collections
import re

import lint
import toolbox

SUFFIXES = ("md", "hpp", "cuh", "inl", "cpp")
SCAN_FAMILY = r"device/(scan|select|reduce_by_key)/"


class Rule:
    """`identifier` and `prose` are regular expressions, of whole words; `exact` are names of types or template
    parameters. `within` restricts a rule to headers whose path it matches."""

    def __init__(self, instead, identifier="", prose="", exact="", within=""):
        self.instead = instead
        self.identifier = re.compile(rf"_({identifier})_") if identifier else None
        self.prose = re.compile(rf"\b({prose})\b", re.IGNORECASE) if prose else None
        self.exact = re.compile(rf"\b({exact})\b") if exact else None
        self.within = re.compile(within)


NOUN = (r"(?:an?|the|each|every|no|its|their|this|that|these|those|of|to|two|three|four|same|other|free|first|last"
        r"|next|all|any|some|which|several|more|fewer|many|\d+)")

RULES = [
    Rule("offset, index, slot, position, output pointer", "places?", prose=rf"{NOUN}\s+places?"),
    Rule("tagged word", "packets?", prose="packets?"),
    Rule("epoch", "call_tags?", prose=r"call\s+tags?"),
    Rule("round", "waves?", prose="waves?"),
    Rule("pipeline", "rings?", prose="rings?"),
    Rule("slice", "shares?", within=SCAN_FAMILY),
    Rule("upsweep", "folds?|folded", prose="folds?(?! expression)|folded"),
    Rule("local scan", "settles?|settled", prose="settles?|settled"),
    Rule("downsweep", "finish|finishes|finished", within=SCAN_FAMILY),
    Rule("Problem", exact="Work|Form|What|Rings"),
    Rule("base configuration", "like"),
    Rule("probe, or what is asked for", "asked"),
    Rule("mean length, or the library's", "usual", prose="usual"),
    Rule("write, fill", "expands?|expanded"),
    Rule("overflowing", "heavy", prose="heavy"),
    Rule("oversized", "crowded", prose="crowded"),
    Rule("duplicate", "repeated", within="device/join/"),
    Rule("unmatched", "lonely", prose="lonely"),
    Rule("duplicates", "further"),
    Rule("indexed by, has row ids, identifies", "told|tells?", prose="told|tells?"),
    Rule("emit, write", "put_out|puts_out", prose=r"puts?\s+out"),
    Rule("enqueue", "hand_on|hands_on", prose=r"hand(?:s|ed)?\s+on"),
    Rule("synchronise", "meets?", prose="meets?"),
    Rule("erase", "takes?_(?:away|back)", prose=r"(?:takes?|took|taken|taking)\s+(?:\w+\s+){0,2}away"),
    Rule("optimization_barrier", "forget|forgets", prose="forgets?"),
    Rule("capacity", "rooms?"),
    Rule("range", "stretch|stretches", prose="stretch|stretches"),
    Rule("local", "own"),
    Rule("layer", prose=r"floors|(?:the|its|this|a|own|higher|lower|thread|warp|block|device|distributed)\s+floor"),
    Rule("what it does", prose=r"helps?\s+(?:it|them)sel(?:f|ves)"),
    Rule("the thread, warp, block or host that is meant",
         "somebody|nobody|everybody|anybody|whoever|who", prose="somebody|nobody|everybody|anybody|whoever|who"),
]

# (path, what is found there, why it may be): regular expressions.
ALLOWED = [
    (r".", "Place|TransposedPlace|element_place", "public: BlockTranspose, BlockSegmentedMergeSort, the bank model"),
    (r".", "SortOwn", "a public name of BlockSegmentedMergeSort"),
    (r"core/macros\.hpp", "STRATA_DETAIL_ARCH_EXPAND", "the expansion of a macro"),
    (r"README\.md", "who", "the readers of the guide"),
]

# Of these a word of the list is part.
PHRASES = re.compile(r"(?<=_)in_place(?=_)")
IN_PLACE = re.compile(r"\b(?:in|takes?|took|taking)\s*$", re.IGNORECASE)


def snake(identifier):
    """`_like_this_`, of `LikeThis` and of `like_this`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", identifier).lower()
    return PHRASES.sub("", f"_{words.strip('_')}_")


def parts_of(name, text):
    """Code and prose of a file, both as long as the text, what belongs to the other blanked."""
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
    # So that a phrase may go on in the next line.
    prose = re.sub(r"(?m)^(\s*)(//[/!]?<?)", lambda m: m.group(1) + " " * len(m.group(2)), "".join(prose))
    code = pattern.sub(lambda match: blank(match.group(0)), text)
    return re.sub(r"(?m)^[ \t]*#[ \t]*include.*$", lambda match: blank(match.group(0)), code), prose


def findings_in(name, text):
    """Findings (line, word, what to write) of one file; `name` is relative to include/strata."""
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
            yield line, identifier, seen[identifier].instead
    for rule in rules:
        for match in rule.prose.finditer(prose) if rule.prose else ():
            found = re.sub(r"\s+", " ", match.group(0))
            if found.endswith("place") and IN_PLACE.search(prose[:match.start()]):
                continue
            yield lint.line_of(prose, match.start()), found, rule.instead


def is_allowed(name, found):
    return any(re.search(path, name) and re.fullmatch(what, found) for path, what, _ in ALLOWED)


def findings():
    """(file, line, word, what to write), in order."""
    folder = toolbox.INCLUDE / "strata"
    for path in sorted(path for suffix in SUFFIXES for path in folder.rglob(f"*.{suffix}")):
        name = path.relative_to(folder).as_posix()
        rows = sorted(findings_in(name, path.read_text()))
        yield from ((name, *row) for row in rows if not is_allowed(name, row[1]))


# (file, text, what is found there)
EXAMPLES = [
    ("device/a.cuh", "int first_place;", "first_place"),
    ("device/a.cuh", "struct RadixPlaces;", "RadixPlaces"),
    ("device/a.cuh", "bool is_in_place;  // sorts in place, in the place of the input", ""),
    ("device/a.cuh", "// It takes the place of the input, and places a block.", ""),
    ("device/a.cuh", "// The item goes to its place.", "its place"),
    ("device/a.cuh", "/// a value in two\n/// places: one each", "two places"),
    ("device/a.cuh", "// in packets with tags", "packets"),
    ("device/a.cuh", "constexpr int ring_stages = 3; // a string", "ring_stages"),
    ("device/a.cuh", "class AgentRing;", "AgentRing"),
    ("device/agent_ring.cuh", "", "agent_ring"),
    ("device/a.cuh", "#include <strata/device/agent_ring.cuh>", ""),
    ("device/a.cuh", "template <class Work> class works;", "Work"),
    ("device/a.cuh", "// It does the Work, what it can. A fold expression.", ""),
    ("device/scan/a.cuh", "int warp_share;", "warp_share"),
    ("device/reduce/a.cuh", "int even_share;", ""),
    ("device/a.cuh", "// A block hands its item on. It puts out rows", "puts out"),
    ("device/a.cuh", "// the winner takes the tags away", "takes the tags away"),
    ("device/a.cuh", "// Blocks meet between levels, if a requirement is met.", "meet"),
    ("device/a.cuh", "// A hint says more than the usual row.", "usual"),
    ("device/a.cuh", "int own_begin;  // of its own", "own_begin"),
    ("device/a.cuh", 'static_assert(a, "whoever waits");', "whoever"),
    ("device/a.cuh", "int like_this; // like that", "like_this"),
    ("device/a.cuh", "int likely, shared, meeting, unsettled_folder;", ""),
    ("README.md", "Sums of a wave.\n", "wave"),
    ("README.md", "For those who read `scan/agent_ring.cuh`.\n", "agent_ring"),
]


def self_test():
    for name, text, expected in EXAMPLES:
        found = [word for _, word, _ in findings_in(name, text) if not is_allowed(name, word)]
        if found != ([expected] if expected else []):
            toolbox.fail(f"{name}: {text!r} gives {found}, not '{expected}'")
    if [line for line, _, _ in findings_in("device/a.cuh", "// a\n// wave\nint ring;\n")] != [3, 2]:
        toolbox.fail("the lines of findings are wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print every finding, and sums")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    rows = list(findings())
    lines = [f"include/strata/{name}:{line}: '{word}': write {instead}" for name, line, word, instead in rows]
    if arguments.list:
        print("\n".join(lines))
        for title, column in (("file", 0), ("instead of", 3)):
            print(f"\nfindings by {title}")
            for what, count in collections.Counter(row[column] for row in rows).most_common():
                print(f"{count:6} {what}")
    if rows:
        toolbox.fail("\n".join([f"{len(rows)} words that the headers do not use", *lines[:50]]))


if __name__ == "__main__":
    main()
