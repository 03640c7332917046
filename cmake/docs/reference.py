#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the input from which Doxygen makes the reference: the public headers and the pages of this source tree.

A header becomes its public declarations with their comments. Each overload of a function must have a comment of its
own, which no other overload has. Parameters, data members, types and enumerators without a comment have the meanings of
parameters.md. What has a comment in neither place is an error. Errors name the source line.
"""

import argparse
import fnmatch
import pathlib
import re
import shutil
import sys

import declarations
import pages
import selection

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]

WITHOUT_STORAGE = " The same without temporary storage: the call takes it and gives it back on the same stream."
UNUSED_STORAGE = " The same without temporary storage: nothing is allocated."


class Table:
    """The meanings of parameters.md: each row has a name, the place that it is for, and a text."""

    def __init__(self, text):
        self.rows = {}
        self.used = set()
        section = None
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith("## "):
                section = line[3:].strip().lower()
            match = re.fullmatch(r"\| `([^`]+)` \| (?:`([^`]+)` )?\| (.+) \|", line)
            if match:
                name, place, meaning = match.groups()
                self.rows.setdefault((section, name), []).append((place or "*", meaning, number))
            elif line.startswith("|") and not re.match(r"\|( name |-)", line):
                raise SystemExit(f"parameters.md:{number}: not a row of `name`, `place` and meaning: {line}")

    def meaning(self, section, name, place):
        """The text of the row with the longest place that fits, None if none does."""
        fitting = [row for row in self.rows.get((section, name), []) if fnmatch.fnmatchcase(place, row[0])]
        if not fitting:
            return None
        best = max(fitting, key=lambda row: len(row[0]))
        self.used.add((section, name, best[0]))
        return best[1]

    def unused(self):
        return [f"parameters.md:{number}: no public name needs `{name}` of {section}, `{place}`"
                for (section, name), rows in self.rows.items() for place, _, number in rows
                if (section, name, place) not in self.used]


def plain(text):
    for pattern, replacement in selection.PLAIN:
        text = re.sub(pattern, replacement, text)
    return text


class Header:
    """The public declarations of one header as Doxygen reads them."""

    def __init__(self, path, layer, names, table, links, about=()):
        self.path = path  # relative to include/
        self.about = about  # the comment of the file
        self.page_id = "header_" + re.sub(r"\W", "_", str(path))
        self.layer, self.names, self.table, self.links = layer, names, table, links
        self.lines, self.errors = [], []
        self.overloads = set()  # place and comment of each

    def error(self, declaration, message):
        self.errors.append(f"include/{declaration.source or self.path}:{declaration.line}: {message}")

    def comment(self, indent, lines, added=()):
        for line in [*lines, *added]:
            self.lines.append(f"{indent}///{line}".rstrip())

    def of_table(self, kind, names, place, declaration, command):
        """Lines that explain parameters, for those that the comment leaves out."""
        found = []
        written = re.findall(r"[@\\]t?param(?:\[\w+\])?\s+(\w+)", "\n".join(declaration.comment))
        for name in names:
            if name and name not in written:
                meaning = self.table.meaning(kind, name, place)
                if meaning is None:
                    self.error(declaration, f"{place}: no meaning of {name} in cmake/docs/parameters.md, {kind}")
                else:
                    found.append(f" {command} {name} {self.links.inline(meaning)}")
        return found

    def template_of(self, indent, declaration):
        if not declaration.has_template:
            return
        parts = [plain(text) for text, name in declaration.template if is_told(text, name)]
        if parts:
            self.lines.append(f"{indent}template <{', '.join(parts)}>")

    def write(self, found):
        self.lines += ["/// @file", f"/// `#include <{self.path}>`", ""]
        if self.about:  # a page: what belongs to several names stands once
            self.comment("", [f" @page {self.page_id} {self.path.name}: what belongs to all of it", "",
                              *self.links.body(self.about, "")])
            self.lines.append("")
        name_spaces = ["strata", "simt"] if self.layer == "host" else ["strata"]
        macros = [item for item in found if item.kind == "macro"]
        for macro in macros:
            self.macro(macro)
        self.lines += [f"namespace {name} {{" for name in name_spaces]
        class_names = {selection.name_of(item) for item in found if item.kind == "class"}
        for item in found:
            if item.kind != "macro" and (self.names is None or item.name in self.names):
                if item.kind == "alias" and item.name in {*class_names, *selection.BACK_ENDS.values()}:
                    continue
                self.declaration(item, "", "")
        self.lines += ["}" for _ in name_spaces]
        for line in self.lines:
            if "detail::" in line and not line.lstrip().startswith("///"):
                self.errors.append(f"include/{self.path}: a reader sees detail:: in {line.strip()}")
        return "\n".join(self.lines) + "\n"

    def macro(self, item):
        comment = item.comment
        if item.name in selection.OWN_MACROS:
            return
        item.name = selection.MACROS.get(item.name, item.name)
        if not comment:
            meaning = self.table.meaning("members", item.name, item.name)
            if meaning is None:
                return  # of the library's own
            comment = [" " + meaning]
        self.comment("", self.links.comment(comment, ""), [f" @ingroup {self.layer}"])
        self.lines += [f"#define {item.name}{item.after}", ""]

    def declaration(self, item, owner, indent, owner_functions=()):
        if item.kind == "class" and item.name != selection.name_of(item):
            item.name = selection.name_of(item)
            item.template = item.template[1:]
        if item.name == "TempStorage":
            item.kind, item.after, item.template = "alias", "unspecified", []
        name = selection.BACK_ENDS.get(item.name, item.name)
        place = f"{owner}::{name}" if owner else name
        if item.kind == "without_storage":
            self.without_storage(item, owner, indent, owner_functions)
            return
        comment = item.comment
        if item.kind == "function":
            if not comment:
                self.error(item, f"{place} has no comment of its own: say above this overload what it does")
                comment = [" -"]
            elif (place, *comment) in self.overloads:
                self.error(item, f"{place} has the comment of another overload: say how they differ")
            self.overloads.add((place, *comment))
        if not comment:
            meaning = self.table.meaning("members", name, place)
            if meaning is None:
                self.error(item, f"{place} has no comment, and no meaning in cmake/docs/parameters.md, members")
                meaning = "-"
            comment = [" " + meaning]
        item.comment = comment
        added = []
        if item.kind in ("class", "alias", "function"):
            told = [parameter for text, parameter in item.template if is_told(text, parameter)]
            added += self.of_table("template parameters", told, place, item, "@tparam")
        if item.kind == "function":
            added += self.of_table("parameters", [parameter for _, parameter in item.parameters], place, item, "@param")
            meaning = self.table.meaning("results", plain(item.before).split(" ")[-1], place)
            if meaning:
                added.append(f" @return {self.links.inline(meaning)}")
        if not owner:
            added.append(f" @ingroup {self.layer}")
            if item.kind == "class":
                added.append(f" @headerfile {self.path.name} {self.path}")
            else:
                added += [" @par Header", f" `{self.path}`"]
            if self.about:
                added.append(f' @see @ref {self.page_id} "{self.path.name}: what belongs to all of it"')
        if added:
            added.insert(0, "")
        self.comment(indent, self.links.comment(comment, owner or name), added)
        self.template_of(indent, item)
        getattr(self, item.kind)(item, place, indent)
        self.lines.append("")

    def without_storage(self, item, owner, indent, functions):
        forms = []
        for function in functions:
            names = [name for _, name in function.parameters]
            if function.name == item.name and names[:1] == ["d_temp_storage"]:
                arguments = [name for name in names[2:] if name != "stream"] + ["where"]
                form = f"{owner}::{item.name}({', '.join(arguments)})"
                if form not in forms:
                    forms.append(form)
        if not forms:
            self.error(item, f"{owner}::{item.name} has no form with temporary storage before it")
        text = UNUSED_STORAGE if item.before == "unused" else WITHOUT_STORAGE
        where = self.table.meaning("parameters", "where", f"{owner}::{item.name}")
        self.comment(indent, [" @brief" + text, "", " @code{.cpp}", *[" " + form for form in forms], " @endcode", "",
                              f" `where`: {self.links.inline(where or '-')}"])
        self.lines += [f"{indent}template <class... Arguments>",
                       f"{indent}static cudaError_t {item.name}(Arguments&&... arguments);", ""]

    def class_(self, item, place, indent):
        self.lines += [f"{indent}{item.before} {item.name} {{", f"{indent} public:"]
        functions = [member for member in item.members if member.kind == "function"]
        for member in item.members:
            self.declaration(member, place, indent + "  ", functions)
        self.lines.append(f"{indent}}};")

    def enum(self, item, place, indent):
        self.lines.append(f"{indent}{item.before} {{")
        for member in item.members:
            comment = member.comment
            if not comment:
                meaning = self.table.meaning("members", member.name, f"{item.name}::{member.name}")
                if meaning is None:
                    self.error(member, f"{member.name} of {item.name or 'an enumeration'} has no comment")
                comment = [f" {meaning or '-'}"]
            self.comment(indent + "  ", self.links.comment(comment, item.name))
            self.lines.append(f"{indent}  {member.name} {member.after},")
        self.lines.append(f"{indent}}};")

    def alias(self, item, place, indent):
        meaning = plain(item.after)
        self.lines.append(f"{indent}using {item.name} = {'unspecified' if 'detail::' in meaning else meaning};")

    def variable(self, item, place, indent):
        value = re.sub(r"^\{.*", "", item.after)
        if item.after.startswith("[") and "{" in item.after:
            value = item.after[:item.after.index("{")]
        if "detail::" in value:
            value = ""
        space = " " if value.startswith("=") else ""
        self.lines.append(f"{indent}{plain(item.before)} {item.name}{space}{value};")

    def function(self, item, place, indent):
        parameters = ", ".join(plain(text) for text, _ in item.parameters)
        before = plain(item.before)
        after = plain(item.after)
        if "detail::" in after or "decltype" in after:
            after = ""
        name = selection.BACK_ENDS.get(item.name, item.name)
        self.lines.append(f"{indent}{before}{' ' if before else ''}{name}({parameters}){' ' if after else ''}{after};")


setattr(Header, "class", Header.class_)


def is_told(text, name):
    """True if the reference explains a template parameter: not if it only chooses overloads."""
    return bool(name) and "enable_if" not in text and not re.match(r"detail::if_", text)


def headers():
    """(layer, path relative to include/, names) of all public headers."""
    found = {}
    include = ROOT / "include"
    for layer, pattern, names in selection.PUBLIC:
        paths = sorted((include / "strata").glob(pattern))
        if not paths:
            raise SystemExit(f"reference.py: no header is {pattern}")
        for path in paths:
            found[path.relative_to(include)] = (layer, names)
    return [(layer, path, names) for path, (layer, names) in found.items()]


def groups():
    """Doxygen's groups of the layers."""
    text = ""
    for layer, line in selection.LAYERS.items():
        title, what = line.split("|")
        text += f"/// @defgroup {layer} {title}\n/// {what[0].upper()}{what[1:]}.\n\n"
    return text + selection.NAMESPACES


