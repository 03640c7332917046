#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the CPU time of each test of a build folder and writes usual_seconds.txt.

Tests of other build folders keep their lines. Run it for the preset `test`, then for `full`, where tests of the same
name have more types and take longer. Options behind the folder are ctest's and choose tests: `-R ^meta[.]`.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess

TABLE = pathlib.Path(__file__).with_suffix(".txt")
# Seconds. Shorter tests have the limit that every test has at least.
LEAST = 4


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(test):
    """Seconds, or none where there is no program yet or the test is skipped."""
    # Without cpu_limit.py, its limit and the name: a test may have grown.
    command = test["command"]
    script = next((i for i, word in enumerate(command) if word.endswith("/cpu_limit.py")), None)
    if script is not None and command[script + 1] != "--self-test":
        command = command[script + 3:]
    if not shutil.which(command[0]):
        return None
    properties = {each["name"]: each["value"] for each in test.get("properties", [])}
    variables = dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))
    begin = cpu_seconds()
    done = subprocess.run(command, cwd=properties.get("WORKING_DIRECTORY"), env={**os.environ, **variables},
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return None if done.returncode == properties.get("SKIP_RETURN_CODE") else cpu_seconds() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    arguments, chosen = parser.parse_known_args()
    listing = subprocess.run(["ctest", "--show-only=json-v1", *chosen], cwd=arguments.build, check=True,
                             stdout=subprocess.PIPE).stdout
    lines = TABLE.read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    seconds = {line.split()[1]: int(line.split()[0]) for line in lines if not line.startswith("#")}
    total = 0
    for test in json.loads(listing)["tests"]:
        took = measured(test)
        if took is None:
            continue
        total += took
        seconds[test["name"]] = round(took)
        print(f"{took:.1f} {test['name']}", flush=True)
    print(f"{total:.0f} all of them")
    table = sorted(((time, name) for name, time in seconds.items() if time >= LEAST), key=lambda row: (-row[0], row[1]))
    TABLE.write_text("\n".join(comments + [f"{time} {name}" for time, name in table]) + "\n")


if __name__ == "__main__":
    main()
