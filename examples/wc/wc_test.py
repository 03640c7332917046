#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/wc with the machine's `wc` and `awk`, and with a model of both in Python.

    wc_test.py <path of the program>

`wc` says what standard output, standard error and the exit status must be, `awk` which line is the
longest. The model stands in where those differ between machines: coreutils' idea of a word depends
on its version, awks disagree on NUL bytes, and neither gives the offset of a line.
"""

import os
import pathlib
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import testing
from testing import PROJECT, expect, run

LICENCES = pathlib.Path("/usr/share/common-licenses")
BANNER = re.compile(rb"^wc: (?:no CUDA device, |built without nvcc, )?running on .+\n")
LONGEST = re.compile(
    rb"longest line: (?:none|(\d+) bytes, at (.*):(\d+) \(byte (\d+)\)\n  (.*))\n\Z", re.DOTALL)
NOT_IN_WORDS = bytes(b for b in range(256) if not 32 <= b < 127 and b not in b"\t\n\v\f\r")
RULES = ("printable", "any")


class Program:
    """The program under test, on one device."""

    def __init__(self, path, device):
        self.command = [path, f"--device={device}"]
        self.device = device

    def run(self, *arguments, **streams):
        return run(self.command + list(arguments), **streams)


# ------------------------------------------------------------------------------ the model
def model_counts(data, rule):
    words = data if rule == "any" else data.translate(None, NOT_IN_WORDS)
    return [data.count(b"\n"), len(words.split()), len(data)]


def model_longest(data):
    """(length, number, offset, shown) of the first of the longest lines, or None."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        return None
    index = max(range(len(lines)), key=lambda i: (len(lines[i]), -i))
    line = lines[index]
    shown = bytes(b if 32 <= b < 127 else ord("?") for b in line[:72])
    return (len(line), index + 1, sum(len(before) + 1 for before in lines[:index]),
            shown + (b"..." if len(line) > 72 else b""))


def found_longest(output):
    """The same, and the file, as the program prints them."""
    match = LONGEST.search(output)
    if match is None:
        return "no longest line printed"
    if match[1] is None:
        return None
    return (int(match[1]), int(match[3]), int(match[4]), match[5]), match[2]


# ------------------------------------------------------------------------------ inputs
def write_inputs(folder):
    """Name -> contents of files that programs like this one get wrong."""
    rng = random.Random(20260101)
    text = b"The quick brown fox\n\njumps\tover  the lazy dog. \r\n\v\fdone\n"

    def noise(count):
        return bytes(rng.randrange(256) for _ in range(count))

    def lines(count, longest):
        return b"".join(b"x" * rng.randrange(longest) + b"\n" for _ in range(count))

    inputs = {
        "empty": b"",
        "one-byte": b"x",
        "one-newline": b"\n",
        "one-blank": b" ",
        "only-newlines": b"\n" * 1000,
        "only-blanks": b" \t" * 100,
        "small": text,
        "no-final-newline": text + b"and one line more, the longest of them",
        "crlf": text.replace(b"\n", b"\r\n"),
        "equally-long": b"ab\ncd\nef\ngh",
        "longest-first": b"x" * 40 + b"\n" + b"y\n" * 20,
        "utf-8": "Grüße aus Köln, 東京\u00a0und Ελλάδα – 5 €\n".encode() * 10,
        "neutral-bytes": b"a\0b \0 c\x01\n\x7f\xff \x80d\0\n",
        "noise": noise(1500),
        "big-noise": noise(100000),
        "nuls": b"\0" * 5000,
        "long-words": b"w" * 700 + b" " + b"w" * 900,
        "many-lines": lines(5000, 100),
        "one-long-line": b"word " * 20000,
        "long-line-between": lines(50, 60) + b"word " * 9000 + b"\n" + lines(50, 60),
        "long-line-at-end": lines(300, 60) + b"y" * 20001,
        "two-long-lines": b"a" * 12289 + b"\n" + b"b" * 12289 + b"\nc",
        "blank in its name": text,
    }
    for size in (15, 16, 17, 31, 32, 33, 4095, 4096, 4097, 8192):
        inputs[f"line-of-{size}"] = b"z" * (size - 1) + b"\nzz"
    for name, data in inputs.items():
        (folder / name).write_bytes(data)
    return inputs


def copy_real_text(folder):
    """Copies, so that nobody edits them between two countings. What they are -> relative names."""
    sources = {"the project's files": (PROJECT, [
        path for top in (".", "include", "tests", "examples", "benchmarks", "cmake")
        for path in sorted((PROJECT / top).glob("*" if top == "." else "**/*"))
        if "__pycache__" not in path.parts])}
    if LICENCES.is_dir():
        sources["the machine's licences"] = (LICENCES, sorted(LICENCES.iterdir()))
    else:
        print(f"skipped: {LICENCES} is not there")

    sets = {}
    for what, (top, paths) in sources.items():
        sets[what] = []
        for path in filter(pathlib.Path.is_file, paths):
            copy = folder / "real" / top.name / path.relative_to(top)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            sets[what].append(copy.relative_to(folder))
    return sets


# ------------------------------------------------------------------------------ checks
def check_banner(program):
    result = program.run("-c", input=b"")
    where = rb"the host SIMT back end" if program.device == "host" else rb"\S.*"
    if not re.fullmatch(rb"wc: running on " + where + rb"\n", result.stderr):
        expect(f"{program.device}: banner", result.stderr, "wc: running on ...")