def rows_of_tasks(text):
    """Each task and the names in its row, of the table whose first column is the task."""
    table = text[text.index("\n| task |"):].strip().split("\n\n")[0]
    for line in table.splitlines()[2:]:
        task, names = line.strip("| ").split(" | ", 1)
        yield task, re.findall(r"`([^`]+)`", names)


def task_page(front_page, more, classes, errors):
    """The rows of the front page and of tasks.md, with a column for each layer: a task, and the names for it."""
    tasks = {task: [name for name in names if name in classes] for task, names in rows_of_tasks(front_page)}
    for task, names in rows_of_tasks(more):
        errors += [f"cmake/docs/tasks.md: {name} is no public name" for name in names if name not in classes]
        tasks[task] = [*tasks.get(task, []), *(name for name in names if name in classes)]
    columns = ("distributed", "device", "block", "warp", "thread")
    listed, rows = set(), []
    for task, names in tasks.items():
        cells = {column: [] for column in columns}
        # The class that does the task for the arrays of several GPUs.
        names = [*(name.replace("Device", "Distributed", 1) for name in names if name.startswith("Device")), *names]
        for name in dict.fromkeys(name for name in names if name in classes):
            listed.add(name)
            cells[classes[name] if classes[name] in columns else "thread"].append(f"`{name}`")
        rows.append(f"| {task[0].upper()}{task[1:]} | "
                    + " | ".join(", ".join(cells[column]) for column in columns) + " |")
    for name in classes:
        is_primitive = re.match(r"(Distributed|Device|Block|Warp)[A-Z]", name) and not name.endswith("Algorithm")
        if is_primitive and name not in listed:
            errors.append(f"README.md: {name} is in no row of the tasks, nor in cmake/docs/tasks.md")
    head = more[:more.index("The reference puts")]
    titles = "| task | distributed | device | block | warp | thread, others |\n|---|---|---|---|---|---|\n"
    return head + titles + "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder for what Doxygen reads")
    arguments = parser.parse_args()
    errors = write_reference(arguments.output)
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


