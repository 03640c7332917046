#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes the pages that Doxygen 1.9 has made, where it has no option for the change.

- The search also finds parts of names: Doxygen's finds BlockScan by "block" only, this one by "scan" too.
- Names in the side bar and in titles have no lists of template parameters.

Then looks at the pages as a reader would: every link leads to a file and an anchor that exist, and no mark of Markdown
or of Doxygen is left in a text.
"""

import argparse
import ast
import html
import pathlib
import re
import sys

PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Marks that Doxygen should have read, and that must not be left in a page.
LEFT_OVER = re.compile(r"```|\*\*|`|[@\\](?:code|ref|t?param|brief|page)\b|</?(?:code|tt|b|em)>|[^\[]\]\((?=\S)")
NO_PROSE = re.compile(r'<(script|style|code|tt)\b.*?</\1>|<div class="fragment">.*?<!-- fragment -->', re.DOTALL)
DATA = "var searchData=\n"


def search_id(name):
    """The beginning of a result's id, as Doxygen's search.js makes it from the search text."""
    return re.sub(r"[^a-z0-9]", lambda match: f"_{ord(match.group(0)):02x}", name.lower())


def endings(name):
    """The name, and its endings that begin with one of its further words."""
    starts = [match.start() for match in PART.finditer(name)]
    return [name] + [name[start:] for start in starts if start > 0]


def read_entries(folder):
    """The entries of the index of all names, [id, [name, [address, ...] ...]], ids without their numbers."""
    found = []
    for path in sorted(folder.glob("all_*.js")):
        text = path.read_text()
        if not text.startswith(DATA):
            raise SystemExit(f"finish.py: {path} is no index of Doxygen's search")
        found += ast.literal_eval(text[len(DATA):].rstrip().rstrip(";"))
    return found


def index_of(entries):
    """{first character: lines}: each entry under its name and under the endings of its name."""
    rows = set()
    for _, (name, *places) in entries:
        is_class = any("#" not in place[0] for place in places)
        for ending in endings(name):
            rows.add((search_id(ending), ending != name, not is_class, name, repr([name, *places])))
    index = {}
    for number, (key, _, _, _, text) in enumerate(sorted(rows)):
        index.setdefault(key[0], []).append(f"  ['{key}_{number}',{text}]")
    return index


def extend_search(folder):
    index = index_of(read_entries(folder))
    page = next(folder.glob("all_*.html"), None)  # newer releases need none
    page = page.read_text() if page else None
    for path in [*folder.glob("all_*.js"), *folder.glob("all_*.html")]:
        path.unlink()
    for number, character in enumerate(sorted(index)):
        name = f"all_{number:x}"
        (folder / f"{name}.js").write_text(DATA + "[\n" + ",\n".join(index[character]) + "\n];\n")
        if page:
            (folder / f"{name}.html").write_text(re.sub(r"all_\w+\.js", f"{name}.js", page))
    sections = (folder / "searchdata.js").read_text()
    sections, count = re.subn(r'  0: "[^"]*"', f'  0: "{"".join(sorted(index))}"', sections, count=1)
    if count != 1:
        raise SystemExit("finish.py: searchdata.js has no section 0")
    (folder / "searchdata.js").write_text(sections)


def shorten_names(folder):
    for path in folder.glob("*.js"):
        text = path.read_text()
        short = re.sub(r'(?<=\[ )"(?:strata::)?(?:simt::)?(\w+)(?:< [^"]* >)?"', r'"\1"', text)
        if short != text:
            path.write_text(short)
    for path in folder.glob("*.html"):
        text = path.read_text()
        short = re.sub(r'(<div class="title">\w+)&lt; .*? &gt;(?=<)', r"\1", text)
        if short != text:
            path.write_text(short)


def findings(texts, exists):
    """The faults of pages, {name: text}; `exists(name)` is true if there is a file of that name."""
    anchors = {name: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for name, text in texts.items()}
    for name, text in sorted(texts.items()):
        for file, anchor in re.findall(r'\b(?:href|src)="([^"#:]*)(?:#([^"]*))?"', text):
            file, anchor = html.unescape(file) or name, html.unescape(anchor)
            if file not in texts and not exists(file):
                yield f"{name}: there is no {file}"
            elif anchor and file in texts and anchor not in anchors[file]:
                yield f"{name}: {file} has no {anchor}"
        prose = html.unescape(re.sub(r"<[^>]+>", " ", NO_PROSE.sub(" ", text)))
        for match in LEFT_OVER.finditer(prose):
            around = " ".join(prose[max(0, match.start() - 40):match.end() + 40].split())
            yield f"{name}: {match.group(0)} is left in: {around}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="the pages")
    folder = parser.parse_args().folder
    extend_search(folder / "search")
    shorten_names(folder)
    texts = {path.name: path.read_text() for path in folder.glob("*.html")}
    errors = list(findings(texts, lambda name: (folder / name).exists()))
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
