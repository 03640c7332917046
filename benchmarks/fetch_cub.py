#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Downloads the headers of a release of CUB from PyPI, by default the newest, and prints their folder.

    fetch_cub.py                            build/cub/<version of CUB>/, with cub/, thrust/, cuda/ and nv/
    fetch_cub.py --version 13.3.4.3.1       this release of the package nvidia-cuda-cccl
    fetch_cub.py --into DIR                 DIR/<version of CUB>/

    cmake -S . -B build -DSTRATA_BENCHMARK_CUB_DIR=$(python3 benchmarks/fetch_cub.py)

Only headers and their license are kept, and they are no part of strata. A release that was downloaded before stays as
it is. Needs pip and access to PyPI. Without them, the exit code is 2, and the message says what to do.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.path.dirname(HERE), "build", "cub")
PACKAGE = "nvidia-cuda-cccl"
# All four must be from the same release. Mixed with another release, they do not compile or are wrong.
PARTS = ("cub", "thrust", "cuda", "nv")


class FetchError(Exception):
    """An error whose message the user sees without a traceback."""


def version_text(number):
    """300500 -> 3.5.0"""
    return f"{number // 100000}.{number // 100 % 1000}.{number % 100}"


def version_key(text):
    """A key for sorting: 3.10.0 is newer than 3.9.0, and text that is no version is the oldest."""
    return tuple(int(part) for part in text.split(".")) if re.fullmatch(r"\d+(\.\d+)*", text) else (-1,)


def version_of(folder):
    """Returns the version of the CUB headers in a folder, or None."""
    try:
        with open(os.path.join(folder, "cub", "version.cuh"), encoding="utf-8") as file:
            number = re.search(r"^#define CUB_VERSION (\d+)", file.read(), re.MULTILINE)
    except OSError:
        return None
    return version_text(int(number.group(1))) if number else None


def fetched_before(folder=FOLDER):
    """Returns the folders that have headers, the newest release first."""
    try:
        found = [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []
    found = [(version_of(path), path) for path in found]
    return [path for version, path in sorted(((version_key(v), p) for v, p in found if v), reverse=True)]


def download(version, folder):
    """Downloads the package into the folder, by pip."""
    wanted = f"{PACKAGE}=={version}" if version else PACKAGE
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-input", "--retries", "1",
               "--timeout", "20", "--no-deps", "--only-binary", ":all:", "--dest", folder, wanted]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode == 0:
        return
    if "No module named pip" in result.stdout:
        raise FetchError("pip is not installed; it downloads CUB from PyPI")
    lines = [line for line in result.stdout.splitlines() if line.startswith("ERROR")] or result.stdout.splitlines()
    is_away = re.search(r"connection broken|timed out|Temporary failure|Could not resolve|ProxyError|unreachable",
                        result.stdout)
    raise FetchError(f"pip cannot get {wanted}" + (": PyPI cannot be reached" if is_away else "") +
                     (f". It says: {lines[0]}" if lines else ""))


def unpack(wheel, folder):
    """Extracts the headers and the license of a wheel into the folder."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        prefixes = [name[:-len("cub/version.cuh")] for name in names if name.endswith("/cub/version.cuh")]
        if len(prefixes) != 1:
            raise FetchError(f"{os.path.basename(wheel)} has no cub/version.cuh, or several")
        prefix = prefixes[0]
        parts = tuple(f"{prefix}{part}/" for part in PARTS)
        for name in names:
            is_license = re.search(r"\.dist-info/(.*/)?LICENSE[^/]*$", name, re.IGNORECASE)
            if name.endswith("/") or not (name.startswith(parts) or is_license):
                continue
            target = os.path.join(folder, "LICENSE" if is_license else os.path.normpath(name[len(prefix):]))
            if not os.path.abspath(target).startswith(os.path.abspath(folder) + os.sep):
                raise FetchError(f"{os.path.basename(wheel)}: {name} leads out of the folder")
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with archive.open(name) as source, open(target, "wb") as file:
                shutil.copyfileobj(source, file)
    missing = [part for part in PARTS if not os.path.isdir(os.path.join(folder, part))]
    if missing:
        raise FetchError(f"{os.path.basename(wheel)} has no {', '.join(missing)}")


def fetch(version=None, folder=FOLDER):
    """Downloads a release if necessary. Returns the folder with the headers."""
    os.makedirs(folder, exist_ok=True)
    # Unpacked next to the target, then moved there as a whole, so that nobody ever finds an incomplete folder.
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as part:
        wheels, headers = os.path.join(part, "wheels"), os.path.join(part, "headers")
        os.mkdir(wheels)
        download(version, wheels)
        found = os.listdir(wheels)
        if len(found) != 1:
            raise FetchError(f"pip has left {len(found)} files, not one")
        unpack(os.path.join(wheels, found[0]), headers)
        name = version_of(headers)
        if name is None:
            raise FetchError(f"{found[0]}: cub/version.cuh does not say which version it is")
        target = os.path.join(folder, name)
        if version_of(target) != name:
            shutil.rmtree(target, ignore_errors=True)
            os.replace(headers, target)
    return target


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", metavar="NUMBER", help=f"of the package {PACKAGE} (default: the newest)")
    parser.add_argument("--into", default=FOLDER, metavar="DIR", help="default: build/cub")
    options = parser.parse_args(arguments)
    try:
        print(fetch(options.version, options.into))
        return 0
    except FetchError as error:
        print(f"fetch_cub.py: {error}", file=sys.stderr)
        before = fetched_before(options.into)
        print("Fetched before: " + ", ".join(before) if before else
              "Without access to PyPI, copy such a folder from another machine, and pass it by --cub of run_all.py or "
              "by -DSTRATA_BENCHMARK_CUB_DIR.", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
