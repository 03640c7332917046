#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C++ in the project's Markdown files is real, and so are the files and headings that they link to.

A ```cpp block after a line `<!-- quote: PATH -->` is this file, word for word, without its SPDX lines. Any other ```cpp
block is a translation unit of its own, and compiles. A fragment that cannot compile alone must be marked ```c++, and is
not checked. The README in the root and the guides may not have fragments.
"""

import pathlib
import re
import tempfile

import toolbox

BLOCK = re.compile(r"(?:<!-- quote: (?P<quote>\S+) -->\n)?^```(?P<language>cpp|c\+\+|cuda)\n"
                   r"(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    return [match.groupdict() for match in BLOCK.finditer(text)]


# Folders in whose pages every C++ block is compiled.
STRICT = {toolbox.ROOT, toolbox.INCLUDE / "strata" / "guides"}


def without_notice(text):
    return re.sub(r"(// SPDX-[^\n]*\n)+\n?", "", text)


def self_test():
    found = blocks("a\n<!-- quote: x.cu -->\n```cpp\nint x;\n```\n```c++\nx;\n```\n```sh\nls\n```\n")
    expected = [{"quote": "x.cu", "language": "cpp", "code": "int x;\n"},
                {"quote": None, "language": "c++", "code": "x;\n"}]
    if found != expected:
        toolbox.fail(f"the self-test finds {found}")
    text = "# A `b`, c\n[a](readme.py) [b](none.md#x) [c](https://d.e/f) [d](#a-b-c) [e](#d)\n" \
        "```cpp\n# d [](int)\n```\n"
    links = dead_links(pathlib.Path(__file__), text)
    if links != ["none.md#x", "#d"]:
        toolbox.fail(f"the self-test finds the dead links {links}")


def without_blocks(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text):
    """The anchors of the headings of a Markdown text, which links end with."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_dead(readme, text, link):
    name, _, anchor = link.partition("#")
    target = readme.parent / name if name else readme
    if not target.exists():
        return True
    return bool(anchor) and (not name or target.suffix == ".md") and \
        anchor not in anchors(target.read_text() if name else text)


def dead_links(readme, text):
    links = re.findall(r"\]\(([^)\s]+)[^)]*\)", without_blocks(text))
    return [link for link in links if "://" not in link and is_dead(readme, text, link)]


def check(readme, compiler, folder):
    name = readme.relative_to(toolbox.ROOT)
    text = readme.read_text()
    if dead_links(readme, text):
        toolbox.fail(f"{name} links to files that are not there: {dead_links(readme, text)}")
    count = 0
    for block in blocks(text):
        if block["quote"]:
            source = toolbox.ROOT / block["quote"]
            if not source.is_file() or without_notice(source.read_text()) != block["code"]:
                toolbox.fail(f"{name} does not quote {block['quote']} as it is")
        elif block["language"] == "cpp":
            unit = folder / "unit.cu"
            unit.write_text(block["code"])
            toolbox.must_run([*compiler.command, "-fsyntax-only", *compiler.source(unit)])
        elif readme.parent in STRICT:
            toolbox.fail(f"{name} has a fragment that no test compiles:\n{block['code']}")
        else:
            continue
        count += 1
    return count


def main():
    arguments = toolbox.parser(__doc__).parse_args()
    self_test()
    compiler = toolbox.Compiler(arguments.cxx)
    readmes = [path for path in toolbox.tracked_files() if path.suffix == ".md"]
    with tempfile.TemporaryDirectory() as folder:
        counts = {path: check(path, compiler, pathlib.Path(folder)) for path in readmes}
    if counts.get(toolbox.ROOT / "README.md", 0) == 0:
        toolbox.fail("README.md shows no code")


if __name__ == "__main__":
    main()
