#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every static_assert of the library has a message, and a source in must_not_compile/ provokes it.

`static_assert(..._requirements<T>::check())` has no message, because its class asserts, once for each T.

An assertion about constants of the library itself, which users cannot provoke, is exempt. The line above it says
`// not for users: REASON`.
"""

import pathlib
import re

import toolbox

SOURCES = pathlib.Path(__file__).resolve().parent / "must_not_compile"
STRING = r'"((?:\\.|[^"\\])*)"'


def assertions(text):
    """(line, message or None, whether it is exempt) of each static_assert."""
    text = text.replace("\\\n", " \n")  # in macros
    for match in re.finditer(r"\bstatic_assert\s*\(", text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if "//" in text[line_start:match.start()]:
            continue
        depth, position = 1, match.end()
        while depth and position < len(text):
            literal = re.compile(STRING).match(text, position)
            if literal:
                position = literal.end()
                continue
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
        body = text[match.end():position - 1]
        if re.fullmatch(r"(strata::)?(detail::)?\w+_requirements<[^()]*>::check\(\)", body):
            continue
        message = re.search(rf",\s*((?:{STRING}\s*)+)$", body)
        pieces = re.findall(STRING, message.group(1)) if message else None
        above = text[:line_start].rstrip("\n").rsplit("\n", 1)[-1]
        yield (text.count("\n", 0, match.start()) + 1, "".join(pieces) if pieces else None,
               "// not for users: " in above)


def self_test():
    text = ('static_assert(f("a)", 1) == 2,\\\n  "one "\n "two");\n  // static_assert(no);\n'
            'static_assert(x);\n// not for users: own row\nstatic_assert(y, "own");\n'
            'static_assert(detail::some_requirements<typename X::Y>::check());\n')
    found = list(assertions(text))
    if found != [(1, "one two", False), (5, None, False), (7, "own", True)]:
        toolbox.fail(f"the self-test finds {found}")


def main():
    self_test()
    regexes = [regex.strip() for source in sorted(SOURCES.glob("*.cu"))
               for regex in re.findall(r"^// expect(?: first)?:(.*)$", source.read_text(), re.MULTILINE)]
    findings = []
    for header in toolbox.headers():
        if "simt" in header.parts:
            continue
        for line, message, exempt in assertions((toolbox.INCLUDE / header).read_text()):
            if exempt:
                continue
            if message is None:
                findings.append(f"{header}:{line}: a static_assert without a text")
            elif not any(re.search(regex, re.sub(r"\s+", " ", message)) for regex in regexes):
                findings.append(f"{header}:{line}: no twin in must_not_compile/ for: {message}")
    if findings:
        toolbox.fail("\n".join([f"{len(findings)} findings", *findings]))


if __name__ == "__main__":
    main()
