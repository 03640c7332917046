#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports about a program that was built as a user's name the lines of its source, and gdb knows the
built-in variables.

The argument after the program says what to look for: `check`, `plain` or `gdb`. A line that a report
is to name ends in `// fault: NAME`.
"""

import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_name("user_program.cu")
SKIPPED = 77


def fail(message, text):
    sys.exit(f"{message}:\n{text}")


def run(command):
    environment = {**os.environ, "STRATA_SIMT_HANG_SECONDS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment, check=False)
    return done.returncode, done.stdout


def place(fault):
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if line.endswith(f"// fault: {fault}"):
            return f" at {SOURCE.name}:{number}\n"
    sys.exit(f"no line is marked {fault}")


def expect_report(program, kernel, kind):
    code, text = run([program, kernel])
    if code == 0 or f"SIMT ERROR [{kind}] kernel {kernel}: " not in text:
        fail(f"{kernel} is not reported as {kind}", text)
    if place(kernel) not in text:
        fail(f"the report of {kernel} does not say{place(kernel).rstrip()}", text)


def expect_breakpoint(program):
    gdb = shutil.which("gdb")
    if gdb is None:
        print("there is no gdb")
        sys.exit(SKIPPED)
    commands = ["set confirm off", "set pagination off",
                "break row_sums if threadIdx.x == 5 && blockIdx.x == 2", "run", "print threadIdx.x",
                "print blockIdx.x", "print blockDim.x", "print gridDim.x", "up", "delete",
                "continue"]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    _, text = run([gdb, "-batch", "-nx", *arguments, program])
    if "ptrace" in text:
        print(f"gdb cannot run a program here: {text}")
        sys.exit(SKIPPED)
    lines = text.splitlines()
    for expected in ["$1 = 5", "$2 = 2", "$3 = 64", "$4 = 4", "no error"]:
        if expected not in lines:
            fail(f"gdb does not print {expected}", text)


def main():
    program, what = sys.argv[1:]
    if what == "gdb":
        expect_breakpoint(program)
        return
    if what == "check":
        expect_report(program, "race", "global-race")
        expect_report(program, "store", "host-memory")
    else:
        expect_report(program, "store", "segmentation-fault")
        expect_report(program, "spin_at_barriers", "hang")
    expect_report(program, "spin", "hang")


if __name__ == "__main__":
    main()
