#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules that no compiler checks: the direction of includes, code that only some files may have, and file marks.

`--self-test` runs every rule on an example that breaks it and on one that keeps it.
"""

import pathlib
import re

import toolbox

# A file includes only from its own layer or a lower one. simt/ stands beside the layers.
TOP_LAYERS = ["core", "iterator", "thread", "warp", "block", "device", "distributed"]
# The subfolders of a folder as layers. Each includes only itself and those before it. Files directly in the folder are
# above all of its layers.
LAYERS = {
    "device/join/": ["common", "output", "radix_partition", "shared_table", "global_table",
                     "fallback", "merge", "host", "metal"],
}
MAY_INCLUDE_SIMT = ("core/platform.cuh", "core/platform/", "core/launcher", "distributed/communication/nccl.hpp")
NCCL_HEADER = "distributed/communication/nccl.hpp"
LIBCUDACXX_HEADER = "core/cuda_std_limits.hpp"
# The only files that may have inline assembly, kernel launches or the shared memory keyword.
MACHINE_FILES = ("core/macros.hpp", "core/platform.cuh", "core/platform/", "core/launcher", "simt/")
# Functions by which blocks wait for each other. Only the protocols in this folder may call them.
ENGINE_FOLDER = "device/engine/"
GRID_CALLS = r"\b(?:STRATA_SPIN|fence_acq_rel|store_release|load_acquire|(?:load|store)_tagged_word)\b"
# GNU extensions that MSVC lacks. core/macros.hpp has macros for them. simt/ is only for g++ and clang, and join/metal/
# only for clang.
GNU = (r"__attribute__|\[\[gnu::|__builtin_(?!bit_cast|is_constant_evaluated|FILE|LINE)\w+|__(?:atomic|sync)_\w+|"
       r"__PRETTY_FUNCTION__|__extension__|\btypeof\b|_Pragma")
GNU_FILES = ("core/macros.hpp", "simt/", "device/join/metal/")
# Extensions that an #if hides from MSVC.
GNU_ALLOWED = {("core/types.hpp", "[[gnu::"), ("core/types.hpp", "__extension__"),
               ("core/operators.hpp", "__builtin_signbit")}
# The header that includes every public header below distributed/, and the headers that it leaves to programs.
EVERYTHING = "strata.cuh"
NOT_EVERYTHING = {LIBCUDACXX_HEADER: "includes libcu++", "device/device_batched_top_k.cuh": "for programs of CUB only"}
# Headers that each header in these folders includes, because programs written for CUB rely on them.
COMPANIONS = {"warp": "warp/specializations/companions.cuh", "block": "warp/specializations/companions.cuh",
              "device": "device/engine/companions.cuh"}
# Files that need no notice: the license, data that programs write, and formats without comments.
NO_SPDX = {"LICENSE", ".json", ".csv", ".svg"}
LINE_LIMIT = 120
# The most lines of a page of experiments with an algorithm.
DIARY_LINES = 60
# How clang-format writes template brackets that it takes for comparisons. .clang-format says how to avoid this.
SPREAD_BRACKETS = (r"\b\w+ < [^;(){}<>]* > \(", r"\b\w+ < [^;(){}<>]*(?:,|::)[^;(){}<>]* ?>> \w",
                   r"\btemplate <[^;{}()]*=[^;{}()]*>\n\s+[^;{}()]* > (?:struct|class)\b")


def top_layer(header):
    """The rank of the layer, from 0 for core/. Files directly in strata/ that include everything are above all
    layers."""
    first = header.split("/")[0]
    if first in TOP_LAYERS:
        return TOP_LAYERS.index(first)
    return -1 if header == "version.hpp" else len(TOP_LAYERS)


def layer(header, folder):
    """The rank of a header's layer in a folder that has layers, or -1 if the header is not in this folder."""
    if not header.startswith(folder):
        return -1
    name, _, file = header[len(folder):].partition("/")
    if not file:
        return len(LAYERS[folder])
    return LAYERS[folder].index(name) if name in LAYERS[folder] else len(LAYERS[folder]) + 1


