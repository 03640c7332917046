#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a test that may take a number of CPU seconds: cpu_limit.py SECONDS NAME COMMAND...

All threads of the program count, and all programs that it starts and waits for. CPU time does not depend on other work,
so no test fails on a busy machine. A program that alone exceeds the limit is ended at once. The sum over several
programs is compared when the test ends. CTest limits the wall-clock time.
"""

# Runs before every test, so it imports no module that is slow to load.
import os
import resource
import signal
import sys


def run(command):
    """Runs a command. Returns its exit status, or the negative number of its signal, and its CPU seconds."""
    # Python ignores these two signals, and programs that it starts would inherit this.
    child = os.posix_spawnp(command[0], command, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def end_by(number):
    """Ends this process by the signal that ended the test, so that CTest reports it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if signal.getsignal(number) != signal.SIG_DFL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def main():
    limit, name, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), resource.getrlimit(resource.RLIMIT_CPU)[1]))
    try:
        status, seconds = run(command)
    except FileNotFoundError:
        sys.exit(f"FAILED: {name}: there is no {command[0]}: build it first")
    if status == -signal.SIGXCPU or seconds >= int(limit):
        sys.exit(f"FAILED: {name} took {seconds:.0f} s of CPU and may take {limit} (tests/README.md says why)")
    if status < 0:
        end_by(-status)
    sys.exit(status)


def self_test():
    import subprocess
    python = [sys.executable, "-c"]
    for name, command, status, messages in [
        ("one that spins", [*python, "while True: pass"], 1, "one that spins took 1 s of CPU and may take 1 "),
        ("one that sleeps for longer", [*python, "import time; time.sleep(1.5)"], 0, ""),
        ("several, of which none takes too long",
         [*python, "import subprocess, sys\n"
                   "spin = 'import time\\nwhile time.process_time() < 0.7: pass'\n"
                   "for i in range(2): subprocess.run([sys.executable, '-c', spin])"], 1, "may take 1 "),
        ("one that is skipped", [*python, "import sys; sys.exit(77)"], 77, ""),
        ("one that crashes", ["sh", "-c", "ulimit -c 0; kill -ABRT $$"], -signal.SIGABRT, ""),
        ("one that is killed", ["sh", "-c", "kill -KILL $$"], -signal.SIGKILL, ""),
        ("one that writes into a closed pipe", ["sh", "-c", "kill -PIPE $$"], -signal.SIGPIPE, ""),
        ("one that is not there", ["./absent"], 1, "build it first"),
    ]:
        done = subprocess.run([sys.executable, __file__, "1", name, *command], stderr=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode != status or messages not in done.stderr:
            sys.exit(f"FAILED: {name}: status {done.returncode}, expected {status}: {done.stderr}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        main()
