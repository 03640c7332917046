# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites comments and Markdown files so that Doxygen 1.9 reads them correctly.

- Indented code becomes a block between @code and @endcode: after a list Doxygen would make one line of it.
- A name in backticks that the reference has becomes a link to it.
- Headings get the anchors that GitHub gives them, and links between files lead to them.
- Characters that would begin a command or a tag are escaped.
"""

import fnmatch
import html
import posixpath
import re
import shutil

FENCE = re.compile(r"(\s*)(```+|~~~+)\s*(\w*)")
# Names that are also words: a link to the operator would be wrong as often as right.
PLAIN_WORDS = {"Sum", "Min", "Max", "Less", "Difference", "Equality", "ArgMin", "ArgMax", "report", "stats", "config",
               "launch", "flavour"}
COMMANDS = "brief|page|code|endcode|verbatim|endverbatim|file|param|tparam|returns?|see|since|note|par|ref|ingroup"


class Links:
    def __init__(self, layers, members):
        """`layers` are those of the public names, `members` the names of functions of each class."""
        self.targets = {name: "strata::simt::" + name if layer == "host" else "strata::" + name
                        for name, layer in layers.items()}
        self.members = members
        self.pages = {}  # {path of a Markdown file: its title}

    def target(self, name, own=""):
        """The name for @ref, None if the reference has no such name."""
        name = re.sub(r"^strata::|\(\)$", "", name)
        head, _, function = name.partition("::")
        if function:
            known = function in self.members.get(head, ())
            return f"strata::{name}" if known else None
        if name == own or name in PLAIN_WORDS or name in self.members.get(own, ()):
            return None
        return self.targets.get(name)

    def code_span(self, text, own):
        target = self.target(text, own)
        if target:
            return f'<code>@ref {target} "{text}"</code>'
        if re.search(r"[\\@|'\"]", text):  # Doxygen would see commands, cells or the end of the code
            text = text.replace(r"\|", "|").replace("\\", "\\\\").replace("@", r"\@").replace("|", r"\|")
            for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&apos;"), ('"', "&quot;")):
                text = text.replace(character, entity)
            return f"<code>{text}</code>"
        return f"`{text}`"

    def inline(self, text, own=""):
        """A line of prose: parts in backticks stay as they are, or become links."""
        text = re.sub(r"\*\*(`[^`]+`)\*\*", r"<b>\1</b>", text)
        parts = re.split(r"(`+)(.+?)\1", text)
        result = ""
        for index in range(0, len(parts), 3):
            result += self.prose(parts[index], own)
            if index + 2 < len(parts):
                ticks, code = parts[index + 1], parts[index + 2]
                result += self.code_span(code, own) if ticks == "`" else f"{ticks}{code}{ticks}"
        return result

    def prose(self, text, own):
        text = re.sub(r"<(?=[\w/])(?!!--|/?(br|img|details|summary|sub|sup|b|i|p|a)\b)", r"\\<", text)
        text = re.sub(rf"([@\\])(?!({COMMANDS}|<)\b)(?=\w)", r"\\\1", text)

        text = re.sub(r"(?<![\w/\"(\[])(\w+/)+README\.md\b(?![\w\"])", self.page, text)

        def link(match):
            target = self.target(match.group(0), own)
            return f"@ref {target} \"{match.group(0)}\"" if target else match.group(0)

        return re.sub(r"(?<![\w:/.@\"\[-])[A-Z][a-z]+[A-Z]\w*(?:::\w+)?(?![\w:/(\]\"])", link, text)

    def page(self, match):
        """A link to the Markdown file that a comment names, below include/strata/ or include/strata/device/."""
        for folder in ("include/strata/", "include/strata/device/", ""):
            if folder + match.group(0) in self.pages:
                return f'@ref {page_id(folder + match.group(0))} "{self.pages[folder + match.group(0)]}"'
        return match.group(0)

    def comment(self, lines, own):
        """Lines of a comment, without the slashes: the first sentence, then an empty line and the rest."""
        return self.body(with_brief(lines), own)

    def body(self, lines, own):
        result, in_code, indented, blank = [], False, [], True
        for line in joined(lines, 1) + [""]:
            if indented and (line.strip() and not line.startswith("     ")):
                result += code_block(indented, " ")
                indented = []
                blank = True
            if re.match(r"\s*[@\\](end)?(code|verbatim)\b", line):
                in_code = re.match(r"\s*[@\\](code|verbatim)\b", line) is not None
                result.append(re.sub(r"([@\\]code)$", r"\1{.cpp}", line))
                blank = False
                continue
            if in_code:
                # Doxygen makes C comments of these, which must have none inside.
                result.append(re.sub(r"/\*.*?\*/ ?", "", line))
                continue
            if line.startswith("     ") and (blank or indented):
                indented.append(line)
                continue
            if indented and not line.strip():
                indented.append(line)
                continue
            result.append(self.inline(line, own))
            blank = not line.strip()
        if indented:
            result += code_block(indented, " ")
        while result and not result[-1].strip():
            result.pop()
        return result


def joined(lines, margin):
    """The lines with each paragraph and item in one line: links and code may be broken in the middle. `margin` is the
    number of blanks before text that is not indented."""
    result, code, is_open = [], None, False
    for line in lines:
        mark = FENCE.match(line) or re.match(r"(\s*)([@\\](?:end)?(?:code|verbatim))()\b", line)
        if code is not None:
            code = None if mark and (mark.group(2).startswith(code) or "end" in mark.group(2)) else code
            result.append(line)
        elif mark:
            code, is_open = mark.group(2), False
            result.append(line)
        elif line.startswith(" " * (margin + 4)) and not is_open:  # code, or what belongs to an item after a gap
            result.append(line)
        elif is_open and not re.match(r"\s*([-*+] |\d+\. |\||#|[@>]|<\w|$)", line):
            result[-1] += " " + line.strip()
        else:
            is_open = bool(line.strip()) and not re.match(r"\s*(\||#)", line)
            result.append(line)
    return result


def with_brief(lines):
    """The lines with @brief and a first paragraph that is the first sentence."""
    if not lines or not lines[0].strip() or re.match(r"\s*([@\\]|[-|])", lines[0]):
        return lines
    end = next((index for index, line in enumerate(lines) if not line.strip() or re.match(r" [-|]| {5}", line)),
               len(lines))
    first = " ".join(line.strip() for line in lines[:end])
    # A sentence ends before a blank and a capital, or with the paragraph; not inside of code.
    hidden = re.sub(r"`[^`]*`", lambda match: "x" * len(match.group(0)), first)
    match = re.search(r"(?<!\.)[.!?] +(?=[A-Z`x(])", hidden)
    if not match:  # lists have it alone
        first = re.sub(r":$", ".", first)
        return [f" @brief {first}", "", *lines[end:]]
    rest = first[match.end():]
    return [f" @brief {first[:match.start() + 1]}", "", f" {rest}", *lines[end:]]


def code_block(lines, indent):
    """Indented lines as a block."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    least = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    text = [line[least:] for line in lines]
    is_code = any(re.search(r"[;{]$|^\s*#include|; +//", line) for line in text)
    kind = ".cpp" if is_code else ".unparsed"
    return ["", f"{indent}@code{{{kind}}}", *[indent + line for line in text], f"{indent}@endcode", ""]


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower())
    return re.sub(r"\s", "-", text.strip())