def without_comments(text):
    """The text with blanks for comments. Line numbers and string literals stay."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    def blank(match):
        found = match.group(0)
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)
    return re.sub(pattern, blank, text, flags=re.DOTALL)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def unrolled_loops_of_the_host(code):
    """Lines of loops with STRATA_UNROLL, a pragma unknown to the host compiler, in functions that it also compiles."""
    lines = code.split("\n")
    def indent(line):
        return len(line) - len(line.lstrip())
    for i, line in enumerate(lines):
        if not line.lstrip().startswith("STRATA_UNROLL"):
            continue
        around = (before for before in reversed(lines[:i]) if before.strip() and indent(before) < indent(line))
        function = next((before for before in around if re.search(r"\bSTRATA_(D|HD|KERNEL)\b", before)), "")
        if "STRATA_HD" in function:
            yield i + 1


def header_findings(header, text):
    """Findings (line, text) in one header. `header` is relative to include/strata."""
    code = without_comments(text)
    in_simt = header.startswith("simt/")

    for folder, layers in LAYERS.items():
        if layer(header, folder) > len(layers):
            yield 1, "lies in a subfolder that LAYERS does not have"
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', code, re.MULTILINE):
        line, name = line_of(code, match.start()), match.group(2)
        if re.match(r"(cub|thrust|cuda|nv)/|cooperative_groups", name) and not (
                header == LIBCUDACXX_HEADER and name == "cuda/std/limits"):
            yield line, f"includes {name}: CUB, Thrust and libcu++ are for tests and benchmarks"
        if name == "nccl.h" and header != NCCL_HEADER:
            yield line, f"includes {name}: only {NCCL_HEADER} may"
        if match.group(1) == '"':
            yield line, f'includes "{name}": write <strata/...>'
        if not name.startswith("strata/"):
            continue
        target = name[len("strata/"):]
        if target.startswith("simt/"):
            if not in_simt and not header.startswith(MAY_INCLUDE_SIMT):
                yield line, f"includes {name}: only core/platform, core/launcher and {NCCL_HEADER} may"
        elif in_simt:
            if top_layer(target) > top_layer("core/"):
                yield line, f"includes {name}: the host back end knows no algorithm"
        elif top_layer(target) > top_layer(header):
            yield line, f"includes {name} from a higher layer"
        for folder in LAYERS:
            if header.startswith(folder) and layer(target, folder) > layer(header, folder):
                yield line, f"includes {name} from a layer above it"

    if not header.startswith(MACHINE_FILES):
        for regex, what in ((r"<<<", "a kernel launch outside the launcher"),
                            (r"\b__shared__\b", "__shared__ outside STRATA_SHARED"),
                            (r"\basm\b", "inline assembly outside core/platform")):
            for match in re.finditer(regex, code):
                yield line_of(code, match.start()), what
    if not header.startswith(GNU_FILES):
        for match in re.finditer(GNU, code):
            if (header, match.group(0)) not in GNU_ALLOWED:
                yield line_of(code, match.start()), f"{match.group(0)}: core/macros.hpp has what MSVC takes for it"
    if header.startswith("device/") and not header.startswith(ENGINE_FOLDER):
        for match in re.finditer(GRID_CALLS, code):
            yield line_of(code, match.start()), f"{match.group(0)}: blocks communicate by the files of {ENGINE_FOLDER}"
    if header.startswith(("device/", "distributed/")):
        for match in re.finditer(r"\bSTRATA_KERNEL\b", code):
            opened = re.findall(r"^STRATA_(\w*)NAMESPACE_BEGIN|^STRATA_\w*NAMESPACE_END", code[:match.start()],
                                re.MULTILINE)
            if not opened or not opened[-1].startswith("ARCH_"):
                yield line_of(code, match.start()), "a kernel outside STRATA_ARCH_DETAIL_NAMESPACE"
    folder = re.fullmatch(r"(\w+)/\w+\.cuh", header)
    if folder and folder.group(1) in COMPANIONS and not toolbox.is_forward(text):
        if f"#include <strata/{COMPANIONS[folder.group(1)]}>" not in code:
            yield 1, f"does not include {COMPANIONS[folder.group(1)]}"
    for match in re.finditer(r"\bnamespace\s*\{", code):
        yield line_of(code, match.start()), "an anonymous namespace in a header"
    for match in re.finditer(r"^using namespace\b", code, re.MULTILINE):
        yield line_of(code, match.start()), "a using directive in a header"
    if 0 <= top_layer(header) < top_layer("device/"):
        for match in re.finditer(r"\[[^][]*\]\s*\([^()]*\bauto\b", code):
            yield line_of(code, match.start()), "a generic lambda, which NVRTC takes for a function of the host"
    for match in re.finditer(r'^ +STRATA_NVTX_RANGE\([^,]*,\s*"strata::([\w:]+)"', text, re.MULTILINE):
        before = text[:match.start()]
        classes = re.findall(r"^(?:struct|class) (?:Tuned)?(\w+?)(?:On)? \{", before, re.MULTILINE)
        functions = re.findall(r"(?:cudaError_t|>)\s+(\w+)\((?=[^;{}]*(?:\{\}[^;{}]*)*\) (?:const )?\{\s*$)", before)
        if not classes or not functions or match.group(1) != f"{classes[-1]}::{functions[-1]}":
            yield line_of(text, match.start()), f"the range {match.group(1)} stands in {classes[-1:]}::{functions[-1:]}"
    for line in unrolled_loops_of_the_host(code):
        yield line, "STRATA_UNROLL in a function with STRATA_HD: the host compiler of nvcc warns of the pragma"
    if not re.search(r"^#pragma once$", text, re.MULTILINE):
        yield 1, "no #pragma once"


def file_findings(name, text):
    """Findings (line, text) in any file of the project. `name` is relative to the root."""
    suffix = pathlib.PurePath(name).suffix
    lines = text.split("\n")
    if not {name, suffix} & NO_SPDX:
        head = "\n".join(lines[:4])
        for field in ("SPDX-FileCopyrightText: ", "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"):
            if field not in head:
                yield 1, f"no '{field.strip()}' in the first lines"
    if suffix in {".json", ".csv", ".svg"} or name == "LICENSE":
        return
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    if "/experiments/" in name and len(lines) - 1 > DIARY_LINES:
        yield DIARY_LINES + 1, f"{len(lines) - 1} lines, at most {DIARY_LINES}"
    if suffix in {".hpp", ".cuh", ".cu", ".cpp"}:
        code = without_comments(text)
        for regex in SPREAD_BRACKETS:
            for match in re.finditer(regex, code):
                yield line_of(code, match.start()), "brackets of a template that a formatter took for comparisons"
    for number, line in enumerate(lines, 1):
        # Rows of a Markdown table and expected messages of a compiler cannot be broken.
        if len(line) > LINE_LIMIT and not line.startswith(("|", "// expect:")):
            yield number, f"{len(line)} columns, at most {LINE_LIMIT}"
        if line != line.rstrip():
            yield number, "spaces at the end of the line"
        if name.startswith("tests/meta/lint.py"):
            continue
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            yield number, "a mark of unfinished work"
        if re.search(r"(?<![\w.$}>/])/(work|root|home|farm|Users|tmp/\w+)/", line):
            yield number, "a path of one machine"


def missing_headers(texts):
    """The public headers in {header: text} that EVERYTHING does not include."""
    included = set(re.findall(r"^#include <strata/([^>]+)>", texts.get(EVERYTHING, ""), re.MULTILINE))
    public = [header for header in texts if header.count("/") == 1 and header.split("/")[0] in TOP_LAYERS
              and not header.startswith("distributed/") and not header.endswith(".inl")]
    return sorted(header for header in public if header not in included and header not in NOT_EVERYTHING
                  and not toolbox.is_forward(texts[header]))


def types_of_several_headers(texts):
    """Classes, enumerations and aliases that two headers in {header: text} define. A program that includes both may not
    compile, or only in one order. Specialisations do not count, nor do back ends that no program uses together."""
    defined = {}
    for header, text in texts.items():
        if header.startswith(("simt/", "device/join/metal/")):
            continue
        for match in re.finditer(r"^(?:(?:struct|class|union|enum(?: class)?)\s+(?:alignas\([^)]*\)\s*)?(\w+)\b"
                                 r"(?!\s*<)[^;{]*\{|using\s+(\w+)\s*=)", without_comments(text), re.MULTILINE):
            defined.setdefault(match.group(1) or match.group(2), set()).add(header)
    return {name: sorted(headers) for name, headers in defined.items() if len(headers) > 1}


def include_cycle(graph):
    """A list of headers that form a cycle of includes, or an empty list."""
    state = {}
    def visit(node, path):
        state[node] = "open"
        for target in graph.get(node, ()):
            if state.get(target) == "open":
                return path[path.index(target):] + [target]
            if target not in state:
                ring = visit(target, path + [target])
                if ring:
                    return ring
        state[node] = "done"
        return []
    for node in graph:
        if node not in state:
            ring = visit(node, [node])
            if ring:
                return ring
    return []


def lint():
    findings = []
    graph, texts = {}, {}
    for path in toolbox.tracked_files():
        name = path.relative_to(toolbox.ROOT).as_posix()
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        rows = list(file_findings(name, text))
        if name.startswith("include/strata/") and path.suffix in {".hpp", ".cuh", ".inl"}:
            header = name[len("include/strata/"):]
            rows += header_findings(header, text)
            texts[header] = text
            graph[header] = re.findall(r"^#include <strata/([^>]+)>", text, re.MULTILINE)
        findings += [f"{name}:{line}: {what}" for line, what in rows]
    findings += [f"include/strata/{EVERYTHING} does not include {header}" for header in missing_headers(texts)]
    findings += [f"{name} is defined by {' and by '.join(headers)}"
                 for name, headers in sorted(types_of_several_headers(texts).items())]
    ring = include_cycle(graph)
    if ring:
        findings.append("headers include each other: " + " -> ".join(ring))
    return findings


SPDX = ("// SPDX-FileCopyrightText: 2026 The strata authors\n"
        "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n")

FUNCTION = "struct A {\n  static if_integral<N>\n  F(void* x, const O& o = {}) {\n"
# (header, line that breaks a rule, expected part of the finding)
BAD_HEADERS = [
    ("core/a.hpp", "#include <strata/thread/b.cuh>", "higher layer"),
    ("core/a.cuh", "#include <strata/iterator/b.cuh>", "higher layer"),
    ("iterator/a.cuh", "#include <strata/thread/b.cuh>", "higher layer"),
    ("thread/a.cuh", "#include <strata/warp/b.cuh>", "higher layer"),
    ("warp/a.cuh", "#include <strata/block/b.cuh>", "higher layer"),
    ("block/a.cuh", "  #  include <strata/device/b.cuh>", "higher layer"),
    ("device/a.cuh", "#include <strata/strata.cuh>", "higher layer"),
    ("device/a.cuh", "#include <strata/distributed/distributed_scan.cuh>", "higher layer"),
    ("distributed/sort/a.cuh", "#include <nccl.h>", "only distributed/communication/nccl.hpp may"),
    ("distributed/sort/a.cuh", "#include <strata/simt/nccl.hpp>", "distributed/communication/nccl.hpp may"),
    ("version.hpp", "#include <strata/core/a.hpp>", "higher layer"),
    ("device/join/common/a.hpp", "#include <strata/device/join/output/b.hpp>", "layer above it"),
    ("device/join/merge/a.cuh", "#include <strata/device/join/dispatch.cuh>", "layer above it"),
    ("device/join/attic/a.cuh", "#include <strata/device/join/common/b.hpp>", "a subfolder that LAYERS does not have"),
    ("block/a.cuh", "#include <strata/simt/simt.hpp>", "only core/platform"),
    ("simt/a.hpp", "#include <strata/warp/b.cuh>", "knows no algorithm"),
    ("device/a.cuh", "#include <cub/cub.cuh>", "CUB, Thrust"),
    ("core/a.hpp", "#include <thrust/pair.h>", "CUB, Thrust"),
    ("core/a.hpp", "#include <cuda/std/utility>", "CUB, Thrust"),
    ("core/cuda_std_limits.hpp", "#include <cuda/std/array>", "CUB, Thrust"),
    ("core/a.hpp", '#include "b.hpp"', "write <strata/"),
    ("device/a.cuh", "void f() { kernel<<<1, 1>>>(); }", "kernel launch"),
    ("block/a.cuh", "__shared__ int x;", "STRATA_SHARED"),
    ("warp/a.cuh", 'asm volatile("bar.sync 0;");', "inline assembly"),
    ("core/platform_of_mine.cuh", 'asm volatile("bar.sync 0;");', "inline assembly"),
    ("block/a.cuh", "struct __attribute__((packed)) a;", "what MSVC takes for it"),
    ("core/types.hpp", "int x = __builtin_popcount(3);", "what MSVC takes for it"),
    ("core/a.hpp", "__atomic_store_n(p, 1, 0);", "what MSVC takes for it"),
    ("core/a.hpp", "using type [[gnu::may_alias]] = int;", "what MSVC takes for it"),
    ("device/scan/a.cuh", "while (*flag == 0) STRATA_SPIN();", "blocks communicate by"),
    ("device/a.cuh", "platform::store_tagged_word(words, {0, epoch});", "blocks communicate by"),
    ("core/a.hpp", "STRATA_D int f() {\n}\nSTRATA_HD int g() {\n  STRATA_UNROLL\n  for (;;) f();\n}", "host compiler"),
    ("device/a.cuh", "STRATA_NAMESPACE_BEGIN\nSTRATA_KERNEL void k() {\n}", "a kernel outside"),
    ("device/a.cuh", "STRATA_ARCH_NAMESPACE_BEGIN\nSTRATA_ARCH_NAMESPACE_END\nSTRATA_KERNEL f();", "outside"),
    ("core/a.hpp", "namespace {", "anonymous namespace"),
    ("core/a.hpp", "using namespace std;", "using directive"),
    ("block/a.cuh", "f([&](int i, auto& items) { g(i, items); });", "generic lambda"),
    ("device/a.cuh", f'{FUNCTION}    STRATA_NVTX_RANGE(x, "strata::A::G");', "the range"),
    ("device/a.cuh", f'{FUNCTION}    STRATA_NVTX_RANGE(x, "strata::B::F");', "the range"),
]
GOOD_HEADERS = [
    ("device/join/merge/a.cuh", "#include <strata/device/join/common/b.hpp>"),
    ("device/join/a.cuh", "#include <strata/device/join/metal/b.hpp>"),
    ("thread/a.cuh", "#include <strata/iterator/b.cuh>"),
    ("device/a.cuh", "#include <strata/device/join/a.cuh>"),
    ("block/a.cuh", "#include <strata/warp/b.cuh>"),
    ("device/a.cuh", "#include <strata/device/reduce/dispatch.cuh>"),
    ("core/a.hpp", "#include <strata/version.hpp>"),
    ("strata.cuh", "#include <strata/device/a.cuh>"),
    ("core/cuda_std_limits.hpp", "#include <cuda/std/limits>"),
    ("core/platform.cuh", '#include <strata/simt/simt.hpp>\nvoid f() { asm volatile(""); }'),
    ("core/platform/shuffle_ptx.cuh", 'asm volatile("shfl.sync.up.b32 %0|p, %1, 1, 0, -1;");'),
    ("block/a.cuh", "// raw __shared__ and k<<<1, 1>>> are for the launcher"),
    ("device/engine/a.cuh", "while (platform::load_acquire(flag) == 0) STRATA_SPIN();"),
    ("core/a.hpp", "STRATA_HD int f() {\n}\nSTRATA_D int g() {\n  STRATA_UNROLL\n  for (;;) f();\n}"),
    ("device/a.cuh", "STRATA_ARCH_DETAIL_NAMESPACE_BEGIN\nSTRATA_KERNEL void k() {\n}"),
    ("core/a.hpp", "#include <type_traits>"),
    ("core/a.hpp", "if (!__builtin_is_constant_evaluated()) {"),
    ("core/types.hpp", "__extension__ using int128 = __int128;"),
    ("device/join/metal/a.hpp", "struct __attribute__((packed)) a;"),
    ("block/a.cuh", "const auto x = a[i](b); f([&](int i) { const auto y = i; });"),
    ("device/a.cuh", "f([&](auto& items) { g(items); });"),
    ("device/a.cuh", f'{FUNCTION}    STRATA_NVTX_RANGE(x, "strata::A::F");'),
]
BAD_FILES = [
    ("tests/a.cu", "int x;\n", "SPDX-FileCopyrightText"),
    ("tests/a.cu", SPDX + "x" * 121 + "\n", "121 columns"),
    ("tests/a.cu", SPDX + "// TO" + "DO: later\n", "unfinished"),
    ("README.md", SPDX + "see /ho" + "me/me/x\n", "one machine"),
    ("tests/a.cu", SPDX + "int x; \n", "end of the line"),
    ("benchmarks/results/a/experiments/a.md", SPDX + "x\n" * 59, "61 lines"),
    ("tests/a.cu", SPDX + "int x;", "newline"),
    ("tests/a.cu", SPDX + "while (!take < has_values ? 2 : 8 > (next)) spin();\n", "took for comparisons"),
    ("tests/a.cu", SPDX + "if (items < Policy, kind::huge >> least) {\n", "took for comparisons"),
    ("tests/a.cu", SPDX + "template <int N = a>\n    b ? 1 : 2 > struct c;\n", "took for comparisons"),
]
GOOD_FILES = [
    ("tests/a.cu", SPDX + "int x;\n"),
    ("benchmarks/results/a.csv", "a,b\n"),
    ("tests/a.cu", SPDX + "// expect: " + "x" * 120 + "\n"),
    ("tests/a.cu", SPDX + "if (a < b && c > d && e(i < n >> 1)) f<(a ? 2 : 8)>(x);  // a < b > (c)\n"),
    ("tests/a.cu", SPDX + "template <int N = (a > b ? 1 : 2)>\nstruct c;\ntemplate <int N = 1>\nstruct d;\n"),
    ("benchmarks/results/a/experiments/a.md", SPDX + "x\n" * 58),
    ("README.md", SPDX + "| " + "x" * 130 + " |\n"),
    ("cmake/a.cmake", SPDX + "/usr/local/cuda\n${dir}/home/x\n"),
]


def self_test():
    def code_of(header, line):
        companions = COMPANIONS.get(header.split("/")[0])
        return "#pragma once\n" + (f"#include <strata/{companions}>\n" if companions else "") + line + "\n"
    if list(header_findings("warp/a.cuh", "#pragma once\nint x;\n")) != [(1, f"does not include {COMPANIONS['warp']}")]:
        toolbox.fail("a header without its companions is not found")
    for header, line, expected in BAD_HEADERS:
        found = [what for _, what in header_findings(header, code_of(header, line))]
        if len(found) != 1 or expected not in found[0]:
            toolbox.fail(f"{header}: '{line}' gives {found}, not '{expected}'")
    for header, line in GOOD_HEADERS:
        found = list(header_findings(header, code_of(header, line)))
        if found:
            toolbox.fail(f"{header}: '{line}' gives {found}")
    if [what for _, what in header_findings("core/a.hpp", "int x;\n")] != ["no #pragma once"]:
        toolbox.fail("a header without #pragma once is not found")
    for name, text, expected in BAD_FILES:
        found = [what for _, what in file_findings(name, text)]
        if not any(expected in what for what in found):
            toolbox.fail(f"{name}: {text!r} gives {found}, not '{expected}'")
    for name, text in GOOD_FILES:
        found = list(file_findings(name, text))
        if found:
            toolbox.fail(f"{name}: {text!r} gives {found}")
    texts = {EVERYTHING: "#include <strata/warp/a.cuh>\n", "warp/a.cuh": "int a;\n", "warp/b.cuh": "int b;\n",
             "warp/c.cuh": "// to b\n#pragma once\n#include <strata/warp/b.cuh>\n", "warp/d/e.cuh": "int e;\n",
             "distributed/f.cuh": "int f;\n", LIBCUDACXX_HEADER: "int g;\n"}
    if missing_headers(texts) != ["warp/b.cuh"]:
        toolbox.fail(f"{EVERYTHING} is said to lack {missing_headers(texts)}")
    texts = {"device/a.cuh": "template <class T>\nstruct sample {\n};\nclass b;\nstruct c<int> {};\n",
             "device/b.cuh": "struct sample {\n};\nclass b {\n};\nstruct c<long> {};\n// struct b {\nusing d = int;\n"}
    if types_of_several_headers(texts) != {"sample": ["device/a.cuh", "device/b.cuh"]}:
        toolbox.fail(f"two headers are said to define {types_of_several_headers(texts)}")
    if include_cycle({"a": ["b"], "b": ["c"], "c": ["b"]}) != ["b", "c", "b"]:
        toolbox.fail("a ring of includes is not found")
    if include_cycle({"a": ["b", "c"], "b": ["c"], "c": []}):
        toolbox.fail("a ring of includes is found where there is none")


def main():
    if toolbox.wants_self_test(__doc__):
        self_test()
        return
    findings = lint()
    if findings:
        toolbox.fail("\n".join([f"{len(findings)} findings", *findings[:50]]))


if __name__ == "__main__":
    main()