def check_like_wc(program, rule, folder, *arguments, stdin=b"", redirected=None):
    """Standard output, standard error and exit status are those of the machine's wc."""
    def call(command):
        if redirected is None:
            return run(command, cwd=folder, input=stdin)
        with open(folder / redirected, "rb") as stream:
            return run(command, cwd=folder, stdin=stream)

    wanted = call(["wc", *arguments])
    got = call([*program.command, f"--word-bytes={rule}", *arguments])
    name = f"{program.device}: wc {' '.join(map(str, arguments))[:200]}"
    if redirected is not None:
        name += f" < {redirected}"
    expect(name, (got.returncode, BANNER.sub(b"", got.stderr), got.stdout),
           (wanted.returncode, wanted.stderr, wanted.stdout))


def check_like_model(program, path, data, *options):
    for rule in RULES:
        if rule == "any" and model_counts(data, "any") == model_counts(data, "printable"):
            continue
        result = program.run(f"--word-bytes={rule}", "--longest", *options, path)
        name = f"{program.device}: {path.name} {' '.join(options)} --word-bytes={rule}"
        longest = found_longest(result.stdout)
        expect(f"{name}: exit status", result.returncode, 0)
        expect(f"{name}: counts", [int(word) for word in result.stdout.split()[:3]],
               model_counts(data, rule))
        expect(f"{name}: longest line", longest[0] if longest else None, model_longest(data))


def check_like_awk(program, folder, files):
    """awk and the program name the same line of several files."""
    script = ("length($0) > longest || !seen { longest = length($0); seen = 1; "
              "where = FILENAME \":\" FNR } END { print longest \" \" where }")
    wanted = run(["awk", script, *files], cwd=folder).stdout.strip()
    found = found_longest(program.run("--longest", *files, cwd=folder).stdout)
    name = f"{program.device}: longest line of {len(files)} files, the first {files[0]}"
    expect(name, b"%d %s:%d" % (found[0][0], found[1], found[0][1]) if found else b"", wanted)


def check_inputs(program, folder, inputs, chunk_sizes):
    for name, data in inputs.items():
        check_like_model(program, folder / name, data)
        for chunk in chunk_sizes:
            # A chunk costs a few kernel launches.
            if chunk < len(data) <= 300 * chunk:
                check_like_model(program, folder / name, data, f"--chunk-bytes={chunk}")


def check_files_like_wc(program, rule, folder, inputs):
    def same(*arguments, **keywords):
        check_like_wc(program, rule, folder, *arguments, **keywords)

    same(*inputs)
    same("small")
    same("empty")
    same("empty", "empty")
    same("small", "missing", "noise")
    same("missing")
    same("-l", "missing")
    same("missing", "many-lines")
    same("missing", "missing")
    same(".")
    same("small", ".", "many-lines")
    same("small", "-", "many-lines", stdin=b"piped text\n")
    same("-", stdin=b"piped text\n")
    same(stdin=b"piped text\n")
    same(stdin=b"")
    same(stdin=inputs["big-noise"])
    same(redirected="many-lines")
    same("-", "small", redirected="many-lines")
    same("--", "-x")
    same("-x", "small")
    for options in ("-l", "-w", "-c", "-lw", "-cl", "-cw", "-lwc", "--lines", "--words", "--bytes"):
        same(options, "many-lines")
    for options in ("-l", "-w", "-c"):
        same(options, "many-lines", "small")
        same(options, stdin=b"piped text\n")
    same("small", "-l")


def check_stdin(program, inputs):
    """A pipe gives its bytes in portions, and cannot tell its size."""
    for name in ("one-long-line", "many-lines", "empty"):
        for options in ((), ("--chunk-bytes=70001",)):
            result = program.run("--longest", *options, input=inputs[name])
            longest = found_longest(result.stdout)
            expect(f"{program.device}: {name} piped {options}",
                   ([int(word) for word in result.stdout.split()[:3]], longest),
                   (model_counts(inputs[name], "printable"),
                    (model_longest(inputs[name]), b"-") if inputs[name] else None))


def check_longest_of_several(program, folder):
    names = [folder / name for name in ("small", "two-long-lines", "long-line-at-end", "empty")]
    found = found_longest(program.run("--longest", *names).stdout)
    expect(f"{program.device}: file of the longest line", found[1] if found else found,
           os.fsencode(folder / "long-line-at-end"))


def check_bad_calls(path):
    testing.check_rejected(path, ["--device=tpu"], ["--chunk-bytes=0"], ["--chunk-bytes=1x"],
                           ["--word-bytes=few"])
    testing.check_full_disk(path, __file__)


def word_rule_of_wc():
    """Since when is a control character a word? coreutils has had it both ways."""
    return RULES[int(run(["wc", "-w"], input=b"\1").stdout)]


def main():
    path = str(pathlib.Path(sys.argv[1]).resolve())
    has_wc = testing.has_gnu_tools(wc="GNU coreutils")
    has_awk = testing.has_gnu_tools(awk="")
    check_bad_calls(path)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        inputs = write_inputs(folder)
        sets = copy_real_text(folder)
        for device in testing.devices(path):
            program = Program(path, device)
            before = testing.checks
            check_banner(program)
            # The process start of CUDA takes a good part of a second.
            check_inputs(program, folder, inputs,
                         (1, 2, 16, 17, 100, 4096, 5000) if device == "host" else (17, 5000))
            check_stdin(program, inputs)
            check_longest_of_several(program, folder)
            for files in sets.values():
                if has_wc:
                    check_like_wc(program, word_rule_of_wc(), folder, *files)
                if has_awk:
                    check_like_awk(program, folder, files)
                    if device == "host":
                        for file in testing.some(files, 10):
                            check_like_awk(program, folder, [file])
            if has_wc:
                check_files_like_wc(program, word_rule_of_wc(), folder, inputs)
            print(f"{device}: {testing.checks - before} checks,",
                  ", ".join(f"{len(files)} of {what}" for what, files in sets.items()))
    testing.finish()


if __name__ == "__main__":
    main()