def page_id(path):
    return "mainpage" if path == "README.md" else "page_" + re.sub(r"\W", "_", path[:-3].lower())


def picture_name(path):
    """The name of a picture in the one folder of all pictures: names repeat in the source tree's folders."""
    return path.replace("/", "_")


def page_paths(root):
    """All Markdown files of the tree that are pages, relative to it."""
    found = ["README.md"]
    for folder in ("include", "examples", "tests", "benchmarks", "cmake/packages", ".github"):
        found += sorted(path.relative_to(root).as_posix() for path in (root / folder).glob("**/*.md"))
    return [path for path in found if path != ".github/pull_request_template.md"]


class Page:
    def __init__(self, root, path, text, links, paths):
        self.root, self.path, self.links, self.paths = root, path, links, paths
        self.text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL).lstrip()
        self.errors, self.pictures, self.slugs = [], [], {}
        if "chart.svg" not in self.text and (root / path).parent.joinpath("chart.svg").exists():
            self.text = re.sub(r"^(# .*\n)", r"\1\n![chart](chart.svg)\n", self.text, count=1)

    def heading(self, line):
        marks, title = re.match(r"(#+)\s+(.*)", line.replace("`", "")).groups()  # Doxygen shows tags of code
        if marks == "#" and not self.slugs:
            self.slugs[slug(title)] = 0
            return f"{marks} {title} {{#{page_id(self.path)}}}"
        anchor = slug(title)
        self.slugs[anchor] = self.slugs.get(anchor, -1) + 1
        if self.slugs[anchor]:
            anchor += f"-{self.slugs[anchor]}"
        return f"{marks} {title} {{#{page_id(self.path)}_{anchor}}}"

    def link(self, match):
        is_picture, text, target = match.groups()
        if re.match(r"[a-z]+:|@ref", target):
            return match.group(0)
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), path)) if path else self.path
        if (self.root / path).is_dir() and f"{path}/README.md" in self.paths:
            path += "/README.md"
        if path not in self.paths and not (self.root / path).exists():
            self.errors.append(f"{self.path}: no file is {target}")
            return text
        if is_picture:
            self.pictures.append(path)
            return f'<img src="{picture_name(path)}" alt="{text}"/>'
        if path in self.paths:
            text = text.strip("`")
            return f'@ref {page_id(path)}{"_" + anchor if anchor else ""} "{text}"'
        return f"{text}" if text.startswith("`") else f"`{text}`"

    def prose(self, line):
        # Links are inserted after names, so that their texts have no links inside.
        kept = []

        def keep(match):
            kept.append(self.link(match))
            return f"\x00{len(kept) - 1}\x00"

        line = re.sub(r"(!?)\[((?:[^\[\]`]|`[^`]*`)+)\]\(([^()\s]+)\)", keep, line)
        line = self.links.inline(line)
        return re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match.group(1))], line)

    def converted(self):
        result, fence, indented, blank = [], None, [], True
        for line in joined(self.text.splitlines(), 0) + [""]:
            mark = FENCE.match(line)
            if fence is not None:
                if mark and mark.group(2).startswith(fence) and not mark.group(3):
                    fence = None
                    result += [mark.group(1) + "@endcode", ""]
                else:
                    result.append(line)
                continue
            if mark:
                fence = mark.group(2)
                kind = mark.group(3) if mark.group(3) in ("cpp", "c", "py") else "unparsed"
                result += ["", f"{mark.group(1)}@code{{.{kind}}}"]
                continue
            if indented and line.strip() and not line.startswith("    "):
                result += code_block(indented, "")
                indented = []
            if (line.startswith("    ") and (blank or indented)) or (indented and not line.strip()):
                if indented or not self.continues_list(result):
                    indented.append(line)
                    continue
            blank = not line.strip()
            result.append(self.heading(line) if re.match(r"#+\s", line) else self.prose(line))
        if indented:
            result += code_block(indented, "")
        return "\n".join(result).rstrip() + "\n"

    @staticmethod
    def continues_list(lines):
        """True if a paragraph that is indented by four belongs to an item of a list."""
        for line in reversed(lines):
            if re.match(r"\s*(\d+\.|-) {2,}", line):
                return True
            if line.strip() and not line.startswith(" "):
                return False
        return False


