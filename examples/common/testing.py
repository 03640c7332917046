# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the examples share: calls, comparisons, and what all programs do alike."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
C_LOCALE = {**os.environ, "LC_ALL": "C"}

checks = 0
failures = []


def expect(what, got, wanted):
    global checks
    checks += 1
    if got != wanted:
        failures.append(what)
        print(f"FAILED: {what}\n  got:    {str(got)[:500]}\n  wanted: {str(wanted)[:500]}")


def run(command, **keywords):
    """Without standard input, unless `stdin` or `input` say what it is."""
    defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if "input" not in keywords:
        defaults["stdin"] = subprocess.DEVNULL
    return subprocess.run(command, env=C_LOCALE, **{**defaults, **keywords})


def some(paths, step=4):
    """All of many paths where STRATA_TEST_FULL is in the environment, else one of `step`."""
    return paths if "STRATA_TEST_FULL" in os.environ else paths[::step]


def documents():
    """The project's documents."""
    return [PROJECT / "LICENSE", PROJECT / "README.md",
            *some([path for folder in ("include", "examples", "tests", "benchmarks")
                   for path in sorted((PROJECT / folder).glob("**/*.md"))])]


def headers():
    """The project's headers, the longest ones last."""
    return sorted((PROJECT / "include").glob("**/*.cuh"), key=lambda path: path.stat().st_size)


def documents_and_headers():
    """Name -> contents: the project's documents, its longest headers, and all headers in one."""
    inputs = {str(path.relative_to(PROJECT)).replace("/", "-"): path.read_bytes()
              for path in [*documents(), *some(headers()[-10:])]}
    inputs["all headers"] = b"".join(path.read_bytes() for path in sorted(headers()))
    return inputs


def has_gnu_tools(**tools):
    """Whether there are tools to compare with, for each of which there is a word of its version."""
    for tool, word in tools.items():
        if not shutil.which(tool) or word.encode() not in run([tool, "--version"]).stdout:
            print(f"skipped: there is no {word or tool} to compare with")
            return False
    return True


# ------------------------------------------------------------------------------ what all do alike
def check_rejected(program, *calls):
    """Calls that are wrong: a message, and how to get help."""
    name = pathlib.Path(program).name
    end = f"\nTry '{name} --help' for more information.\n".encode()
    for arguments in calls:
        result = run([program, *arguments])
        expect(f"{arguments}: rejected",
               (result.returncode, result.stdout, result.stderr.startswith(name.encode() + b": "),
                result.stderr.endswith(end)),
               (1, b"", True, True))


def check_bad_files(program, folder, *arguments):
    """`arguments` and one file are a right call."""
    for file, error in ((folder / "missing", b"No such file"), (folder, b"Is a directory")):
        result = run([program, "--device=host", *arguments, file])
        expect(f"{file}: exit status", (result.returncode, result.stdout), (1, b""))
        expect(f"{file}: message", error in result.stderr, True)


def check_full_disk(program, *arguments):
    if not pathlib.Path("/dev/full").exists():
        return
    with open("/dev/full", "wb") as sink:
        result = run([program, "--device=host", *arguments], stdout=sink)
    expect("full disk: exit status", result.returncode, 1)
    expect("full disk: message",
           f"{pathlib.Path(program).name}: write error: No space left".encode() in result.stderr,
           True)


def devices(program, *arguments):
    """["host"], and "gpu" if there is one; else checks that `program` says so when it is called."""
    probe = run([program, "--device=gpu", *arguments])
    if probe.returncode == 0:
        return ["host", "gpu"]
    print("skipped: --device=gpu:", probe.stderr.decode().strip())
    name = pathlib.Path(program).name
    expect("without a GPU: exit status", probe.returncode, 2)
    expect("without a GPU: message",
           re.match(rf"{name}: (cudaGetDeviceCount: .|--device=gpu: built without (nvcc|NCCL))".encode(),
                    probe.stderr) is not None, True)
    automatic = run([program, *arguments])
    expect("without a GPU: --device=auto", automatic.returncode, 0)
    expect("without a GPU: what runs",
           b", running on the host SIMT back end\n" in automatic.stderr, True)
    return ["host"]


def finish():
    if failures:
        sys.exit(f"{len(failures)} of {checks} checks failed")
    print("ok")
