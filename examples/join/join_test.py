#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/join with the machine's `join` and `comm`.

    join_test.py <path of the program>
"""

import itertools
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import testing
from testing import expect, run

COMM_CALLS = [[], ["-1"], ["-2"], ["-3"], ["-12"], ["-13"], ["-2", "-3"], ["-123"]]
WHICH = [[], ["-a1"], ["-a", "2"], ["-a1", "-a2"], ["-v1"], ["-v", "2"], ["-v1", "-v2"],
         ["-a1", "-v2"]]
# Options that say what a field is, and what two fields to join by.
FORMS = [([], 0, 0), (["-t:"], 0, 0), (["-t", ":", "-1", "2"], 1, 0), (["-12", "-22"], 1, 1),
         (["-j", "3"], 2, 2), (["-2", "2"], 0, 1), (["-t", ""], 0, 0), (["-t\\0"], 0, 0),
         (["-t", " ", "-2", "3"], 0, 2), (["-1", "100", "-2", "100"], 99, 99), (["-t\t"], 0, 0)]


# ------------------------------------------------------------------------------ what a field is
def separator_of(options):
    text = " ".join(options)
    found = re.search(r"-t ?(\\0|[: \t]?)", text)
    return None if found is None else {"\\0": b"\0"}.get(found[1], found[1].encode())


def key_of(line, separator, field):
    if separator is None:
        fields = re.split(rb"[ \t]+", line.lstrip(b" \t"))
    elif separator == b"":
        fields = [line]
    else:
        fields = line.split(separator)
    return fields[field] if field < len(fields) else b""


def sorted_by(data, separator, field):
    """The lines of a file in the order of a field."""
    lines = data.split(b"\n")
    end = b"" if lines[-1] else b"\n"
    if not lines[-1]:
        lines.pop()
    lines.sort(key=lambda line: key_of(line, separator, field))
    return b"\n".join(lines) + (end if lines else b"")


# ------------------------------------------------------------------------------ inputs
def made_inputs():
    """Name -> two files."""
    rng = random.Random(20261122)

    def table(rows, keys, columns=3, separator=b" "):
        def cell():
            return b"%d" % rng.randrange(keys)
        return b"".join(separator.join(cell() for _ in range(rng.randrange(columns + 1))) + b"\n"
                        for _ in range(rows))

    def noise(alphabet, count):
        return bytes(rng.choices(alphabet, k=count))

    words = b"".join(b"%s %d\n" % (word, i) for i, word in enumerate(b"be is not or that to".split()))
    same = b"key value\n"
    return {
        "empty-empty": (b"", b""),
        "empty-some": (b"", words),
        "some-empty": (words, b""),
        "one-newline": (b"\n", b"\n"),
        "newlines": (b"\n" * 7, b"\n" * 5),
        "newlines-empty": (b"\n" * 3, b""),
        "same": (words, words),
        "other": (words, words.upper()),
        "no-newline": (words[:-1], words + b"zebra 7"),
        "only-a-word": (b"a", b"a"),
        "blanks": (b"  a  1\t2 \n\tb\n \t \nc   \n", b"a x\nb\t\ty\n  \n\n d\n"),
        "colons": (b"a:1:2\nb::\n:x\n:\na\n", b"a:x\n:y:z\nb:\nb\n::\n"),
        "cross-product": (same * 30 + b"other\n", b"a 1\n" + same * 40),
        "huge-cross-product": (b"k a\n" * 300, b"k\n" * 400),
        "prefixes": (b"a\naa\naaa\na b\n", b"a\naaa\naaaa\n"),
        "nuls": (b"a\0b\0c\na\0\n\0\n\0\0\n", b"a\0\nb\n\0x\na\0b\0\n"),
        "high-bytes": (b"\xff\n\x80 1\n~\n", b"~ 2\n\x80\n\xff\n\xff\xff\n"),
        "carriage-returns": (b"a\r\nb\r\n", b"a\nb\r\n"),
        "long-lines": (b"x" * 100000 + b" 1\n" + b"x" * 99999 + b" 2\n", b"x" * 100000 + b" 3\n"),
        "few-keys": (table(300, 5), table(200, 5)),
        "many-keys": (table(1200, 700), table(900, 700)),
        "colon-table": (table(500, 60, 4, b":"), table(600, 60, 4, b":")),
        "noise": (noise(b"ab: \t\n\n", 3000), noise(b"ab: \t\n\n", 2000)),
        "any-bytes": (noise(range(256), 20000), noise(range(256), 30000)),
    }


def real_inputs():
    """Lines of the project's own files."""
    headers = testing.headers()
    readme, guide, licence = ((testing.PROJECT / name).read_bytes() for name in
                              ("README.md", "include/strata/README.md", "LICENSE"))
    return {
        "two headers": (headers[-1].read_bytes(), headers[-2].read_bytes()),
        "two guides": (readme, guide),
        "licence and itself": (licence, licence),
        "all headers": (b"".join(path.read_bytes() for path in headers[::2]),
                        b"".join(path.read_bytes() for path in headers[1::2])),
    }


