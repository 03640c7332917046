#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a folder with a CUDA toolkit of a given version (nvcc, headers, CUB and NVRTC), and runs a command with it.

    cuda_toolkit.py 13.5 build/toolkits/13.5                        makes FOLDER/bin/nvcc, FOLDER/include, FOLDER/lib
    cuda_toolkit.py 12.4 build/toolkits/12.4 -- {nvcc} --version    replaces {nvcc} and {nvrtc} by their paths
    cuda_toolkit.py --self-test

The parts come from PyPI by pip. nvcc 12.4, which PyPI does not have, comes from Debian by apt-get. The parts stay in
the folder, and later calls use them. This needs Linux on x86-64, but no administrator. If pip or apt-get is missing, or
cannot reach its registry, the exit status is 77, which CTest reports as "Skipped", and the last line says why.
"""

import argparse
import fcntl
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import toolbox

SKIPPED = 77

# PyPI's packages for each version. Those of 13 share one folder, those of 12 have a folder each.
WHEELS = {
    "12.4": ["nvidia-cuda-nvcc-cu12==12.4.131", "nvidia-cuda-runtime-cu12==12.4.127",
             "nvidia-cuda-cccl-cu12==12.4.127.post1", "nvidia-cuda-nvrtc-cu12==12.4.127"],
    "13.0": ["nvidia-cuda-nvcc==13.0.88", "nvidia-cuda-crt==13.0.88", "nvidia-nvvm==13.0.88",
             "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85", "nvidia-cuda-nvrtc==13.0.88"],
    "13.5": ["nvidia-cuda-nvcc==13.5.37", "nvidia-cuda-crt==13.5.37", "nvidia-nvvm==13.5.37",
             "nvidia-cuda-runtime==13.5.37", "nvidia-cuda-cccl==13.3.5.0.6", "nvidia-cuda-nvrtc==13.5.37"],
}
# The release of Debian whose package nvidia-cuda-toolkit has this version of nvcc.
DEBIAN = {"12.4": "trixie"}
KEYS = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
OF_DEBIAN = ["lib/nvidia-cuda-toolkit/bin/nvcc", "lib/nvidia-cuda-toolkit/bin/cicc", "lib/nvidia-cuda-toolkit/bin/crt",
             "bin/bin2c", "bin/cudafe++", "bin/fatbinary", "bin/nvlink", "bin/ptxas"]
PROFILE = """TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib"
"""

# Messages of pip and apt-get if a registry does not answer.
UNREACHABLE = re.compile(r"connection broken|Connection (?:refused|reset|failed|timed out)|ConnectTimeout|timed out|"
                         r"Could not (?:resolve|connect)|Temporary failure|ProxyError|Network is unreachable|"
                         r"Name or service not known|Unable to connect|5\d\d (?:Server Error|Service Unavailable)")


class NotAvailable(Exception):
    """The reason why this machine cannot get the toolkit."""


def registry(command, what):
    """Runs pip or apt-get."""
    try:
        result = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
    except FileNotFoundError:
        raise NotAvailable(f"{command[0]} is not installed")
    if result.returncode == 0:
        return
    if "No module named pip" in result.stdout:
        raise NotAvailable("pip is not installed")
    if UNREACHABLE.search(result.stdout):
        raise NotAvailable(f"{what} cannot be reached")
    toolbox.fail(f"{' '.join(str(word) for word in command)}\n{result.stdout}")


def add_wheels(version, parts, folder):
    """Unpacks packages of PyPI into a folder, and copies their contents into the toolkit's folder."""
    registry([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", 1,
              "--timeout", 20, "--no-deps", "--only-binary", ":all:", "--no-compile", "--no-warn-script-location",
              "--target", parts, *WHEELS[version]], "PyPI")
    for part in sorted((parts / "nvidia").iterdir()):
        if part.is_dir():
            shutil.copytree(part, folder, dirs_exist_ok=True)


