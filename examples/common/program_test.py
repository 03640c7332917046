#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the rules that all programs of the examples keep: help, wrong calls, files, standard input, progress.

    program_test.py <path of a program>...
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from testing import C_LOCALE, expect, finish, run

TEXT = b"a 1\nb 2\nb 3\n" * 25  # three sorted records of sort_file, too

# Name -> a right call, where FILE stands for a file.
CALLS = {
    "wc": ["FILE"],
    "wordcount": ["FILE"],
    "orders": ["--line-items=1000"],
    "gemm": ["20"],
    "radix_steps": ["--keys=100"],
    "bank_conflicts": [],
    "join_strategies": ["--build-rows=300", "--probe-rows=500"],
    "sort_file": ["--validate", "FILE"],
    "jit": ["--ptx"],  # where NVRTC is found
}
# What reads no file works longer than a second, where it can.
LONG_CALLS = {"orders": ["--device=host", "--repeat=60"], "gemm": ["2500", "700"],
              "radix_steps": ["--keys=250000"], "join_strategies": ["--probe-rows=800000"]}
# One back end is built into each of these.
WITHOUT_DEVICE_OPTION = ("gemm", "radix_steps", "bank_conflicts", "join_strategies", "jit")


class Program:
    def __init__(self, path, name, call):
        self.path = path
        self.name = name
        self.call = call
        self.reads = "FILE" in call

    def command(self, folder, file):
        """Not through a shell; on the host, as far as the program has a choice."""
        device = [] if self.name in WITHOUT_DEVICE_OPTION else ["--device=host"]
        return [self.path, *device, *(file if word == "FILE" else word for word in self.call)]


def check_help(program):
    result = run([program.path, "--help"])
    expect(f"{program.name} --help: exit status", (result.returncode, result.stderr), (0, b""))
    expect(f"{program.name} --help: names itself",
           result.stdout.startswith(f"Usage: {program.name} ".encode()), True)
    for word in (b"--help", b"Exit status: 0, 1 if the call is wrong"):
        expect(f"{program.name} --help: says {word}", word in result.stdout, True)
    expect(f"{program.name} --help: lines of 100 characters",
           [line for line in result.stdout.splitlines() if len(line) > 100], [])
    if pathlib.Path("/dev/full").exists():
        with open("/dev/full", "wb") as sink:
            result = run([program.path, "--help"], stdout=sink)
        expect(f"{program.name} --help: full disk", (result.returncode, result.stderr),
               (1, f"{program.name}: write error: No space left on device\n".encode()))


def check_wrong_options(program):
    hint = f"Try '{program.name} --help' for more information.\n"
    wrong = {"--no-such-option": "unrecognized option '--no-such-option'",
             "--no-such=1": "unrecognized option '--no-such=1'",
             "-Z": "invalid option -- 'Z'",
             "--help=1": "option '--help' doesn't allow an argument"}
    if program.name not in WITHOUT_DEVICE_OPTION:
        wrong["--device=tpu"] = "invalid argument 'tpu' for '--device'"
        wrong["--device"] = "option '--device' requires an argument"
    for option, message in wrong.items():
        result = run([program.path, option])
        expect(f"{program.name} {option}", (result.returncode, result.stdout, result.stderr.decode()),
               (1, b"", f"{program.name}: {message}\n{hint}"))


def check_files(program, folder):
    for file, shown, error in ((folder / "missing", folder / "missing", "No such file or directory"),
                               (folder, folder, "Is a directory")):
        result = run(program.command(folder, file))
        expect(f"{program.name}: {error}: exit status", result.returncode, 1)
        expect(f"{program.name}: {error}: message",
               f"{program.name}: {shown}: {error}\n".encode() in result.stderr, True)
    descriptor = os.open(folder, os.O_RDONLY)
    result = run(program.command(folder, "-"), stdin=descriptor)
    os.close(descriptor)
    expect(f"{program.name}: a folder as standard input",
           (result.returncode, f"{program.name}: standard input: Is a directory\n".encode() in result.stderr),
           (1, True))


def check_standard_input(program, folder):
    """What is read from - is what is read from a file, but for its name."""
    file = str(folder / "file")
    wanted = run(program.command(folder, file)).stdout
    expect(f"{program.name}: has output", wanted != b"", True)
    result = run(program.command(folder, "-"), input=TEXT)
    if program.name == "wc":  # aligns columns by the size of the file, which a pipe does not tell
        result.stdout, wanted = b" ".join(result.stdout.split()), b" ".join(wanted.split())
    expect(f"{program.name} -", (result.returncode, result.stdout),
           (0, wanted.replace(file.encode(), b"-")))


def on_terminal(command, until=None):
    """What a program writes to a terminal on standard error, its standard input open until it has written that.

    Otherwise the standard input is empty: a program that does not read it may end before a pipe is written.
    """
    ours, theirs = os.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL if until is None else subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=theirs, env=C_LOCALE)
    os.close(theirs)
    if until is not None:
        process.stdin.write(TEXT)
        process.stdin.flush()
        never = threading.Timer(300, process.stdin.close)
        never.start()
    written = b""
    try:
        while piece := os.read(ours, 4096):
            written += piece
            if until is not None and re.search(until, written):
                process.stdin.close()
    except OSError:  # The program has ended.
        pass
    if until is not None:
        never.cancel()
    os.close(ours)
    expect(f"{command}: on a terminal", process.wait(), 0)
    return written.replace(b"\r\n", b"\n")


def check_progress(program, folder):
    short_call = program.command(folder, folder / "file")
    begin = time.monotonic()
    has_progress = b"\r" in on_terminal(short_call)
    # On a busy machine short work is long.
    expect(f"{program.name}: no progress of short work", has_progress and time.monotonic() - begin < 1, False)
    if program.reads:
        long_call, step = program.command(folder, "-"), "ing standard input, [0-9]+ s"
    elif program.name in LONG_CALLS:
        long_call, step = [program.path, *LONG_CALLS[program.name]], "ing.*, [0-9]+ s"
    else:
        return
    if program.name == "orders":
        expect(f"{program.name}: no progress without a terminal", b"\r" in run(long_call).stderr, False)
    line = rf"\r{program.name}: [^\r\n]*{step} *\r".encode()
    written = on_terminal(long_call, line if program.reads else None)
    expect(f"{program.name}: progress of long work", re.search(line, written) is not None, True)
    expect(f"{program.name}: progress is taken away",
           re.search(rb"\r {79}\r[^\r]*\Z", written) is not None, True)


def main():
    paths = {pathlib.Path(path).name.removesuffix("_simt"): str(pathlib.Path(path).resolve())
             for path in sys.argv[1:]}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "file").write_bytes(TEXT)
        for name, call in CALLS.items():
            if name == "jit" and name not in paths:
                continue
            program = Program(paths[name], name, call)
            check_help(program)
            check_wrong_options(program)
            if program.reads:
                check_files(program, folder)
                check_standard_input(program, folder)
            check_progress(program, folder)
    print("not checked here:", *sorted(set(paths) - set(CALLS)))
    finish()


if __name__ == "__main__":
    main()
