#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/words_in_common with the machine's tr, sort, uniq, comm and join.

    words_in_common_test.py <path of the program>
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

# A word a line. Each file's last word ends with the file.
WORDS = r"for file; do tr -s ' \t\v\f\r' '\n' < ""\"$file\""r"; echo; done | grep -a . | sort"
COUNTED = r" | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)$/\2 \1/'"


# ------------------------------------------------------------------------------ what is right
def count(paths):
    return collections.Counter(word for path in paths
                               for word in re.findall(rb"[^ \t\n\v\f\r]+", path.read_bytes()))


def model(first, second):
    """(word, how often in either set) of the words in common, in order."""
    counts = count(first), count(second)
    return [(word, counts[0][word], counts[1][word]) for word in sorted(counts[0].keys() &
                                                                       counts[1].keys())]


def tools(folder, first, second, how, command):
    """Standard output of a tool for two files: the words of both sets."""
    files = folder / "words of first", folder / "words of second"
    for file, paths in zip(files, (first, second)):
        file.write_bytes(run(["sh", "-c", WORDS + how, "sh", *paths]).stdout)
    return run([*command, *files]).stdout


# ------------------------------------------------------------------------------ inputs
def made_inputs():
    rng = random.Random(20261122)
    text = b"the quick brown fox\n\njumps\tover  the lazy dog. \r\n\v\fThe end\n"

    def mix(alphabet, length):
        return bytes(rng.choices(alphabet, k=length))

    return {
        "empty": b"",
        "no-words": b" \t\n\v\f\r" * 2000,
        "one-word": b"word",
        "small": text,
        "no-final-newline": text + b"and the last",
        "one-of-each": b" ".join(b"%d" % i for i in range(9000)),
        "odd-ones": b" ".join(b"%d" % i for i in range(1, 18000, 2)),
        "one-for-all": b"word\n" * 30000,
        "prefixes": b"a aa aaa a\0 aaaa a\0\0 aa " * 100,
        "other-prefixes": b"a\0 aaaaa aa b ",
        "every-byte": b"".join(b"a%cb " % byte for byte in range(256)),
        "utf-8": "Grüße aus Köln, 東京\u00a0und\u2003Ελλάδα – 5 €\n".encode() * 10,
        "noise": mix(range(256), 30000),
        "other-noise": mix(range(256), 30000),
        "many-words": mix(b"ab \n", 60000),
        "other-words": mix(b"abc \n", 60000),
        "a name with: 'blanks": b"12 34 5\n",
    }


def made_pairs(folder):
    names = [*made_inputs()]
    pairs = [((names[i],), (names[i + 1],)) for i in range(len(names) - 1)]
    pairs += [((name,), (name,)) for name in ("empty", "one-word", "one-for-all", "noise")]
    pairs += [(("noise",), ("other-noise",)), (("one-word", "small"), ("one-for-all", "utf-8")),
              (("one-of-each", "empty"), ("a name with: 'blanks", "small", "one-of-each")),
              (("no-final-newline", "no-final-newline"), ("one-word", "small", "small"))]
    return [tuple([folder / name for name in names] for names in pair) for pair in pairs]


def real_pairs():
    """The project's documents, its headers, its tests."""
    headers, documents = testing.headers(), testing.documents()
    tests = sorted((testing.PROJECT / "tests").glob("**/*.cu"))
    return testing.some([(headers, documents), ([testing.PROJECT / "README.md"], [testing.PROJECT / "LICENSE"]),
                         (headers, tests), (headers[::2], headers[1::2])], 3)


# ------------------------------------------------------------------------------ checks
def check_pair(command, folder, first, second, has_tools):
    wanted = model(first, second)
    words = b"".join(b"%s\n" % word for word, *_ in wanted)
    counts = b"".join(b"%s %d %d\n" % row for row in wanted)
    name = f"{[path.name for path in first][:3]} with {[path.name for path in second][:3]}"
    if has_tools:
        expect(f"{name}: comm", tools(folder, first, second, " -u", ["comm", "-12"]), words)
        expect(f"{name}: join", tools(folder, first, second, COUNTED, ["join", "-t", " "]), counts)
    for options, output in (([], words), (["--counts"], counts)):
        result = run([*command, "--check", *options, *first, "--with", *second])
        expect(f"{command} {options}: {name}", (result.returncode, result.stdout), (0, output))
        expect(f"{name}: --check", result.stderr.endswith(b" words: as by maps\n"), True)
        expect(f"{name}: no hash twice", b"again" in result.stderr, False)


def check_collisions(command, pairs):
    """With so few bits different words have one hash, and must be told apart."""
    for (first, second), every_bits in pairs:
        wanted = b"".join(b"%s %d %d\n" % row for row in model(first, second))
        for bits in every_bits:
            result = run([*command, f"--hash-bits={bits}", "--counts", *first, "--with", *second])
            expect(f"{bits} bits: {[path.name for path in first + second]}",
                   (result.returncode, result.stdout), (0, wanted))
            expect(f"{bits} bits: collisions", re.search(rb"words were hashed again\n",
                                                         result.stderr) is not None, True)


def check_bad_calls(program, folder):
    testing.check_rejected(program, [], ["x"], ["x", "--with"], ["--with", "x"],
                           ["--hash-bits=65", "x", "--with", "x"],
                           ["--hash-bits=", "x", "--with", "x"],
                           ["--device=tpu", "x", "--with", "x"], ["--all", "x", "--with", "x"],
                           ["--check=1", "x", "--with", "x"])
    testing.check_bad_files(program, folder, __file__, "--with")
    testing.check_full_disk(program, __file__, "--with", __file__)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    has_tools = testing.has_gnu_tools(comm="GNU coreutils", join="GNU coreutils", grep="GNU grep",
                                      sed="GNU sed")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, data in made_inputs().items():
            (folder / file).write_bytes(data)
        check_bad_calls(program, folder)
        for device in testing.devices(program, __file__, "--with", __file__):
            command = [program, f"--device={device}"]
            before = testing.checks
            # Each call of a GPU takes a third of a second.
            made = made_pairs(folder)[::1 if device == "host" else 4]
            for pair in [*made, *real_pairs()]:
                check_pair(command, folder, *pair, has_tools and device == "host")
            check_collisions(command, [
                (([folder / "small"], [folder / "no-final-newline"]), (0, 1)),
                (([folder / "prefixes"], [folder / "other-prefixes"]), (0,)),
                (([folder / "odd-ones"], [folder / "one-of-each"]), (2, 12)),
                (([folder / "many-words"], [folder / "other-words"]), (5,))])
            print(f"{device}: {testing.checks - before} checks on {len(made)} pairs of made files "
                  f"and {len(real_pairs())} of the project's")
    testing.finish()


if __name__ == "__main__":
    main()
