#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares examples/sort_file with the machine's `sort`, and with a model.

    sort_file_test.py <path of the program>
"""

import os
import pathlib
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
MADE = re.compile(rb"sort_file: ([\d,]+) records in ([\d,]+) runs? of up to ([\d,]+), by (\d+) ranks?\n")
ROW = re.compile(r"([a-z ]+?) +(\d+\.\d{3}) +(\d+\.\d{3})(?: (#*))?\Z")
PHASES = ["read and upload", "sort keys", "move records", "download and write", "merge runs", "all"]


def records_of(data):
    return [data[at:at + RECORD] for at in range(0, len(data), RECORD)]


def model(data):
    """Stable, by unsigned bytes."""
    return b"".join(sorted(records_of(data), key=lambda record: record[:KEY]))


def with_ranks(ranks, **more):
    """Environment of a call with so many devices of the host SIMT back end."""
    return {**C_LOCALE, "STRATA_SIMT_DEVICES": str(ranks), **more}


def call(command, ranks=1, **keywords):
    environment = keywords.pop("environment", {})
    stdin = keywords.pop("stdin", subprocess.DEVNULL)
    return subprocess.run(command, env=with_ranks(ranks, **environment), stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **keywords)


def summary(program, path):
    """Exit status, and what --validate prints."""
    result = run([program, "--validate", path])
    return result.returncode, dict(line.split(": ", 1) for line in result.stdout.decode().splitlines())


def generate(program, path, records, *options):
    result = run([program, f"--generate={records}", *options, path])
    expect(f"--generate={records} {options}", (result.returncode, result.stdout, result.stderr), (0, b"", b""))
    return path.read_bytes()


# ------------------------------------------------------------------------------ files that are made and checked
def check_generator(program, folder):
    path = folder / "made"
    data = generate(program, path, 1000)
    expect("generated: bytes", len(data), 1000 * RECORD)
    expect("generated: the same again", generate(program, path, 1000) == data, True)
    expect("generated: a shorter file begins alike", data.startswith(generate(program, path, 600)), True)
    expect("generated: another seed", generate(program, path, 1000, "--seed=1") == data, False)
    expect("generated: to standard output", run([program, "--generate=1000", "-"]).stdout == data, True)
    expect("generated: different keys", len({record[:KEY] for record in records_of(data)}), 1000)
    expect("generated: all bytes", len(set(data)), 256)
    skewed = records_of(generate(program, path, 4000, "--skew"))
    frequent = max(sum(record[:KEY] == key for record in skewed) for key in {record[:KEY] for record in skewed})
    expect("generated: skewed", 100 < frequent < 500, True)
    lines = generate(program, path, 300, "--ascii").split(b"\r\n")
    expect("generated: lines", (len(lines), lines[-1], {len(line) for line in lines[:-1]}), (301, b"", {98}))
    expect("generated: printable", set(b"".join(lines)) <= set(range(ord(" "), ord("~") + 1)), True)
    expect("generated: numbers", [int(line[12:44], 16) for line in lines[:-1]], list(range(300)))
    expect("generated: none", generate(program, path, 0), b"")


def check_validator(program, folder):
    path = folder / "checked"
    data = generate(program, path, 500, "--skew")
    status, unsorted = summary(program, path)
    records = records_of(data)
    descents = [i for i in range(1, 500) if records[i][:KEY] < records[i - 1][:KEY]]
    expect("validate: unsorted", (status, unsorted["records"], unsorted["sorted"]),
           (3, "500", f"no, {len(descents)} records are less than those before, the first is number {descents[0]}"))
    path.write_bytes(model(data))
    status, found = summary(program, path)
    equal = 500 - len({record[:KEY] for record in records})
    expect("validate: sorted", (status, found),
           (0, {"records": "500", "checksum": unsorted["checksum"], "equal keys": str(equal), "sorted": "yes"}))
    result = run([program, "--validate", "-"], input=model(data))
    expect("validate: standard input", (result.returncode, b"sorted: yes\n" in result.stdout), (0, True))
    for at in (0, 9, 10, 99, 49950, 49999):
        changed = bytearray(model(data))
        changed[at] ^= 1
        path.write_bytes(changed)
        expect(f"validate: byte {at}", summary(program, path)[1]["checksum"] == unsorted["checksum"], False)
    twice = sorted(records, key=lambda record: record[:KEY])
    twice[7] = twice[8]
    path.write_bytes(b"".join(twice))
    expect("validate: one record twice", summary(program, path)[1]["checksum"] == unsorted["checksum"], False)
    path.write_bytes(b"")
    expect("validate: empty", (summary(program, path)[0], summary(program, path)[1]["records"]), (0, "0"))


# ------------------------------------------------------------------------------ sorts
def least_memory(command, source, target, ranks):
    """What one record takes on each rank."""
    result = call([*command, "--memory=1", source, target], ranks)
    found = re.search(rb"too little memory: one record takes (\d+) bytes\n\Z", result.stderr)
    expect(f"{command}, {ranks} ranks: too little memory", (result.returncode, found is not None), (1, True))
    return int(found[1])


def check_chart(name, told):
    rows = [match for line in told.decode().splitlines() if (match := ROW.match(line))]
    expect(f"{name}: phases", [row[1] for row in rows], PHASES)
    longest = max(float(row[2]) for row in rows[:-1])
    for row in rows[:-1]:
        if longest > 0.01:  # Seconds are shown with three decimals, so each of the two may be wrong by 0.0005.
            wanted, error = 30 * float(row[2]) / longest, 0.5 + 30 * 0.0011 / longest
            expect(f"{name}: bar of {row[1]}", abs(len(row[4] or "") - wanted) <= error, True)


def check_sort(program, command, ranks, source, folder, least_runs=1, most_runs=1, options=()):
    target = folder / "sorted"
    target.unlink(missing_ok=True)
    name = f"{command} {options} of {source.name}, {ranks} ranks"
    result = call([*command, *options, "--check", source, target], ranks)
    expect(f"{name}: exit status", (result.returncode, result.stdout), (0, b""))
    expect(f"{name}: checked", result.stderr.endswith(b"sort_file: the output is the sorted input\n"), True)
    made = MADE.search(result.stderr)
    expect(f"{name}: is reported", made is not None, True)
    if result.returncode != 0 or not made:
        print(result.stderr.decode())
        return
    count, runs, longest, by_ranks = (int(number.replace(b",", b"")) for number in made.groups())
    data = source.read_bytes()
    expect(f"{name}: records and ranks", (count, by_ranks), (len(data) // RECORD, ranks))
    expect(f"{name}: {runs} runs", least_runs <= runs <= most_runs, True)
    expect(f"{name}: longest run", longest, -(-count // runs) if runs else 0)
    check_chart(name, result.stderr)
    expect(f"{name}: output", target.read_bytes() == model(data), True)
    expect(f"{name}: nothing else", sorted(path.name for path in folder.iterdir()), ["sorted"])
    status, found = summary(program, target)
    expect(f"{name}: validated", (status, found["checksum"]), (0, summary(program, source)[1]["checksum"]))


def check_sorts(program, command, ranks, sources, folder):
    files = {path.name: path for path in sources.iterdir()}
    some = least_memory(command, files["random"], folder / "sorted", ranks)
    few = f"--memory={some + 110000}"
    many = 5000
    for name in ("random", "skewed", "lines", "skewed-lines"):
        check_sort(program, command, ranks, files[name], folder)
        check_sort(program, command, ranks, files[name], folder, 3, 30, [few])
    for options in (["--buffers=0"], ["--buffers=0", "--merge-threads=7"], ["--merge-threads=3"]):
        check_sort(program, command, ranks, files["skewed"], folder, 3, 30, [few, *options])
    for name in ("empty", "one", "two", "three", "all-equal", "sorted", "descending", "last-byte"):
        check_sort(program, command, ranks, files[name], folder, 0 if name == "empty" else 1, 1)
    # One record of each rank in a run.
    check_sort(program, command, ranks, files["three"], folder, 1, 3, [f"--memory={some}"])
    for name in ("all-equal", "descending", "last-byte"):
        check_sort(program, command, ranks, files[name], folder, 2, many, [f"--memory={some + 30000}"])


def make_sources(program, folder):
    for name, options in (("random", []), ("skewed", ["--skew"]), ("lines", ["--ascii"]),
                          ("skewed-lines", ["--ascii", "--skew", "--seed=5"])):
        generate(program, folder / name, 5000, *options)
    records = records_of((folder / "random").read_bytes())
    for name, made in (("empty", []), ("one", records[:1]), ("two", records[:2]), ("three", records[:3]),
                       ("all-equal", [b"\xff" * KEY + record[KEY:] for record in records[:2000]]),
                       ("sorted", sorted(records[:2000])), ("descending", sorted(records[:2000], reverse=True)),
                       ("last-byte", [b"\x80\0\xff\0\0\0\0\0\x7f" + record[:91] for record in records[:2000]])):
        (folder / name).write_bytes(b"".join(made))


def check_against_tools(command, sources, folder):
    """`sort` compares whole lines, or keys: numbers behind equal keys ascend."""
    if not testing.has_gnu_tools(sort="GNU coreutils"):
        return
    target = folder / "sorted"
    for name in ("lines", "skewed-lines"):
        call([*command, sources / name, target], 2)
        for options in ([], ["-s", "-k1.1,1.10"]):
            expect(f"{name}: sort {options}", run(["sort", *options, sources / name]).stdout == target.read_bytes(),
                   True)
    target.unlink()


# ------------------------------------------------------------------------------ what fails
def check_failure(name, result, status, message, folder, left=()):
    expect(f"{name}: exit status", (result.returncode, result.stdout), (status, b""))
    expect(f"{name}: message", result.stderr.decode().splitlines()[-1:], [f"sort_file: {message}"])
    expect(f"{name}: what is left", sorted(path.name for path in folder.iterdir()), sorted(left))


def check_bad_files(program, command, sources, folder):
    good = sources / "skewed"
    out = folder / "out"
    cut = sources.parent / "cut"
    for size in (1, 99, 101, 4999):
        cut.write_bytes(good.read_bytes()[:size])
        what = f"{cut}: {size} bytes are not a multiple of 100"
        check_failure(f"{size} bytes", call([*command, cut, out], 2), 1, what, folder)
        check_failure(f"{size} bytes, --validate", call([program, "--validate", cut]), 1, what, folder)
    missing = folder / "missing"
    check_failure("no input", call([*command, missing, out]), 1, f"{missing}: No such file or directory", folder)
    check_failure("folder", call([*command, sources, out]), 1, f"{sources}: Is a directory", folder)
    check_failure("device", call([*command, "/dev/null", out]), 1, "/dev/null: not a regular file", folder)
    pipe = subprocess.Popen(["cat", good], stdout=subprocess.PIPE)
    result = call([*command, "-", out], stdin=pipe.stdout)
    check_failure("pipe", result, 1, "standard input: not a regular file", folder)
    pipe.stdout.close()
    pipe.wait()
    with open(good, "rb") as opened:
        expect("standard input", call([*command, "--check", "-", out], stdin=opened).returncode, 0)
    expect("standard input: output", out.read_bytes() == model(good.read_bytes()), True)
    out.unlink()

    check_failure("output is a folder", call([*command, good, folder]), 1, f"{folder}: Is a directory", folder)
    check_failure("output is a device", call([*command, good, "/dev/null"]), 1, "/dev/null: not a regular file", folder)
    nowhere = folder / "no" / "out"
    check_failure("no folder", call([*command, good, nowhere], 2), 1, f"{nowhere}.partial: No such file or directory",
                  folder)
    out.write_bytes(good.read_bytes())
    (folder / "hard").hardlink_to(out)
    (folder / "soft").symlink_to(out)
    for name in ("out", "hard", "soft"):
        check_failure(f"same file: {name}", call([*command, out, folder / name], 2), 1,
                      f"{folder / name}: is the input, too", folder, ["out", "hard", "soft"])
    expect("same file: not changed", out.read_bytes() == good.read_bytes(), True)
    (folder / "hard").unlink()

    # What an output had before is replaced when all is there, behind a link too.
    out.write_bytes(b"before")
    expect("replaced", call([*command, good, folder / "soft"], 2).returncode, 0)
    expect("replaced: output", out.read_bytes() == model(good.read_bytes()), True)
    expect("replaced: still a link", (folder / "soft").is_symlink(), True)
    (folder / "soft").unlink()
    out.write_bytes(b"before")

    def limit_size():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))

    result = call([*command, good, out], 2, preexec_fn=limit_size)
    check_failure("full disk", result, 1, f"{out}.partial: File too large", folder, ["out"])
    expect("full disk: not changed", out.read_bytes(), b"before")
    result = call([program, "--generate=5000", folder / "made"], preexec_fn=limit_size)
    check_failure("full disk, --generate", result, 1, f"{folder / 'made'}: File too large", folder, ["out", "made"])
    (folder / "made").unlink()

    for other in (folder / "out.partial", folder / "out.runs"):
        other.write_bytes(b"of another call")
        result = call([*command, "--memory=900000", good, out], 2)
        check_failure(f"{other.name} is there", result, 1, f"{other}: File exists", folder, ["out", other.name])
        expect(f"{other.name}: not changed", other.read_bytes(), b"of another call")
        other.unlink()
    out.unlink()


def check_nccl_failures(command, sources, folder):
    """Whichever call of NCCL fails on whichever rank: the program ends, says so, and leaves nothing."""
    good, out = sources / "three", folder / "out"
    wanted = model(good.read_bytes())
    for memory in ("1000000", str(least_memory(command, good, out, 2))):  # One run, or two.
        for rank in (0, 1):
            for number in range(200):
                result = call([*command, f"--memory={memory}", good, out], 2,
                              environment={"STRATA_SIMT_NCCL_FAIL": f"{rank},{number}"})
                if result.returncode == 0:
                    break
                name = f"--memory={memory}: call {number} of rank {rank} fails"
                expect(name, (result.returncode, b"sort_file: " in result.stderr), (2, True))
                left = sorted(path.name for path in folder.iterdir())
                # In the last call, ranks say that all is done.
                expect(f"{name}: what is left", left in ([], ["out"]), True)
                if left == ["out"]:
                    expect(f"{name}: output", out.read_bytes() == wanted, True)
                    out.unlink()
            expect(f"--memory={memory}: rank {rank} fails in {number} calls", 5 < number < 199, True)
            expect(f"--memory={memory}: rank {rank} does not fail", out.read_bytes() == wanted, True)
            out.unlink()


def check_signal(program, command, folder):
    """A signal ends the program, and its files. Of those of runs nothing is ever left."""
    source, out = folder.parent / "large", folder / "out"
    generate(program, source, 400000)
    for number, left in ((signal.SIGTERM, []), (signal.SIGINT, []), (signal.SIGKILL, [folder / "out.partial"])):
        process = subprocess.Popen([*command, "--memory=20000000", source, out], env=with_ranks(1),
                                   stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while not (folder / "out.partial").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.1)
        expect(f"{number}: at work", (folder / "out.partial").exists(), True)
        process.send_signal(number)
        process.communicate()
        expect(f"{number}: status", process.returncode, -number)
        expect(f"{number}: what is left", list(folder.iterdir()), left)
    (folder / "out.partial").unlink()
    source.unlink()


def check_processes(command, sources, folder):
    """Ranks that are processes; several of them need GPUs."""
    good, out, id_file = sources / "skewed", folder / "out", folder / "id"
    torchrun = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    mpirun = {f"OMPI_COMM_WORLD_{name}": value for name, value in (("RANK", "0"), ("SIZE", "1"), ("LOCAL_RANK", "0"))}
    for name, environment in (("torchrun", torchrun), ("mpirun", mpirun)):
        result = call([*command, "--check", f"--id-file={id_file}", good, out], environment=environment)
        expect(f"{name}: exit status", result.returncode, 0)
        expect(f"{name}: rank", b"the host SIMT back end, rank 0 of 1\n" in result.stderr, True)
        expect(f"{name}: output", out.read_bytes() == model(good.read_bytes()), True)
        out.unlink()
        expect(f"{name}: what is left", list(folder.iterdir()), [])
    id_file.write_bytes(b"")
    result = call([*command, f"--id-file={id_file}", good, out], environment=torchrun)
    check_failure("old file", result, 1, f"{id_file}: is there already", folder, ["id"])
    id_file.unlink()
    two = {**torchrun, "WORLD_SIZE": "2"}
    result = call([*command, f"--id-file={id_file}", good, out], environment=two)
    check_failure("two processes", result, 2, "the host SIMT back end has all ranks in one process", folder)
    for name, environment, options in (("no file", two, []), ("no rank", {}, [f"--id-file={id_file}"]),
                                       ("wrong rank", {**torchrun, "RANK": "1"}, [f"--id-file={id_file}"])):
        result = call([*command, *options, good, out], environment=environment)
        expect(f"{name}: rejected", (result.returncode, result.stderr.endswith(b"--help' for more information.\n")),
               (1, True))


def check_gpus(program, command, sources, folder):
    """One run and several, by all GPUs of one process, and by a process for each of two GPUs."""
    out, id_file = folder / "sorted", folder.parent / "id"
    result = call([*command, sources / "one", out])
    ranks = int(MADE.search(result.stderr)[4])
    memory = f"--memory={least_memory(command, sources / 'one', out, ranks) + 110000}"
    for name in ("random", "skewed", "lines", "empty", "one", "all-equal"):
        check_sort(program, command, ranks, sources / name, folder, 0, 1)
        check_sort(program, command, ranks, sources / name, folder, 0, 5000, [memory])
    if ranks < 2:
        print("skipped: two processes: there is one GPU")
        return
    for options in ([], [memory]):
        processes = [subprocess.Popen([*command, *options, f"--id-file={id_file}", sources / "skewed", out],
                                      env={**C_LOCALE, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)},
                                      stderr=subprocess.PIPE) for rank in range(2)]
        told = [process.communicate()[1] for process in processes]
        expect(f"two processes {options}: exit status", [process.returncode for process in processes], [0, 0])
        expect(f"two processes {options}: who reports", [MADE.search(text) is not None for text in told], [True, False])
        expect(f"two processes {options}: output", out.read_bytes() == model((sources / "skewed").read_bytes()), True)
        expect(f"two processes {options}: nothing else", list(folder.iterdir()), [out])
        out.unlink()


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        C_LOCALE.pop(name, None)
        C_LOCALE.pop(f"OMPI_COMM_WORLD_{name.removeprefix('WORLD_')}", None)
    testing.check_rejected(program, [], ["a"], ["a", "b", "c"], ["--validate"], ["--validate", "a", "b"],
                           ["--generate=1"], ["--generate=-1", "a"], ["--generate=x", "a"], ["--generate", "a"],
                           ["--validate", "--generate=1", "a"], ["a", "-"], ["--memory=0", "a", "b"],
                           ["--memory=x", "a", "b"], ["--buffers=-1", "a", "b"], ["--merge-threads=0", "a", "b"],
                           ["--id-file=", "a", "b"], ["--device=tpu", "a", "b"], ["--seed=-1", "a"])
    testing.check_full_disk(program, "--generate=1000", "-")
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name)
        sources, folder = base / "sources", base / "sorted"
        sources.mkdir()
        folder.mkdir()
        check_generator(program, base)
        check_validator(program, base)
        make_sources(program, sources)
        for device in testing.devices(program, sources / "one", folder / "sorted"):
            (folder / "sorted").unlink(missing_ok=True)
            command = [program, f"--device={device}"]
            if device == "gpu":
                check_gpus(program, command, sources, folder)
                (folder / "sorted").write_bytes(b"")
                continue
            before = testing.checks
            for ranks in (1, 2, 4):
                check_sorts(program, command, ranks, sources, folder)
                (folder / "sorted").unlink(missing_ok=True)
            check_against_tools(command, sources, folder)
            check_bad_files(program, command, sources, folder)
            check_processes(command, sources, folder)
            check_nccl_failures(command, sources, folder)
            check_signal(program, command, folder)
            (folder / "sorted").write_bytes(b"")
            print(f"{device}: {testing.checks - before} checks")
    testing.finish()


if __name__ == "__main__":
    main()
