#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No call in the library can find a function of a user's namespace by argument-dependent lookup.

In a template, an unqualified call also looks for functions in the namespaces of its arguments' types, which may be a
user's: `launch(kernel)` could find a user's `launch`. So all headers qualify such calls. clang's syntax tree shows
which calls are not qualified, even in templates that no test instantiates. With clang's options for CUDA after
`--cuda`, it also reads device code. `--self-test` runs the rule on examples.
"""

import argparse
import re

import lint
import toolbox

# Meant to be found by argument-dependent lookup, because a tuple has a `get` of its own. Or declared and never called.
MEANT_TO_BE_FOUND = {"get", "declval"}
# Operators, which a parenthesis follows in conditions of declarations.
OPERATORS = {"sizeof", "alignof", "decltype", "noexcept"}
# A function that the library calls, but does not define, and whose name users may use.
OTHERS = {"memcpy"}
# Folders left out: the host compiler's stand-in for CUDA.
OTHER_FOLDERS = ("simt/",)
# Folders that CUDA compilers do not compile: this stand-in, Metal, and NCCL, whose header may be missing.
OF_THE_HOST = ("strata/simt/", "strata/device/join/metal/", "strata/distributed/")


def free_functions(text):
    """Names of functions in namespaces. Their declarations begin in the first column."""
    code = lint.without_comments(text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", code, flags=re.MULTILINE)
    code = code.replace("decltype(auto)", "auto")
    for match in re.finditer(r"^(?!namespace|struct|class|union|enum|using|static_assert|extern)"
                             r"[A-Za-z\[][^;{}]*", code, re.MULTILINE):
        head = match.group(0)
        while True:  # template <...>, STRATA_NAMESPACE_BEGIN, [[nodiscard]], __launch_bounds__(...)
            shorter = re.sub(r"\A\s*(?:template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>"
                             r"|STRATA_\w+_(?:BEGIN|END)|\[\[\w+\]\])\s*", "", head)
            shorter = re.sub(r"__launch_bounds__\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", shorter)
            if shorter == head:
                break
            head = shorter
        if re.match(r"(?:struct|class|union|enum|using|namespace)\b", head):
            continue
        name = re.match(r"[^()=]*?[\s*&>](\w+)\s*\(", head)
        if name and not name.group(1).startswith("operator"):
            yield name.group(1)


def names():
    found = set()
    for header in toolbox.headers():
        name = header.relative_to("strata").as_posix()
        if not name.startswith(OTHER_FOLDERS):
            found.update(free_functions((toolbox.INCLUDE / header).read_text()))
    return sorted((found | OTHERS) - MEANT_TO_BE_FOUND - OPERATORS)


def unqualified_calls(tree):
    """(file, line, name) of unqualified calls in the output of `clang -Xclang -ast-dump`. In this output, a place lacks
    what it has in common with the place before it."""
    file, line = "", 0
    for text in tree.splitlines():
        node = re.match(r"[ |`-]*(\w+) 0x[0-9a-f]+[^<]*(<.*)", text)
        if not node:
            continue
        begin = None
        for place in re.finditer(r"(?:line|([^\s<>:,]+)):(\d+):\d+|col:\d+", node.group(2).split(" '", 1)[0]):
            file, line = place.group(1) or file, int(place.group(2) or line)
            begin = begin or (file, line)
        if not begin:
            continue
        # In expressions, "(no ADL)" follows qualified names. Expressions inside types are printed as source text.
        calls = re.findall(r"\(ADL\) = '(\w+)'", text)
        for of_type in re.findall(r"'([^']*\([^']*)'", text):
            calls += re.findall(r"(?<![\w:.>~])(\w+)(?:<[^()]*>)?\(", of_type)
        for name in calls:
            yield (*begin, name)


def findings(command, text, every):
    """The unqualified calls of functions with these names in the library's headers, for a program that includes
    them."""
    status, tree, messages = toolbox.run([*command, "-std=c++17", "-I", toolbox.INCLUDE, "-fsyntax-only", "-Xclang",
                                          "-ast-dump", "-fno-color-diagnostics", "-"], text)
    if status != 0:
        toolbox.fail(messages)
    library = (toolbox.INCLUDE / "strata").as_posix() + "/"
    found = {(file[len(library):], line, name) for file, line, name in unqualified_calls(tree)
             if name in every and file.startswith(library)}
    return sorted(place for place in found if not place[0].startswith(OTHER_FOLDERS))


def self_test(command):
    text = f'#line 1 "{toolbox.INCLUDE}/strata/thing.hpp"' + """
namespace library {
template <class T> int scan(T a) { return a; }
template <class T> struct algorithm {
  int launch(T a) { return a; }
  int right(T a) { return library::scan(a) + launch(a) + (scan)(a); }
  int of_an_int() { return scan(1); }
  int wrong(T a) {
    return scan(a);
  }
  auto also_wrong(T a) -> decltype(scan<T>(a));
  auto right_too(T a) -> decltype(library::scan<T>(a));
  using type = decltype(scan(T()));
  char array[sizeof(T) + scan(T())];
};
}
"""
    found = findings(command, text, {"scan", "launch"})
    if found != [("thing.hpp", line, "scan") for line in (8, 10, 12, 13)]:
        toolbox.fail(f"the self-test finds {found}")


def main():
    options = toolbox.parser(__doc__)
    options.add_argument("--cuda", nargs=argparse.REMAINDER, default=[], help="clang's options for CUDA")
    options.add_argument("--self-test", action="store_true")
    arguments = options.parse_args()
    command = [arguments.cxx, *(arguments.cuda or ["-x", "c++"])]
    if arguments.self_test:
        self_test(command)
        return
    every = set(names())
    for known in ("LoadDirectBlocked", "advanced", "launch", "scan_lanes", "radix_pass_kernel"):
        if known not in every:
            toolbox.fail(f"{known} is not found among the free functions")
    left_out = OF_THE_HOST if arguments.cuda else ()
    text = "".join(f"#include <{header}>\n" for header in toolbox.headers()
                   if not header.as_posix().startswith(left_out))
    wrong = findings(command, text, every)
    if wrong:
        toolbox.fail("calls that may find a user's function: qualify them\n"
                     + "\n".join(f"include/strata/{file}:{line}: {name}" for file, line, name in wrong))


if __name__ == "__main__":
    main()