def add_nvcc_of_debian(version, parts, folder):
    """Unpacks the package of a later release of Debian, with package lists of its own."""
    if not KEYS.is_file():
        raise NotAvailable("the keys of Debian's archive, package debian-archive-keyring, are not installed")
    for name in ("lists/partial", "cache/archives/partial", "unpacked"):
        (parts / name).mkdir(parents=True)
    (parts / "sources.list").write_text(
        f"deb [arch=amd64 signed-by={KEYS}] http://deb.debian.org/debian {DEBIAN[version]} non-free\n")
    options = ["-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20", "-o", "APT::Update::Error-Mode=any",
               "-o", "APT::Sandbox::User=root", "-o", f"Dir::Etc::sourcelist={parts}/sources.list",
               "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={parts}/lists",
               "-o", f"Dir::Cache={parts}/cache"]
    what = "Debian's archive"
    registry(["apt-get", *options, "update"], what)
    registry(["sh", "-c", 'cd "$0" && exec "$@"', parts, "apt-get", *options, "download",
              f"nvidia-cuda-toolkit:amd64={version}.*"], what)
    package, = parts.glob("*.deb")
    toolbox.must_run(["dpkg", "-x", package, parts / "unpacked"])
    (folder / "bin").mkdir(exist_ok=True)
    for name in OF_DEBIAN:
        source = parts / "unpacked" / "usr" / name
        target = folder / "bin" / source.name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
    (folder / "bin" / "nvcc.profile").write_text(PROFILE)


def check(version, folder):
    """Fails unless the toolkit's nvcc runs, and has this version."""
    status, output, messages = toolbox.run([folder / "bin" / "nvcc", "--version"])
    if status != 0 or f"release {version}," not in output:
        toolbox.fail(f"{folder}/bin/nvcc is not nvcc {version}: {output}{messages}")


def make(version, folder):
    """Makes the toolkit, unless it is there. If several processes need it at the same time, only one makes it."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NotAvailable("toolkits are made on Linux, x86-64 alone")
    folder.parent.mkdir(parents=True, exist_ok=True)
    parts = "\n".join([*WHEELS[version], DEBIAN.get(version, "")])
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = folder / "complete.txt"
        if complete.is_file() and complete.read_text() == parts:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            add_wheels(version, pathlib.Path(temporary, "wheels"), folder)
            if version in DEBIAN:
                add_nvcc_of_debian(version, pathlib.Path(temporary, "debian"), folder)
        check(version, folder)
        complete.write_text(parts)


def self_test():
    for text, is_unreachable in (
            ("WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)'", True),
            ("  Temporary failure resolving 'deb.debian.org'", True),
            ("  Could not connect to deb.debian.org:80 (151.101.2.132), connection timed out", True),
            ("ERROR: No matching distribution found for nvidia-cuda-nvcc==13.5.36", False),
            ("E: Version '12.3.*' for 'nvidia-cuda-toolkit' was not found", False)):
        if bool(UNREACHABLE.search(text)) != is_unreachable:
            toolbox.fail(text)
    try:
        registry(["no-such-command-of-strata"], "nothing")
        toolbox.fail("a command that is not there")
    except NotAvailable as reason:
        print(reason)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", nargs="?", choices=sorted(WHEELS))
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("command", nargs="*")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    if not arguments.folder:
        parser.error("a version and a folder are needed")
    folder = arguments.folder.resolve()
    try:
        make(arguments.version, folder)
    except NotAvailable as reason:
        print(f"SKIPPED: no CUDA toolkit {arguments.version}: {reason}")
        sys.exit(SKIPPED)
    nvrtc, = folder.glob("lib/libnvrtc.so.*")
    paths = {"{nvcc}": str(folder / "bin" / "nvcc"), "{nvrtc}": str(nvrtc)}
    if arguments.command:
        sys.exit(subprocess.run([paths.get(word, word) for word in arguments.command]).returncode)
    print(paths["{nvcc}"])


if __name__ == "__main__":
    main()
