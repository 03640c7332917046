#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples in the comments of headers are programs, and print what they say.

An example stands between `@code` and `@endcode`. It is a source that compiles after an `#include` of its header and of
<cstdio>. It ends with a line `// prints: TEXT` for each line that it prints. Trailing blanks do not count.

Without an option, checks that each header for users has an example with its output. `--write FOLDER` writes a file with
the examples of each layer, each in a namespace and with a test. The sources of tests/header_examples include these
files. `--alone` compiles each example like a reader's program.
"""

import pathlib
import re
import sys
import tempfile

import toolbox

# Headers that must have an example. Examples of other headers are tested too.
PLACES = ["block/*.cuh", "block/classic/block_*.cuh", "core/policy_hub.hpp", "core/util_ptx.cuh",
          "device/device_*.cuh", "device/device_*.hpp", "device/engine/execution.cuh", "device/engine/future_count.cuh",
          "device/scan_tile_state.cuh",
          "device/join/common/join_side.hpp", "device/join/join_table.hpp", "distributed/distributed_*.cuh",
          "iterator/*.cuh", "thread/*.cuh", "warp/*.cuh"]
# Headers whose example prints nothing, with the reason.
PRINTS_NOTHING = {}
# Test sources for some headers of a layer. The others are in the source of their layer.
SOURCES = {
    "device_joins": r"device/.*join",
    "device_sorts": r"device/device_(merge_sort|radix_sort|segmented_.*sort|(segmented_|batched_)?top_k)",
    "device_scans": r"device/(device_(.*scan|.*reduce|select|partition|run_length_encode)|execution|future_count)|"
                    r"device/scan_tile_state|core/policy_hub",
}
MOST_LINES = 25

CODE = re.compile(r"^/// @code\n((?:///.*\n)*?)/// @endcode\n", re.MULTILINE)
INCLUDE = re.compile(r"^#include [<\"].*\n", re.MULTILINE)
MAIN = re.compile(r"^int main\(\) \{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)
PRINTS = re.compile(r"^// prints:(.*)\n", re.MULTILINE)


class Example:
    def __init__(self, header, text, match):
        self.header = header  # relative to include/strata
        self.line = text.count("\n", 0, match.start(1)) + 1
        self.code = re.sub(r"^/// ?", "", match.group(1), flags=re.MULTILINE)
        self.output = [line.strip() for line in PRINTS.findall(self.code)]

    @property
    def name(self):
        return self.header.stem


def examples_of(header, text):
    return [Example(header, text, match) for match in CODE.finditer(text)]


def findings(header, text):
    """Yields what is wrong with the examples of a header that must have one."""
    examples = examples_of(header, text)
    if len(examples) != 1 or text.count("@code") != 1:
        yield f"{header} has {text.count('@code')} examples between @code and @endcode, and should have one"
    for example in examples:
        if len(MAIN.findall(example.code)) != 1:
            yield f"{header}: the example is no program: it has no `int main() {{` with its end"
        if not example.output and str(header) not in PRINTS_NOTHING:
            yield f"{header}: the example does not say what it prints: end it with `// prints: ...`"
        if len(PRINTS.findall(re.search(r"(// prints:.*\n)*\Z", example.code).group())) != len(example.output):
            yield f"{header}: the example does not end with what it prints"
        if not (toolbox.ROOT / "tests" / "header_examples" / f"{source_of(header)}_test.cu").is_file():
            yield f"{header}: tests/header_examples/{source_of(header)}_test.cu is not there to test the example"
        lines = sum(1 for line in example.code.splitlines() if line)
        if lines > MOST_LINES:
            yield f"{header}: the example has {lines} lines that are not empty, more than {MOST_LINES}"


def headers_with_example():
    root = toolbox.INCLUDE / "strata"
    found = {path.relative_to(root) for place in PLACES for path in root.glob(place)}
    texts = {path.relative_to("strata"): (toolbox.INCLUDE / path).read_text() for path in toolbox.headers()}
    return {header: text for header, text in texts.items()
            if (header in found and not toolbox.is_forward(text)) or "@code" in text}


def source_of(header):
    layer = header.parts[0]
    return next((name for name, pattern in SOURCES.items() if re.match(pattern, str(header))), layer)


def quoted(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_test(example, path):
    """The example's main function as a function in a namespace, and a test that calls it."""
    body = MAIN.sub(lambda main: f"int run() {{\n{main.group(1)}return 0; }}\n", INCLUDE.sub("\n", example.code))
    printed = ", ".join(quoted(line) for line in example.output)
    return (f"namespace header_example_{example.name} {{\n#line {example.line} \"{path}\"\n{body}}}\n"
            f"TEST(header_examples, {example.name}) {{\n"
            f"  header_examples::expect_output(header_example_{example.name}::run, {{{printed}}});\n}}\n")