# Titles of the side bar, and the pages below each, in this order.
MENU = (
    ("Guides", ("include/strata/guides/*.md", "include/strata/from_cub.md", "include/strata/simt/README.md",
                "cmake/packages/README.md")),
    ("How it works", ("include/strata/README.md", "include/strata/*/README.md", "include/strata/device/*.md")),
    ("Examples", ("examples/README.md", "examples/*.md")),
    ("Tests", ("tests/README.md", "tests/*.md")),
    ("Benchmarks", ("benchmarks/README.md", "benchmarks/results/*/README.md", "benchmarks/*.md")),
    ("Contributing", (".github/CONTRIBUTING.md", ".github/CHANGELOG.md", ".github/*.md")),
)


def title_of(text):
    return re.search(r"^# (.*)", text, re.MULTILINE).group(1).replace("`", "")


def menu(texts, abouts):
    """The entries of the side bar for all pages, and errors. `abouts` are pages of headers: {their ids: titles}."""
    lines, listed = [], {"README.md", "tasks.md"}
    for title, patterns in MENU:
        paths = []
        for pattern in patterns:
            paths += [path for path in sorted(texts) if fnmatch.fnmatchcase(path, pattern) and path not in listed]
            listed.update(paths)
        entries = [f'<tab type="user" url="@ref {page_id(path)}" title="{html.escape(title_of(texts[path]))}"/>'
                   for path in paths]
        if title == "How it works":
            entries += [f'<tab type="user" url="@ref {page}" title="{text}"/>' for page, text in abouts.items()]
        if len(entries) > 1:
            lines += [f'<tab type="usergroup" title="{title}">', *entries, "</tab>"]
        else:
            lines += entries
    return "\n".join(lines), [f"{path}: MENU of cmake/docs/pages.py has no place for it"
                              for path in texts if path not in listed]


def write_pages(root, output, links, generated, abouts):
    """Writes all pages and the pictures that they show. Returns errors."""
    errors = []
    paths = page_paths(root)
    (output / "pages").mkdir(parents=True, exist_ok=True)
    (output / "pictures").mkdir(exist_ok=True)
    pictures = set()
    texts = {path: (root / path).read_text() for path in paths}
    texts.update({name: text for name, text in generated.items()})
    entries, unlisted = menu(texts, abouts)
    errors += unlisted
    layout = (root / "cmake" / "docs" / "layout.xml").read_text()
    (output / "layout.xml").write_text(layout.replace("<!-- pages.py puts the pages here -->", entries))
    for path, text in texts.items():
        page = Page(root, path, text, links, list(texts))
        body = page.converted()
        errors += page.errors
        pictures.update(page.pictures)
        (output / "pages" / f"{page_id(path)}.md").write_text(body)
    for picture in sorted(pictures):
        target = output / "pictures" / picture_name(picture)
        if target.exists():
            errors.append(f"two pictures have the name {target.name}")
        shutil.copyfile(root / picture, target)
    names = " ".join(str((output / "pictures" / picture_name(picture)).resolve()) for picture in sorted(pictures))
    (output / "pictures.cfg").write_text(f"HTML_EXTRA_FILES = {names}\n")
    return errors
