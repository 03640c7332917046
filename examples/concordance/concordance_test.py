#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/concordance with the machine's `grep`, with a model, and with std::stable_sort.

    concordance_test.py <path of the program>
"""

import os
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import testing
from testing import PROJECT, expect, run

CHECKED = re.compile(rb"concordance: (\d+) occurrences of (\d+) words, of one up to (\d+): "
                     rb"as by std::stable_sort\n$")

# ------------------------------------------------------------------------------ what is right
def model(paths):
    """(word, number of the file, line, offset) of each word, sorted."""
    found = []
    for file, path in enumerate(paths):
        offset = 0
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            found += [(word[0], file, number, offset + word.start())
                      for word in re.finditer(rb"[^ \t\v\f\r]+", line)]
            offset += len(line) + 1
    return sorted(found)


def printed(paths, found):
    return b"".join(b"%s:%d:%d:%s\n" % (os.fsencode(paths[file]), line, offset, word)
                    for word, file, line, offset in found)


def tools(path):
    """The same of one file, from the machine's grep."""
    lines = run(["grep", "-anbo", "[^[:space:]]*", path]).stdout.split(b"\n")[:-1]
    parts = [line.split(b":", 2) for line in lines]
    return sorted((word, 0, int(line), int(offset)) for line, offset, word in parts)


def lines_with(word, path):
    """Numbers of the lines in which `grep -n` finds a word between blanks or ends of lines."""
    escaped = re.sub(rb"[][.*^$\\]", rb"\\\g<0>", word)
    blank = rb"[[:space:]]"
    pattern = rb"\(^\|" + blank + rb"\)" + escaped + rb"\(" + blank + rb"\|$\)"
    lines = run(["grep", "-an", "-e", pattern, path]).stdout.split(b"\n")[:-1]
    return [int(line.partition(b":")[0]) for line in lines]


# ------------------------------------------------------------------------------ inputs
def made_inputs():
    """Name -> contents of files that programs like this one get wrong."""
    rng = random.Random(20261122)
    text = b"the quick brown fox\n\njumps\tover  the lazy the dog. \r\n\v\fThe end\n"

    def mix(alphabet, count):
        return bytes(rng.choices(alphabet, k=count))

    inputs = {
        "empty": b"",
        "one-newline": b"\n",
        "no-words": b" \t\n\v\f\r" * 2000,
        "one-word": b"word",
        "small": text,
        "no-final-newline": text * 50 + b"and the last",
        "one-of-each": b" ".join(b"%d" % i for i in range(20000)),
        "often-in-a-line": (b"a b a a c a\n" * 30 + b"\n") * 30,
        "one-huge-line": b"some words " * 10000,
        "100000-times": b"word word word word\n" * 24999 + b"once\nword word word word",
        "prefixes": b"a aa aaa a\0 aaaa a\0\0 aa \n" * 100,
        "every-byte": b"".join(b"a%cb " % byte for byte in range(256)),
        "utf-8": "Grüße aus Köln, 東京\u00a0und\u2003Ελλάδα – 5 €\n".encode() * 10,
        "nuls": b"\0" * 5000 + b" \0 \0\n\0",
        "many-words": mix(b"ab \n", 100000),
        "noise": mix(range(256), 50000),
    }
    for size in (1279, 1280, 1281, 2560, 2561):
        inputs[f"times-{size}"] = b"word\n" * size
    return inputs


def real_inputs():
    """The project's documents and its longest headers."""
    return [*testing.documents(), *testing.some(testing.headers()[-10:])]


# ------------------------------------------------------------------------------ checks
def check_output(command, paths):
    wanted = model(paths)
    result = run([*command, "--check", *paths])
    name = f"{command} of {[path.name for path in paths][:5]}"
    expect(name, (result.returncode, result.stdout), (0, printed(paths, wanted)))
    told = CHECKED.search(result.stderr)
    counts = {}
    for word, *_ in wanted:
        counts[word] = counts.get(word, 0) + 1
    expect(f"{name}: counts", told and tuple(map(int, told.groups())),
           (len(wanted), len(counts), max(counts.values(), default=0)))
    return wanted


def check_word(command, path, word, has_tools):
    result = run([*command, b"--word=" + word, path])
    wanted = [found for found in model([path]) if found[0] == word]
    expect(f"{command}: {word} in {path.name}", result.stdout, printed([path], wanted))
    if has_tools:
        prefix = len(os.fsencode(path)) + 1
        lines = [int(line[prefix:].partition(b":")[0])
                 for line in result.stdout.split(b"\n")[:-1]]
        expect(f"grep -n: {word} in {path.name}", sorted(set(lines)), lines_with(word, path))
        expect(f"{word} in {path.name}: order", lines, sorted(lines))


def check_bad_calls(program, folder):
    testing.check_rejected(program, [], ["--check"], ["--device=tpu", "x"], ["--word", "x"],
                           ["--all", "x"], ["--check=1", "x"])
    testing.check_bad_files(program, folder, __file__)
    testing.check_full_disk(program, __file__)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    made, real = made_inputs(), real_inputs()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, data in made.items():
            (folder / file).write_bytes(data)
        check_bad_calls(program, folder)
        for device in testing.devices(program, __file__):
            command = [program, f"--device={device}"]
            before = testing.checks
            has_tools = device == "host" and testing.has_gnu_tools(grep="GNU grep")
            for path in [*(folder / file for file in made), *real]:
                wanted = check_output(command, [path])
                if has_tools:
                    expect(f"{path.name}: the machine's grep", tools(path), wanted)
            check_output(command, [folder / "small", folder / "empty", folder / "often-in-a-line",
                                   folder / "small"])
            check_output(command, real)
            for path, word in ((folder / "100000-times", b"word"), (folder / "100000-times", b"once"),
                               (folder / "often-in-a-line", b"a"), (PROJECT / "LICENSE", b"the"),
                               (PROJECT / "README.md", b"|"), (PROJECT / "LICENSE", b"License."),
                               (PROJECT / "LICENSE", b"no-such-word")):
                check_word(command, path, word, has_tools)
            print(f"{device}: {testing.checks - before} checks on {len(made)} made files and {len(real)} "
                  "of the project's")
    testing.finish()


if __name__ == "__main__":
    main()