def write(folder, headers):
    """Writes a file for each source. A file that does not change is not touched."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = {}
    for header, text in headers.items():
        sources.setdefault(source_of(header), []).extend(examples_of(header, text))
    for name, examples in sources.items():
        includes = {f"#include <strata/{example.header}>\n" for example in examples}
        includes.update(line for example in examples for line in INCLUDE.findall(example.code))
        path = folder / f"{name}.cuh"
        text = f"// Made by {pathlib.Path(__file__).name}.\n" + "".join(sorted(includes)) + "#include <cstdio>\n"
        text += "".join(as_test(example, toolbox.INCLUDE / "strata" / example.header) for example in examples)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    (folder / "written").touch()


def compile_alone(compiler, headers):
    """Compiles each example in a file of its own. Returns the messages about those that do not compile."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for header, text in headers.items():
            for example in examples_of(header, text):
                source = pathlib.Path(folder) / f"{example.name}.cu"
                source.write_text(f"#include <strata/{header}>\n#include <cstdio>\n#line {example.line} "
                                  f"\"{toolbox.INCLUDE / 'strata' / header}\"\n{example.code}")
                status, _, messages = toolbox.run([*compiler.front_end, *compiler.source(source)])
                if status != 0:
                    wrong.append(f"{header}:\n{messages}")
    return wrong


def self_test():
    program = "/// int main() {\n///   std::printf(\"1\\n\");\n/// }\n"
    right = f"/// Text.\n/// @code\n/// #include <a>\n///\n{program}/// // prints: 1\n/// @endcode\nclass x;\n"
    header = pathlib.Path("warp/warp_x.cuh")
    wrong = {
        "no example": right.replace("@code", "").replace("@endcode", ""),
        "two examples": right + right,
        "no end": right.replace("/// @endcode\n", ""),
        "no program": right.replace("main()", "f()"),
        "no output": right.replace("/// // prints: 1\n", ""),
        "output in the middle": right.replace("/// int main", "/// // prints: 1\n/// int main").replace(
            "/// // prints: 1\n/// @endcode", "/// @endcode"),
        "too long": right.replace("/// int main", "/// int a;\n" * 25 + "/// int main"),
    }
    if list(findings(header, right)):
        toolbox.fail(f"the self-test finds {list(findings(header, right))}")
    for name, text in wrong.items():
        if not list(findings(header, text)):
            toolbox.fail(f"the self-test does not find: {name}")
    if "is not there" not in "".join(findings(pathlib.Path("none/x.cuh"), right)):
        toolbox.fail("the self-test does not find that no source tests an example")
    example = examples_of(header, right)[0]
    test = as_test(example, "warp_x.cuh")
    for text in ('#line 3 "warp_x.cuh"\n\n\nint run() {\n', 'return 0; }\n// prints: 1\n}\nTEST(', '{"1"}'):
        if text not in test:
            toolbox.fail(f"the self-test misses {text!r} in:\n{test}")


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    headers = headers_with_example()
    if arguments.write:
        return write(arguments.write, headers)
    wrong = [text for header, content in headers.items() for text in findings(header, content)]
    if arguments.alone and not wrong:
        wrong = compile_alone(toolbox.Compiler(arguments.cxx, arguments.nvcc), headers)
    if wrong:
        toolbox.fail("\n".join(wrong))


if __name__ == "__main__":
    sys.exit(main())