# ------------------------------------------------------------------------------ checks
def write(folder, data):
    paths = [folder / "first", folder / "second"]
    for path, contents in zip(paths, data):
        path.write_bytes(contents)
    return paths


def check_as(tool, command, options, paths, name):
    wanted = run([tool, *options, *paths])
    expect(f"{name}: the machine's {tool} {options}", (wanted.returncode, wanted.stderr), (0, b""))
    result = run([*command, "--check", tool, *options, *paths])
    expect(f"{command} {tool} {options}: {name}", (result.returncode, result.stdout),
           (0, wanted.stdout))
    expect(f"{command} {tool} {options}: {name}: --check",
           result.stderr.endswith(b"lines: as by a merge\n"), True)


def check_comm(command, folder, inputs, calls):
    for name, data in inputs.items():
        paths = write(folder, [sorted_by(contents, b"", 0) for contents in data])
        for options in calls:
            check_as("comm", command, options, paths, name)


def check_join(command, folder, inputs, forms, which, each):
    """`each` of `which`, in turns, which must not meet the same forms again and again: eight of the
    former and eleven of the latter do not."""
    turns = itertools.cycle(which)
    for (name, data), (form, *fields) in itertools.product(inputs.items(), forms):
        if name == "all headers" and form != ["-t", ""]:
            continue  # Pairs of lines that begin with the same word: gigabytes.
        separator = separator_of(form)
        paths = write(folder, [sorted_by(contents, separator, field)
                               for contents, field in zip(data, fields)])
        for options in itertools.islice(turns, each):
            check_as("join", command, [*form, *options], paths, name)


def check_collisions(command, folder, inputs, names, every_bits):
    """Lines with one hash are told apart by their bytes."""
    for name, bits in itertools.product(names, every_bits):
        few = [*command, f"--hash-bits={bits}"]
        check_comm(few, folder, {name: inputs[name]}, [[], ["-12"]])
        check_join(few, folder, {name: inputs[name]}, [([], 0, 0)], [["-a1", "-a2"], ["-v2"]], 2)


def check_unsorted(command, folder):
    for data, wrong in (((b"b\na\n", b"a\n"), b"first:2: is not sorted"),
                        ((b"a\n", b"a\nc\nb\n"), b"second:3: is not sorted")):
        paths = write(folder, data)
        for tool in ("join", "comm"):
            result = run([*command, tool, *paths])
            expect(f"{tool}: unsorted", (result.returncode, result.stdout), (1, b""))
            expect(f"{tool}: unsorted: message", wrong in result.stderr, True)


def check_bad_calls(program, folder):
    files = [__file__, __file__]
    testing.check_rejected(
        program, [], ["join"], ["join", __file__], ["comm", *files, __file__], ["sort", *files],
        ["join", "-3", "1", *files], ["join", "-1", "0", *files], ["join", "-1", *files],
        ["join", "-a3", *files], ["join", "-t::", *files], ["join", "-1x", *files],
        ["comm", "-4", *files], ["--device=tpu", "comm", *files], ["--hash-bits=65", "comm", *files],
        ["--check=1", "comm", *files], ["comm", "--", __file__],
        ["comm", "--all", *files])
    small = folder / "small"
    small.write_bytes(b"a\nb\n")
    for arguments in (["comm", small], ["join", "-a1", small]):
        testing.check_bad_files(program, folder, *arguments)
        testing.check_full_disk(program, *arguments, small)
    return small


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    if not testing.has_gnu_tools(comm="GNU coreutils", join="GNU coreutils"):
        return
    made, real = made_inputs(), real_inputs()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        small = check_bad_calls(program, folder)
        for device in testing.devices(program, "comm", small, small):
            command = [program, f"--device={device}"]
            before = testing.checks
            if device == "host":
                check_comm(command, folder, {**made, **real}, COMM_CALLS)
                check_join(command, folder, {**made, **real}, FORMS, WHICH, 1)
                check_collisions(command, folder, made,
                                 ("blanks", "prefixes", "nuls", "few-keys", "colon-table"),
                                 (0, 1, 4))
            else:  # Each call of a GPU takes a third of a second.
                few = {name: data for name, data in [*made.items()][::4]}
                check_comm(command, folder, {**few, **real}, COMM_CALLS[:1])
                check_join(command, folder, {**few, **real}, FORMS[::4], WHICH, 1)
                check_collisions(command, folder, made, ("prefixes", "few-keys"), (0,))
            check_unsorted(command, folder)
            print(f"{device}: {testing.checks - before} checks on {len(made) + len(real)} pairs of "
                  "files")
    testing.finish()


if __name__ == "__main__":
    main()
