#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/sort_file with a model.

    sort_file_test.py <path of the program>
"""

import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import testing
from testing import C_LOCALE, expect, run

RECORD, KEY = 100, 10
REPORT = re.compile(rb"sort_file: (\d+) records, runs: (\d+), ranks: (\d+)\n"
                    rb"([a-z ]+ \d+\.\d{3} s +\d+\.\d{3} GB/s\n)+\Z")


def records_of(data):
    return [data[at:at + RECORD] for at in range(0, len(data), RECORD)]


def model(data):
    """Stable, by unsigned bytes."""
    return b"".join(sorted(records_of(data), key=lambda record: record[:KEY]))


def call(command, ranks=1, environment={}, **keywords):
    """A call with this many devices of the host SIMT back end."""
    keywords = {"stdin": subprocess.DEVNULL, **keywords}
    return subprocess.run(command, env={**C_LOCALE, "STRATA_SIMT_DEVICES": str(ranks), **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def make_sources(folder):
    numbers = random.Random(1)
    few = [numbers.randbytes(KEY) for _ in range(60)]
    made = {"random": [numbers.randbytes(RECORD) for _ in range(5000)],
            "skewed": [numbers.choice(few) + numbers.randbytes(RECORD - KEY) for _ in range(5000)]}
    records = made["random"][:2000]
    made |= {"empty": [], "one": records[:1], "two": records[:2], "three": records[:3],
             "all-equal": [b"\xff" * KEY + record[KEY:] for record in records],
             "sorted": sorted(records), "descending": sorted(records, reverse=True),
             "last-byte": [b"\x80\0\xff\0\0\0\0\0\x7f" + record[:91] for record in records]}
    for name, contents in made.items():
        (folder / name).write_bytes(b"".join(contents))


def check_validator(program, path):
    def validate(data):
        path.write_bytes(data)
        result = run([program, "--validate", path])
        return result.returncode, *(line.split(": ")[1] for line in result.stdout.decode().splitlines())

    data = (path.parent / "sources/skewed").read_bytes()
    records = records_of(data)
    descents = sum(records[i][:KEY] < records[i - 1][:KEY] for i in range(1, len(records)))
    status, count, checksum, found = validate(data)
    expect("validate: unsorted", (status, count, found), (3, "5000", str(descents)))
    data = model(data)
    expect("validate: sorted", validate(data), (0, "5000", checksum, "0"))
    expect("validate: standard input", run([program, "--validate", "-"], input=data).returncode, 0)
    changes = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1:] for at in (0, 9, 10, 99, 49950, 499999)]
    for changed in (*changes, data[:700] + data[800:900] + data[800:]):  # The last one has a record twice.
        expect("validate: changed", validate(changed)[2] == checksum, False)
    expect("validate: empty", validate(b""), (0, "0", "0" * 16, "0"))


# ------------------------------------------------------------------------------ sorts
def least_memory(command, source, target, ranks):
    """What one record takes on each rank."""
    result = call([*command, "--memory=1", source, target], ranks)
    found = re.search(rb"too little memory: one record takes (\d+) bytes\n\Z", result.stderr)
    expect(f"{command}, {ranks} ranks: too little memory", (result.returncode, found is not None), (1, True))
    return int(found[1])


def check_sort(command, ranks, source, folder, least_runs=1, most_runs=1, options=()):
    target = folder / "sorted"
    target.unlink(missing_ok=True)
    name = f"{command} {options} of {source.name}, {ranks} ranks"
    result = call([*command, *options, source, target], ranks)
    report = REPORT.search(result.stderr)
    expect(f"{name}: {result.stderr}", (result.returncode, result.stdout, report is not None), (0, b"", True))
    if not report:
        return
    data = source.read_bytes()
    runs = int(report[2])
    expect(f"{name}: records and ranks", (int(report[1]), int(report[3])), (len(data) // RECORD, ranks))
    expect(f"{name}: {runs} runs", least_runs <= runs <= most_runs, True)
    expect(f"{name}: output", target.read_bytes() == model(data), True)
    expect(f"{name}: nothing else", names(folder), ["sorted"])


def check_sorts(command, ranks, sources, folder):
    some = least_memory(command, sources / "random", folder / "sorted", ranks)
    few = f"--memory={some + 110000}"
    for name in ("random", "skewed"):
        check_sort(command, ranks, sources / name, folder)
        check_sort(command, ranks, sources / name, folder, 3, 30, [few])
    check_sort(command, ranks, sources / "skewed", folder, 3, 30, [few, "--buffers=0"])
    for name in ("one", "two", "three", "all-equal", "sorted", "descending", "last-byte"):
        check_sort(command, ranks, sources / name, folder)
    check_sort(command, ranks, sources / "empty", folder, 0, 0)
    # One record of each rank in a run.
    check_sort(command, ranks, sources / "three", folder, 1, 3, [f"--memory={some}"])
    for name in ("all-equal", "descending", "last-byte"):
        check_sort(command, ranks, sources / name, folder, 2, 5000, [f"--memory={some + 30000}"])


# ------------------------------------------------------------------------------ what fails
def check_failure(name, result, status, message, folder, left=()):
    expect(f"{name}: fails", (result.returncode, result.stdout, result.stderr.decode().splitlines()[-1:]),
           (status, b"", [f"sort_file: {message}"]))
    expect(f"{name}: what is left", names(folder), sorted(left))


def check_bad_files(program, command, sources, folder):
    good, out, cut = sources / "skewed", folder / "out", sources.parent / "cut"
    wanted = model(good.read_bytes())
    for size in (1, 99, 101, 4999):
        cut.write_bytes(wanted[:size])
        for arguments in ([*command, cut, out], [program, "--validate", cut]):
            check_failure(arguments, call(arguments, 2), 1, f"{cut}: {size} bytes are not a multiple of 100", folder)
    missing, nowhere = folder / "missing", folder / "no" / "out"
    for source, target, message in ((missing, out, f"{missing}: No such file or directory"),
                                    (sources, out, f"{sources}: Is a directory"),
                                    ("/dev/null", out, "/dev/null: not a regular file"),
                                    (good, folder, f"{folder}: Is a directory"),
                                    (good, "/dev/null", "/dev/null: not a regular file"),
                                    (good, nowhere, f"{nowhere}.partial: No such file or directory")):
        check_failure(message, call([*command, source, target], 2), 1, message, folder)
    result = call([*command, "-", out], stdin=None, input=good.read_bytes())
    check_failure("pipe", result, 1, "standard input: not a regular file", folder)
    with open(good, "rb") as opened:
        expect("standard input", call([*command, "-", out], stdin=opened).returncode, 0)
    expect("standard input: output", out.read_bytes() == wanted, True)

    hard, soft = folder / "hard", folder / "soft"
    hard.hardlink_to(out)
    soft.symlink_to(out)
    for path in (out, hard, soft):
        check_failure(f"same file: {path}", call([*command, out, path], 2), 1, f"{path}: is the input, too", folder,
                      ["out", "hard", "soft"])
    hard.unlink()
    # The output is replaced when all is there, also behind a link.
    out.write_bytes(b"before")
    result = call([*command, good, soft], 2)
    expect("replaced", (result.returncode, soft.is_symlink(), out.read_bytes() == wanted), (0, True, True))
    soft.unlink()
    out.write_bytes(b"before")
    result = call([*command, good, out], 2,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000)))
    check_failure("full disk", result, 1, f"{out}.partial: File too large", folder, ["out"])
    for other in (folder / "out.partial", folder / "out.runs"):
        other.write_bytes(b"of another call")
        result = call([*command, "--memory=900000", good, out], 2)
        check_failure(f"{other.name} is there", result, 1, f"{other}: File exists", folder, ["out", other.name])
        expect(f"{other.name}: not changed", (other.read_bytes(), out.read_bytes()), (b"of another call", b"before"))
        other.unlink()
    out.unlink()


def check_nccl_failures(command, sources, folder):
    """Whichever call of NCCL fails on whichever rank, the program ends, says so, and leaves nothing."""
    good, out = sources / "three", folder / "out"
    wanted = model(good.read_bytes())
    for memory in ("1000000", str(least_memory(command, good, out, 2))):  # One run, or two.
        for rank in (0, 1):
            for number in range(200):
                result = call([*command, f"--memory={memory}", good, out], 2,
                              environment={"STRATA_SIMT_NCCL_FAIL": f"{rank},{number}"})
                # In the last call, ranks say that all is done.
                left = {path.name: path.read_bytes() == wanted for path in folder.iterdir()}
                expect(f"call {number} of rank {rank}: what is left", left in ({}, {"out": True}), True)
                if result.returncode == 0:
                    break
                expect(f"call {number} of rank {rank}: {result.stderr}", result.returncode, 2)
                out.unlink(missing_ok=True)
            expect(f"--memory={memory}: rank {rank} fails in {number} calls", 5 < number < 199, True)
            out.unlink()


def check_large(command, folder):
    """Several threads of a rank merge. A signal ends the program and removes its files, except SIGKILL."""
    source, out, partial = folder.parent / "large", folder / "sorted", folder / "sorted.partial"
    source.write_bytes(random.Random(2).randbytes(400000 * RECORD))
    memory = "--memory=20000000"
    check_sort(command, 1, source, folder, 2, 9, [memory])
    out.unlink()
    for number, left in ((signal.SIGTERM, []), (signal.SIGINT, []), (signal.SIGKILL, [partial.name])):
        process = subprocess.Popen([*command, memory, source, out], env=C_LOCALE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while not partial.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.1)
        expect(f"{number}: at work", partial.exists(), True)
        process.send_signal(number)
        process.communicate()
        expect(f"{number}: status, what is left", (process.returncode, names(folder)), (-number, left))
    partial.unlink()
    source.unlink()


def rank_environment(rank, ranks):
    return {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank)}


def check_processes(command, sources, folder):
    """Ranks that are processes; several of them need GPUs."""
    good, out, id_file = sources / "skewed", folder / "out", folder / "id"
    option = f"--id-file={id_file}"
    result = call([*command, option, good, out], environment=rank_environment(0, 1))
    expect(f"rank 0 of 1: {result.stderr}", b"the host SIMT back end, rank 0 of 1\n" in result.stderr, True)
    expect("rank 0 of 1: output", (names(folder), out.read_bytes() == model(good.read_bytes())), (["out"], True))
    out.unlink()
    id_file.write_bytes(b"")
    result = call([*command, option, good, out], environment=rank_environment(0, 1))
    check_failure("old file", result, 1, f"{id_file}: is there already", folder, ["id"])
    id_file.unlink()
    result = call([*command, option, good, out], environment=rank_environment(0, 2))
    check_failure("two processes", result, 2, "the host SIMT back end has all ranks in one process", folder)
    for environment, options in ((rank_environment(0, 2), []), ({}, [option]), (rank_environment(1, 1), [option])):
        result = call([*command, *options, good, out], environment=environment)
        expect(f"{environment} {options}: rejected",
               (result.returncode, result.stderr.endswith(b"--help' for more information.\n")), (1, True))


def check_gpus(command, sources, folder):
    """One run and several, by all GPUs of one process, and by a process for each of two GPUs."""
    out, id_file = folder / "sorted", folder.parent / "id"
    ranks = int(REPORT.search(call([*command, sources / "one", out]).stderr)[3])
    memory = f"--memory={least_memory(command, sources / 'one', out, ranks) + 110000}"
    for name in ("random", "skewed", "empty", "one", "all-equal"):
        check_sort(command, ranks, sources / name, folder, 0, 1)
        check_sort(command, ranks, sources / name, folder, 0, 5000, [memory])
    if ranks < 2:
        print("skipped: two processes: there is one GPU")
        return
    for options in ([], [memory]):
        processes = [subprocess.Popen([*command, *options, f"--id-file={id_file}", sources / "skewed", out],
                                      env={**C_LOCALE, **rank_environment(rank, 2)}, stderr=subprocess.PIPE)
                     for rank in range(2)]
        told = [process.communicate()[1] for process in processes]
        expect(f"two processes {options}: {told}", [process.returncode for process in processes], [0, 0])
        expect(f"two processes {options}: who reports", [REPORT.search(text) is not None for text in told],
               [True, False])
        expect(f"two processes {options}: output",
               (names(folder), out.read_bytes() == model((sources / "skewed").read_bytes())), (["sorted"], True))
        out.unlink()


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for name in rank_environment(0, 1):
        C_LOCALE.pop(name, None)
    testing.check_rejected(program, [], ["a"], ["a", "b", "c"], ["--validate"], ["--validate", "a", "b"], ["a", "-"],
                           ["--memory=0", "a", "b"], ["--memory=x", "a", "b"], ["--buffers=-1", "a", "b"],
                           ["--id-file=", "a", "b"])
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name)
        sources, folder = base / "sources", base / "sorted"
        sources.mkdir()
        folder.mkdir()
        make_sources(sources)
        check_validator(program, base / "checked")
        testing.check_full_disk(program, "--validate", sources / "one")
        devices = testing.devices(program, sources / "one", folder / "sorted")
        command = [program, "--device=host"]
        for ranks in (1, 2, 4):
            check_sorts(command, ranks, sources, folder)
        (folder / "sorted").unlink(missing_ok=True)
        check_bad_files(program, command, sources, folder)
        check_processes(command, sources, folder)
        check_nccl_failures(command, sources, folder)
        check_large(command, folder)
        if "gpu" in devices:
            check_gpus([program, "--device=gpu"], sources, folder)
    testing.finish()


if __name__ == "__main__":
    main()
