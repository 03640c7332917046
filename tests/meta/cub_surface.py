#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""include/strata/from_cub.md has each public function of CUB's device, block and warp classes.

cub_calls/ tests the functions that the table calls the same. This script finds what the table lacks: classes of a new
CUB, or functions of a class. `--nvcc NVCC` reads the CUB of this nvcc, and `--cub FOLDER` the CUB in a folder that
contains cub/. Without either option, the script only runs its self-test.
"""

import argparse
import pathlib
import re

import toolbox

TABLE = toolbox.INCLUDE / "strata" / "from_cub.md"
LAYERS = ("device", "block", "warp")
# Public in CUB's headers, but called only by other parts of CUB, like all names that begin with a lower-case letter.
INTERNAL = {"BlockRadixRankMatch::CallBack"}
KEYWORDS = {"noexcept", "decltype", "operator", "static_assert", "if", "return", "sizeof", "alignof", "defined",
            "enable_if_t", "requires", "explicit"}


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)


def without_brackets(text, opening, closing):
    """Removes brackets and the text between them."""
    result, depth = [], 0
    for character in text:
        if character == opening:
            depth += 1
        elif character == closing and depth > 0:
            depth -= 1
        elif depth == 0:
            result.append(character)
    return "".join(result)


def function_of(declaration):
    """The name of the declared function, or None."""
    text = re.sub(r"\[\[.*?\]\]", "", declaration, flags=re.S)
    text = re.sub(r"\b(?:_CCCL_REQUIRES|_CCCL_TEMPLATE|_CCCL_AND|CCCL_DEPRECATED_BECAUSE|requires)\s*"
                  r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)", "", text, flags=re.S)
    text = without_brackets(text.replace("->", ""), "<", ">")
    if re.match(r"\s*(?:template\s*)?(?:struct|class|union|enum|using|typedef|friend|static_assert)\b", text):
        return None
    match = re.search(r"\b([A-Za-z_]\w*)\s*\(", text)
    return None if not match or match.group(1) in KEYWORDS or match.group(1).startswith("_") else match.group(1)


def functions_of(text):
    """(class, function) of the public members of classes. Classes in namespaces such as detail are left out."""
    found = []
    scopes = []  # (kind, name, access)
    current = ""
    for part in re.split(r"([{};])", without_comments(text)):
        if part == "{":
            head = re.sub(r"\b(?:public|private|protected)\s*:(?!:)", "", current)
            namespace = re.search(r"\bnamespace\s+([\w:]*)\s*$", head)
            plain = without_brackets(head, "<", ">")
            owner = re.search(r"(?:^|\s)(class|struct)\s+(?:alignas\(\w+\)\s*)?(\w+)\s*(?::[^()]*)?$", plain)
            add_function(current, scopes, found)
            if namespace:
                scopes.append(("namespace", namespace.group(1), ""))
            elif owner:
                scopes.append(("class", owner.group(2), "public" if owner.group(1) == "struct" else "private"))
            else:
                scopes.append(("body", "", ""))
            current = ""
        elif part == "}":
            if scopes:
                scopes.pop()
            current = ""
        elif part == ";":
            add_function(current, scopes, found)
            current = ""
        else:
            labels = re.findall(r"\b(public|private|protected)\s*:(?!:)", part)
            if labels and scopes and scopes[-1][0] == "class":
                scopes[-1] = (*scopes[-1][:2], labels[-1])
            current += part
    return found


def add_function(declaration, scopes, found):
    if not scopes or scopes[-1][0] != "class" or scopes[-1][2] != "public" or "(" not in declaration:
        return
    classes = [name for kind, name, _ in scopes if kind == "class"]
    if len(classes) != 1 or any(kind == "body" or (kind == "namespace" and name) for kind, name, _ in scopes[:-1]):
        return
    declaration = re.sub(r"\b(?:public|private|protected)\s*:(?!:)", "", declaration)
    function = function_of(declaration)
    if function and function != classes[0]:
        found.append((classes[0], function))


def names_of_table(text):
    """{class: functions}. A class that has a row as a whole has None."""
    names = {}
    for row in re.findall(r"^\| `(\w+)` \|([^|]*)\|", text, flags=re.M):
        functions = re.findall(r"`(\w+)`", row[1])
        if functions and names.get(row[0], set()) is not None:
            names.setdefault(row[0], set()).update(functions)
        elif not functions:
            names[row[0]] = None
    return names


def missing(found, names):
    result = []
    for owner, function in dict.fromkeys(found):
        name = f"{owner}::{function}"
        if re.match(r"Device|Block|Warp", owner) and re.match(r"[A-Z]|get_", function) and name not in INTERNAL:
            known = names.get(owner, set())
            if known is not None and function not in known:
                result.append(name)
    return result


def self_test():
    text = """
    CUB_NAMESPACE_BEGIN
    namespace detail { struct DeviceHidden { static int Call(int); }; }
    template <class T>
    class BlockThing : other<T> {
      int Secret(int);
     public:
      static int internal_impl();
      struct Inner { int Not(); };
      template <class A, class = enable_if_t<is<A>(0)>>
      [[nodiscard]] __device__ T Do(A a) { if (a) { return call(a); } }
      BlockThing(int);
      _CCCL_TEMPLATE(typename A)
      _CCCL_REQUIRES(is<A>(0))
      __device__ void Also(A a);
    };
    struct DeviceThing { static int Known(int a); static int New(int b); };
    CUB_NAMESPACE_END
    """
    found = functions_of(text)
    if found != [("BlockThing", "internal_impl"), ("BlockThing", "Do"), ("BlockThing", "Also"),
                 ("DeviceThing", "Known"), ("DeviceThing", "New")]:
        toolbox.fail(f"the self-test finds {found}")
    names = names_of_table("| `BlockThing` | | absent | why |\n| `DeviceThing` | `Known`, `Other` | same | |\n")
    if missing(found, names) != ["DeviceThing::New"]:
        toolbox.fail(f"the self-test misses {missing(found, names)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cub", type=pathlib.Path)
    parser.add_argument("--nvcc", type=pathlib.Path)
    arguments = parser.parse_args()
    self_test()
    if arguments.nvcc:
        arguments.cub = arguments.nvcc.resolve().parent.parent / "include" / "cccl"
    if not arguments.cub:
        return
    found = []
    for layer in LAYERS:
        for path in sorted((arguments.cub / "cub" / layer).glob("*.cuh")):
            found += functions_of(path.read_text())
    if len(found) < 200:
        toolbox.fail(f"{arguments.cub}: {len(found)} functions are no CUB")
    names = missing(found, names_of_table(TABLE.read_text()))
    if names:
        toolbox.fail("from_cub.md has not: " + ", ".join(names))


if __name__ == "__main__":
    main()
