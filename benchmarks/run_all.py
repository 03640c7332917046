#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs all benchmark programs, and writes results/<gpu>/: CSV files, the table, charts, and the context.

    run_all.py                       build, measure, write benchmarks/results/<gpu>/
    run_all.py --quick               fewer samples, inputs of up to 2^24 items: tries whether all runs
    run_all.py --programs DIR        programs that are built already
    run_all.py --index               measure nothing: write results/README.md anew

Run again after an interruption, it goes on with the programs that are missing. The exit code is 0 if all programs ran
and gave right results, 1 if one failed (the others' results are written), 2 if nothing could be measured, and 130
after an interruption.
"""

import argparse
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import report  # noqa: E402  (found through the line above)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RESULTS = os.path.join(HERE, "results")

# What a quick run asks of a program: less than is published.
QUICK = ["--samples", "5", "--target-us", "200", "--max-n", str(1 << 24), "--no-latency"]


class RunError(Exception):
    """Said to the user, without a traceback."""


def ask(command, default="unknown"):
    """The first line that a command prints."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        return done.stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return default


def commit_of_tree():
    commit = ask(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"])
    changed = ask(["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"], "")
    return f"{commit} with changes" if changed and commit != "unknown" else commit


def gpus():
    """[(name, compute capability)]"""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [tuple(part.strip() for part in line.split(",")) for line in done.stdout.splitlines()]


def folder_name(gpu):
    """NVIDIA GeForce RTX 4090 -> rtx-4090, NVIDIA H200 -> h200"""
    name = re.sub(r"^(NVIDIA|Tesla|GeForce|Quadro)\s+", "", re.sub(r"^NVIDIA\s+", "", gpu))
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def build(folder, architecture, jobs):
    commands = [["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DSTRATA_ENABLE_CUDA=ON",
                 f"-DCMAKE_CUDA_ARCHITECTURES={architecture}", "-DSTRATA_BUILD_BENCHMARKS=ON",
                 "-DSTRATA_BUILD_TESTS=OFF", "-DSTRATA_BUILD_EXAMPLES=OFF"],
                ["cmake", "--build", folder, "--target", "benchmark_programs", "--parallel", str(jobs)]]
    for command in commands:
        print(" ".join(command), flush=True)
        try:
            code = subprocess.run(command, check=False).returncode
        except OSError as error:
            raise RunError(f"cannot start {command[0]}: {error}") from error
        if code != 0:
            raise RunError("the programs cannot be built; the messages are above")
    return os.path.join(folder, "benchmarks")


def programs_in(folder, only, devices):
    """{name: path}. The one of several GPUs runs where there are several."""
    found = {os.path.basename(path)[:-len("_benchmark")]: path
             for path in sorted(glob.glob(os.path.join(folder, "*_benchmark")))}
    if devices < 2:
        found.pop("distributed", None)
    unknown = [name for name in only if name not in found]
    if unknown:
        raise RunError(f"--only: there is no {', '.join(unknown)} in {folder}, but {', '.join(found) or 'nothing'}")
    if not found:
        raise RunError(f"{folder} has no benchmark programs")
    return {name: path for name, path in found.items() if not only or name in only}


# ------------------------------------------------------------------ running


class Bar:
    def __init__(self):
        self.stream, self.is_terminal = sys.stderr, sys.stderr.isatty()
        self.began = time.monotonic()

    def show(self, share, text):
        if self.is_terminal:
            share = min(1.0, share)
            elapsed = time.monotonic() - self.began
            left = f", about {elapsed * (1 - share) / share / 60:.0f} min left" if share > 0.02 else ""
            print(f"\r[{'#' * round(24 * share):.<24}] {text}{left}\x1b[K", end="", file=self.stream, flush=True)

    def line(self, text):
        print(f"\r{text}\x1b[K" if self.is_terminal else text, file=self.stream, flush=True)


def count_rows(path):
    try:
        with open(path, encoding="utf-8") as file:
            return max(0, sum(1 for _ in file) - 1)
    except OSError:
        return 0


def listed(path, arguments):
    """Names of cases and libraries, one a line."""
    done = subprocess.run([path, "--list", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    return max(1, len(done.stdout.splitlines()))


def run_program(name, path, folder, arguments, commit, show):
    """(exit code, context of the program); its CSV is in the folder if it has a row."""
    part, context, log = (os.path.join(folder, name + end) for end in (".csv.part", ".json.part", ".log"))
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen([path, "--csv", part, f"--benchmark_out={context}", "--git-hash", commit,
                                    *arguments], stdout=out, stderr=subprocess.STDOUT)
        try:
            while True:
                try:
                    process.wait(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    show(count_rows(part))
        finally:
            if process.returncode is None:
                process.terminate()
                process.wait()
    found = {}
    try:
        found = report.read_context(context)
    except (OSError, ValueError, KeyError):
        pass
    for extra in glob.glob(f"{context}*"):
        os.remove(extra)
    if count_rows(part) > 0:
        os.replace(part, os.path.join(folder, f"{name}.csv"))
    elif os.path.exists(part):
        os.remove(part)
    if process.returncode == 0:
        os.remove(log)
    return process.returncode, found


def load_state(folder, identity):
    """What an earlier run of the same has measured, {program: ...}, and why not."""
    try:
        with open(os.path.join(folder, "context.json"), encoding="utf-8") as file:
            state = json.load(file)
        differing = [key for key, value in identity.items() if state["run"].get(key) != value]
        return ({}, ", ".join(differing)) if differing else (state["programs"], "")
    except FileNotFoundError:
        return {}, ""
    except (ValueError, KeyError, TypeError):
        return {}, "context.json"


def save_state(folder, identity, programs):
    path = os.path.join(folder, "context.json")
    contexts = [program["context"] for program in programs.values() if program["context"]]
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        json.dump({"run": identity, "context": merged(contexts), "programs": programs}, file, indent=1)
        file.write("\n")
    os.replace(f"{path}.part", path)


def merged(contexts):
    """One context of those of all programs: what differs is a range, or a list."""
    values = {}
    for context in contexts:
        for key, value in context.items():
            values.setdefault(key, [])
            if value not in values[key]:
                values[key].append(value)
    return {key: one[0] if len(one) == 1 else range_of(key, one) for key, one in values.items()}


def range_of(key, values):
    if key == "date":
        return f"{min(values)} to {max(values)}"
    try:
        numbers = [float(value) for value in values]
        return f"{min(numbers):g} to {max(numbers):g}"
    except (TypeError, ValueError):
        return values[-1] if key.startswith("clocks") else "; ".join(str(value) for value in values)


# ------------------------------------------------------------------ what is written

def csv_files(folder):
    return sorted(glob.glob(os.path.join(folder, "*.csv")))


def context_of(folder):
    """Of a results folder: context.json, or the table in its README.md."""
    try:
        with open(os.path.join(folder, "context.json"), encoding="utf-8") as file:
            return json.load(file)["context"]
    except (OSError, ValueError, KeyError):
        pass
    try:
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            table = file.read().partition("\n| | |\n|---|---|\n")[2].partition("\n\n")[0]
        return dict(re.findall(r"^\| (\w+) \| (.+) \|$", table, re.MULTILINE))
    except OSError:
        return {}


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_report(folder):
    """Table and charts of the CSV files in a folder."""
    timings = report.read_timings(csv_files(folder))
    comparisons = report.compare(timings)
    context = context_of(folder)
    text = report.markdown(comparisons, timings, context, report.TITLE, report.read_failures(csv_files(folder)))
    heading = f"# {report.TITLE}\n"
    write(os.path.join(folder, "README.md"),
          text.replace(heading, f"{heading}\n![strata, its best rival and a copy](overview.svg)\n", 1))
    write(os.path.join(folder, "chart.svg"), report.svg(comparisons, report.TITLE))
    write(os.path.join(folder, "overview.svg"), report.overview_svg(timings, report.overview_title(context)))
    return comparisons


INDEX_HEAD = """# Results

![strata and its best rival, one pair of bars for each primitive]({picture}/overview.svg)

A pair of bars is one case of a primitive: strata, and below it the fastest rival on the same input, in most cases CUB.
Of each primitive it is one type and one kind of input, of the largest size that was measured with a rival. Other types
and sizes may differ much; the tables have them. The dashed line is the limit: the speed at which the GPU copies the
input. Sorts and joins move items several times, so they cannot reach it. A sum does not write, so it can exceed it. On
the right stands how many times as fast as the rival strata is.

| GPU | date | comparisons | faster | same | slower | unsure | copy, GB/s |
|---|---|--:|--:|--:|--:|--:|--:|
"""
INDEX_TAIL = """
A comparison is a case with one rival; `slower` are those in which the rival is faster. Each folder has all of them.

## Results of your GPU

    python3 benchmarks/run_all.py

It builds the programs and measures, and goes on where it was stopped if it is started again. It ends with what to
send. `--quick` tries first whether all runs, with fewer samples of smaller inputs.

This page is written by `run_all.py --index` from the files in the folders.
"""


def index_text(results):
    """results/README.md"""
    lines, picture = [], None
    for name in sorted(os.listdir(results)):
        folder = os.path.join(results, name)
        files = csv_files(folder)
        if not files or name.endswith("-quick"):
            continue
        if os.path.exists(os.path.join(folder, "overview.svg")):
            picture = min(picture or name, name, key=lambda each: (each != "h200", each))
        context = context_of(folder)
        statuses = [comparison.status for comparison in report.compare(report.read_timings(files))]
        numbers = " | ".join(str(statuses.count(status)) for status in ("faster", "same", "slower", "unsure"))
        copy = re.match(r"[\d.]+", str(context.get("copy_1gib_gb_per_s", "")))
        several = re.search(r"x(\d+)$", name)
        gpu = f"{f'{several.group(1)} x ' if several else ''}{context.get('gpu', name)}"
        date = str(context.get("date", ""))[:10]
        lines.append(f"| [{gpu}]({name}/README.md) | {date} | {len(statuses)} | {numbers} | "
                     f"{report.rounded(float(copy.group(0))) if copy else ''} |")
    return f"{report.SPDX_COMMENT}\n{INDEX_HEAD.format(picture=picture)}" + "\n".join(lines) + "\n" + INDEX_TAIL


def pack(folder, target):
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, arcname=os.path.basename(folder), filter=lambda member: None if member.name.endswith(
            (".part", ".log")) else member)


# ------------------------------------------------------------------ command line

def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small and soon; not to be published")
    parser.add_argument("--only", default="", metavar="NAME,...", help="these programs, as reduce,scan")
    parser.add_argument("--out", metavar="DIR", help="default: benchmarks/results/<gpu>")
    parser.add_argument("--overwrite", action="store_true", help="replace results that are there already")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "benchmarks"), metavar="DIR",
                        help="where programs are built (default build/benchmarks)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--programs", metavar="DIR", help="use the programs in this folder, build none")
    parser.add_argument("--index", action="store_true", help="write results/README.md and end")
    return parser.parse_args(arguments)


def measure(options):
    found = gpus()
    if options.programs is None and not found:
        raise RunError("no GPU answers to nvidia-smi")
    gpu, capability = found[0] if found else ("unknown", "")
    programs = programs_in(options.programs or build(options.build, capability.replace(".", ""), options.jobs),
                           [name for name in options.only.split(",") if name], len(found))
    folder = options.out or os.path.join(RESULTS, folder_name(gpu) + ("-quick" if options.quick else ""))
    os.makedirs(folder, exist_ok=True)
    commit = commit_of_tree()
    identity = {"gpu": gpu, "commit": commit, "quick": options.quick,
                "driver": ask(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])}
    done, differing = load_state(folder, identity)
    is_ours = os.path.exists(os.path.join(folder, "context.json")) and not differing
    if csv_files(folder) and not is_ours and not options.overwrite:
        raise RunError(f"{folder} has results of another run{f' (other {differing})' if differing else ''}: name "
                       "another folder with --out, or replace them with --overwrite")
    done = {name: program for name, program in done.items() if program["exit_code"] == 0 and
            os.path.exists(os.path.join(folder, f"{name}.csv"))}
    bar = Bar()
    if done:
        bar.line(f"goes on: {', '.join(sorted(done))} measured before")
    arguments = QUICK if options.quick else []
    to_do = {name: path for name, path in programs.items() if name not in done}
    sizes = {name: listed(path, arguments) for name, path in to_do.items()}
    total, before = max(1, sum(sizes.values())), 0
    for name, path in to_do.items():
        def show(rows, name=name, before=before):
            bar.show((before + min(rows, sizes[name])) / total, f"{name}: {rows} of {sizes[name]} results")

        show(0)
        began = time.monotonic()
        code, context = run_program(name, path, folder, arguments, commit, show)
        before += sizes[name]
        done[name] = {"exit_code": code, "seconds": round(time.monotonic() - began, 1), "context": context,
                      "date": datetime.date.today().isoformat()}
        save_state(folder, identity, done)
        rows = count_rows(os.path.join(folder, f"{name}.csv"))
        bar.line(f"{name}: {rows} results in {done[name]['seconds']:.0f} s" +
                 ("" if code == 0 else f", FAILED with {code}: see {os.path.join(folder, name + '.log')}"))
    return finish(options, folder, programs, done)


def finish(options, folder, programs, done):
    failed = [name for name in programs if done[name]["exit_code"] != 0]
    if not csv_files(folder):
        raise RunError(f"no program has a result; their messages are in {folder}/*.log")
    comparisons = write_report(folder)
    if os.path.dirname(os.path.abspath(folder)) == RESULTS and not options.quick:
        write(os.path.join(RESULTS, "README.md"), index_text(RESULTS))
    print(report.headline(comparisons))
    print(f"written: {folder}: {len(csv_files(folder))} CSV files, README.md, chart.svg, overview.svg, context.json")
    if failed:
        print(f"failed: {', '.join(failed)}. Run again to repeat them.")
    if options.quick:
        print("A quick run shows that all runs. Its figures are not to be sent.")
    elif options.only:
        print("Some programs only: run without --only before you send the results.")
    else:
        is_result = os.path.dirname(os.path.abspath(folder)) == RESULTS
        target = os.path.join(ROOT, "build") if is_result else os.path.dirname(os.path.abspath(folder))
        archive = os.path.join(target, f"{os.path.basename(os.path.abspath(folder))}.tar.gz")
        os.makedirs(target, exist_ok=True)
        pack(folder, archive)
        print(f"To contribute: commit {os.path.relpath(folder, ROOT) if is_result else folder} and open a pull "
              f"request, or attach {archive} to an issue. Losses and failed programs count, too.")
    return 1 if failed else 0


def main(arguments):
    options = parse_arguments(arguments)
    try:
        if options.index:
            write(os.path.join(RESULTS, "README.md"), index_text(RESULTS))
            return 0
        return measure(options)
    except (RunError, ValueError) as error:
        print(f"run_all.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