def constants_of(member):
    """The enumerators of an enumeration without a name, as constants; any other member as it is."""
    if member.kind != "enum" or member.name:
        return [member]
    for part in member.members:
        part.kind, part.before = "variable", "static constexpr int"
    return member.members


def add_inherited(item):
    """Gives a class the members that it has from a class of the library's own."""
    for base in item.bases[:1]:
        if base not in selection.INHERITED:
            raise SystemExit(f"reference.py: {item.name} derives from {base}, which INHERITED must name")
        path, name = selection.INHERITED[base]
        found, _ = declarations.declarations_of((ROOT / "include" / "strata" / path).read_text(), inner=True)
        members = next(other for other in found if other.name == name).members
        for member in members:
            member.source = f"strata/{path}"
            if member.kind == "variable":
                member.after = ""
            if member.name == name:
                member.name = item.name
            if member.name == "difference_type":
                member.after = "OffsetT"
            for old, new in (("Derived", item.name), ("Difference", "difference_type")):
                member.before = re.sub(rf"\b{old}\b", new, member.before)
                member.after = re.sub(rf"\b{old}\b", new, member.after)
                member.parameters = [(re.sub(rf"\b{old}\b", new, text), own) for text, own in member.parameters]
        item.members += members


def read_headers():
    """[(layer, path, names, declarations)] and {public name: layer}."""
    found, classes = [], {}
    for layer, path, names in headers():
        text = (ROOT / "include" / path).read_text()
        try:
            items, comment = declarations.declarations_of(text, layer != "host")
        except declarations.ParseError as error:
            raise SystemExit(f"reference.py: include/{path}: {error}") from error
        found.append((layer, path, names, items, comment))
        for item in items:
            if item.kind == "class" and (names is None or item.name in names):
                add_inherited(item)
                item.members = [part for member in item.members for part in constants_of(member)]
            if item.kind in ("class", "alias", "enum", "function") and (names is None or item.name in names):
                classes.setdefault(selection.name_of(item), layer)
    return found, classes


