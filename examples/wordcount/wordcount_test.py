#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/wordcount with the machine's `sort | uniq -c | sort -rn`, and with a model.

    wordcount_test.py <path of the program>
"""

import collections
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import testing
from testing import expect, run

EVERYTHING = 10**12
# A word a line, then what the program is said to do. Each file's last word ends with the file.
TOOLS = (r"for file; do tr -s ' \t\v\f\r' '\n' < ""\"$file\""r"; echo; done | grep -a . | "
         "sort | uniq -c | sort -rn")

# ------------------------------------------------------------------------------ what is right
def model(*texts):
    """All lines that the program prints, the most frequent word first."""
    counts = collections.Counter(word for text in texts
                                 for word in re.findall(rb"[^ \t\n\v\f\r]+", text))
    ordered = sorted(((count, word) for word, count in counts.items()), reverse=True)
    return [b"%7d %s\n" % pair for pair in ordered]


def tools(*paths):
    """The same from the machine's tools."""
    return run(["sh", "-c", TOOLS, "sh", *paths]).stdout.splitlines(keepends=True)


# ------------------------------------------------------------------------------ inputs
def nasty_inputs():
    """Name -> contents of files that programs like this one get wrong."""
    rng = random.Random(20261122)
    text = b"the quick brown fox\n\njumps\tover  the lazy dog. \r\n\v\fThe end\n"

    def mix(alphabet, count):
        return bytes(rng.choices(alphabet, k=count))

    inputs = {
        "empty": b"",
        "one-newline": b"\n",
        "no-words": b" \t\n\v\f\r" * 2000,
        "one-word": b"word",
        "one-letter": b"w\n",
        "small": text,
        "no-final-newline": text + b"and the last",
        "begins-with-blanks": b"\n\n \n" + text,
        "one-of-each": b" ".join(b"%d" % i for i in range(30000)),
        "one-for-all": b"word\n" * 100000,
        "rare-among-many": b"many " * 50000 + b"rare " + b"many " * 50000,
        "equally-many": b"ab cd\nef gh " * 3000,
        "as-many-as-the-last": b" ".join(b"%d" % (i % 100) for i in range(1000)),
        "prefixes": b"a aa aaa a\0 aaaa a\0\0 aa " * 100,
        "case": b"Word word WORD wOrd word",
        "every-byte": b"".join(b"a%cb " % byte for byte in range(256)),
        "utf-8": "Grüße aus Köln, 東京\u00a0und\u2003Ελλάδα – 5 €\n".encode() * 10,
        "nuls": b"\0" * 5000 + b" \0 \0\n\0",
        "noise": mix(range(256), 100000),
        "many-words": mix(b"ab \n", 200000),
        "one-huge-word": b"w" * 300000 + b" " + b"w" * 300000 + b" " + b"w" * 299999,
        "looks-like-counts": b"      3 word\n12 12 3e4 -1 ,5\n",
        "a name with: 'blanks": b"12 34 5\n",
    }
    for size in (31, 32, 33, 1023, 1024, 1025, 4096, 4097, 16384, 16385, 65537):
        inputs[f"words-{size}"] = b" ".join(b"%d" % int(rng.expovariate(0.01))
                                            for _ in range(size))
    return inputs


# ------------------------------------------------------------------------------ checks
def check_output(command, paths, wanted):
    result = run([*command, *paths])
    expect(f"{command} of {[path.name for path in paths]}", (result.returncode, result.stdout),
           (0, b"".join(wanted)))
    return result


def check_inputs(command, folder, inputs, has_tools):
    for name, data in inputs.items():
        path = folder / name
        path.write_bytes(data)
        wanted = model(data)
        if has_tools:
            expect(f"{name}: the machine's tools", tools(path), wanted)
        result = check_output(command, [path], wanted[:50])
        expect(f"{command}: no hash of {name} twice", b"again" in result.stderr, False)
        check_output([*command, f"--top={EVERYTHING}"], [path], wanted)


def check_top(command, path):
    wanted = model(path.read_bytes())
    for count in (0, 1, 2, 10, 49, 51, len(wanted) - 1, len(wanted), len(wanted) + 1):
        check_output([*command, f"--top={count}"], [path], wanted[:count])


def check_several(command, folder, has_tools):
    """Words end with their file, but are counted in all of them."""
    for names in (("one-word", "one-word"), ("empty", "no-words"), ("empty", "one-word", "empty"),
                  ("no-final-newline", "small", "no-final-newline", "utf-8", "noise")):
        paths = [folder / name for name in names]
        wanted = model(*(path.read_bytes() for path in paths))
        if has_tools:
            expect(f"{names}: the machine's tools", tools(*paths), wanted)
        check_output([*command, f"--top={EVERYTHING}"], paths, wanted)


def check_collisions(command, folder):
    """With so few bits different words have one hash, and must be told apart."""
    for name, every_bits in (("small", (0, 1, 2)), ("one-for-all", (0,)), ("empty", (0,)),
                             ("prefixes", (0, 1)), ("as-many-as-the-last", (0, 1, 2, 5)),
                             ("words-16385", (2, 4, 8, 16)), ("every-byte", (3, 8))):
        path = folder / name
        wanted = model(path.read_bytes())
        for bits in every_bits:
            result = check_output([*command, f"--hash-bits={bits}", f"--top={EVERYTHING}"], [path],
                                  wanted)
            if 2**bits < len(wanted):
                expect(f"{name}: collisions in {bits} bits",
                       re.search(rb"\nwordcount: \d+ words were hashed again\n", result.stderr)
                       is not None, True)


def check_pipe(command, data):
    """A pipe gives its bytes in portions, and cannot tell its size."""
    result = run([*command, "/dev/stdin"], input=data)
    expect(f"{command}: piped", result.stdout, b"".join(model(data)[:50]))


def check_bad_calls(program, folder):
    testing.check_rejected(program, [], ["--top=5"], ["--top=x", "x"], ["--top=-1", "x"],
                           ["--top=", "x"], ["--top", "x"], ["--hash-bits=65", "x"],
                           ["--hash-bits=-1", "x"], ["--hash-bits=8x", "x"], ["--device=tpu", "x"],
                           ["--all", "x"])
    testing.check_bad_files(program, folder, __file__)
    testing.check_full_disk(program, __file__)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    nasty, real = nasty_inputs(), testing.documents_and_headers()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_bad_calls(program, folder)
        for device in testing.devices(program, __file__):
            command = [program, f"--device={device}"]
            before = testing.checks
            has_tools = device == "host" and testing.has_gnu_tools(
                grep="GNU grep", sort="GNU coreutils", uniq="GNU coreutils")
            check_inputs(command, folder, {**nasty, **real}, has_tools)
            check_top(command, folder / "as-many-as-the-last")
            check_top(command, folder / "words-1025")
            check_several(command, folder, has_tools)
            check_collisions(command, folder)
            check_pipe(command, nasty["many-words"])
            print(f"{device}: {testing.checks - before} checks on {len(nasty)} made files and {len(real)} "
                  "of the project's")
    testing.finish()


if __name__ == "__main__":
    main()
