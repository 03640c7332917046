#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/lines with the machine's `grep` and `awk`, and with a model of it in Python.

    lines_test.py <path of the program>
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

EVERYTHING = 10**12
# awks differ in what separates words beside blank, tab and newline, and in what they do with NUL and
# with bytes that are not ASCII: they are shown blanks and letters instead.
PLAIN = r"tr '\t\v\f\r\0\200-\377' '    [x*]' < {} | "
TOOLS = {
    "offsets": "grep -ab '' {} | cut -d: -f1",
    "words": PLAIN + "awk '{{ print NF }}'",
    "totals": PLAIN + "awk '{{ total += NF; printf \"%d\\n\", total }}'",
    "longest": "grep -abo '[^[:space:]]*' {}",
}

# ------------------------------------------------------------------------------ what is right
def printed(numbers):
    return b"".join(b"%d\n" % number for number in numbers)


def printed_longest(words, wanted):
    """Of (offset, word) pairs in the order of the text."""
    longest = sorted(words, key=lambda pair: -len(pair[1]))[:wanted]
    return b"".join(b"%d %d %s\n" % (len(word), offset, word) for offset, word in longest)


def model(data):
    """Verb -> what the program prints; of `longest` all words, to choose from."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    lengths = [len(line) + 1 for line in lines]
    words = [len(line.split()) for line in lines]
    return {"offsets": printed(itertools.accumulate([0] + lengths[:-1]) if lines else []),
            "words": printed(words),
            "totals": printed(itertools.accumulate(words)),
            "longest": [(found.start(), found[0])
                        for found in re.finditer(rb"[^ \t\n\v\f\r]+", data)]}


def tools(path):
    """The same from the machine's tools."""
    found = {verb: run(command.format(path), shell=True).stdout for verb, command in TOOLS.items()}
    pairs = [pair.partition(b":") for pair in found["longest"].split(b"\n")[:-1]]
    found["longest"] = [(int(offset), word) for offset, _, word in pairs]
    return found


# ------------------------------------------------------------------------------ inputs
def nasty_inputs():
    """Name -> contents of files that programs like this one get wrong."""
    rng = random.Random(20261121)
    text = b"The quick brown fox\n\njumps\tover  the lazy dog. \r\n\v\fdone\n"

    def mix(alphabet, count):
        return bytes(rng.choices(alphabet, k=count))

    inputs = {
        "empty": b"",
        "one-byte": b"x",
        "one-newline": b"\n",
        "one-blank": b" ",
        "only-newlines": b"\n" * 10000,
        "only-blanks": b" \t\v\f\r" * 2000,
        "small": text,
        "no-final-newline": text + b"and the longest-of-all-words",
        "ends-with-blank": text + b"end ",
        "begins-with-newlines": b"\n\n\n" + text,
        "crlf": text.replace(b"\n", b"\r\n") * 100,
        "every-byte": b"".join(b"a%cb " % byte for byte in range(256)),
        "equally-long": b"ab cd\nef gh " * 3000,
        "utf-8": "Grüße aus Köln, 東京\u00a0und\u2003Ελλάδα – 5 €\n".encode() * 10,
        "nuls": b"\0" * 5000 + b" \0 \0\n\0",
        "noise": mix(range(256), 100000),
        "many-words": mix(b"ab \n", 200000),
        "few-words": mix(b"\n" * 50 + b"a", 100000),
        "one-huge-line": b"some words " * 30000,
        "one-huge-word": b"w" * 300000,
        "huge-line-between": b"a b\n" * 5000 + b"c d " * 50000 + b"\n" + b"\ne" * 5000,
        "longer-and-longer": b" ".join(b"x" * length for length in range(400)),
        "a:name with: blanks": b"12:34 :5\n:\n",
    }
    for size in (31, 32, 33, 1023, 1024, 1025, 4095, 4096, 4097, 16384, 65537):
        inputs[f"size-{size}"] = mix(b"abc  \n", size)
    return inputs


# ------------------------------------------------------------------------------ checks
def check_inputs(command, folder, inputs, has_tools):
    for name, data in inputs.items():
        path = folder / name
        path.write_bytes(data)
        wanted = model(data)
        if has_tools:
            for verb, found in tools(f"'{path}'").items():
                expect(f"{name}: {verb} of the machine's tools", found, wanted[verb])
        for verb in ("offsets", "words", "totals"):
            result = run([*command, verb, path])
            expect(f"{command}: {verb} of {name}", (result.returncode, result.stdout),
                   (0, wanted[verb]))
        for count in (3, EVERYTHING):
            result = run([*command, "longest", str(count), path])
            expect(f"{command}: longest {count} of {name}", (result.returncode, result.stdout),
                   (0, printed_longest(wanted["longest"], count)))


def check_longest(command, path, data):
    words = model(data)["longest"]
    for count in (0, 1, 2, 10, len(words) - 1, len(words), len(words) + 1):
        result = run([*command, "longest", str(count), path])
        expect(f"{command}: longest {count} of {len(words)}", result.stdout,
               printed_longest(words, count))


def check_pipe(command, data):
    """A pipe gives its bytes in portions, and cannot tell its size."""
    result = run([*command, "words", "/dev/stdin"], input=data)
    expect(f"{command}: piped", result.stdout, model(data)["words"])


def check_bad_calls(program, folder):
    testing.check_rejected(program, [], ["words"], ["count", "x"], ["words", "x", "y"],
                           ["longest", "x"], ["longest", "1x", "x"], ["longest", "-1", "x"],
                           ["--device=tpu", "words", "x"])
    testing.check_bad_files(program, folder, "words")
    testing.check_full_disk(program, "words", __file__)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    nasty, real = nasty_inputs(), testing.documents_and_headers()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_bad_calls(program, folder)
        for device in testing.devices(program, "words", __file__):
            command = [program, f"--device={device}"]
            before = testing.checks
            has_tools = device == "host" and testing.has_gnu_tools(
                grep="GNU grep", tr="GNU coreutils", awk="")
            check_inputs(command, folder, {**nasty, **real}, has_tools)
            check_longest(command, folder / "longer-and-longer", nasty["longer-and-longer"])
            check_longest(command, folder / "equally-long", nasty["equally-long"])
            check_pipe(command, nasty["one-huge-line"])
            print(f"{device}: {testing.checks - before} checks on {len(nasty)} made files and {len(real)} "
                  "of the project's")
    testing.finish()


if __name__ == "__main__":
    main()