def write_reference(output):
    table = Table((FOLDER / "parameters.md").read_text())
    found, classes = read_headers()
    members = {}
    for _, _, _, items, _ in found:
        for item in items:
            if item.kind == "class":
                name = selection.name_of(item)
                members[name] = {member.name for member in item.members if member.kind == "function"}
    links = pages.Links(classes, members)
    links.pages = {path: pages.title_of((ROOT / path).read_text()) for path in pages.page_paths(ROOT)}
    errors, abouts = [], {}
    if output.exists():
        shutil.rmtree(output)
    for layer, path, names, items, comment in found:
        about = [line for line in comment if not re.match(r"\s*[@\\]file", line)]
        header = Header(path, layer, names, table, links, about)
        text = header.write(items)
        errors += header.errors
        if header.about:
            abouts[header.page_id] = f"{path.parent.name}/{path.name}"
        if len(header.lines) > 8:
            target = output / "headers" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    (output / "headers" / "groups.dox").write_text(groups())
    tasks = task_page((ROOT / "README.md").read_text(), (FOLDER / "tasks.md").read_text(), classes, errors)
    errors += pages.write_pages(ROOT, output, links, {"tasks.md": tasks}, abouts)
    return errors + table.unused()


if __name__ == "__main__":
    sys.exit(main())
