#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs all benchmark programs, and writes results/<gpu>/: CSV files, the table, charts, and the context.

    run_all.py                       build, measure, write benchmarks/results/<gpu>/
    run_all.py --quick               fewer samples, inputs of at most 2^24 items: checks that everything runs
    run_all.py --cub DIR,toolkit     compare with the CUB whose headers are in DIR, and with the toolkit's
    run_all.py --programs DIR        run programs that are built already
    run_all.py --index               measure nothing, only rewrite results/README.md

The rivals are CUB's newest release, which fetch_cub.py downloads from PyPI, and the CUB of the toolkit. The programs
are built and run once with each. results/<gpu>/ has the results with the first CUB, results/<gpu>/cub-<version>/ those
with the other.

If it was interrupted, the same command goes on with the missing programs. The exit code is 0 if all programs ran and
gave right results, 1 if one failed (the others' results are written), 2 if nothing could be measured, and 130 after an
interruption.
"""

import argparse
import datetime
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fetch_cub  # noqa: E402  (found through the line above)
import report  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RESULTS = os.path.join(HERE, "results")

# Options of the programs in a quick run, whose results are not good enough to publish.
QUICK = ["--samples", "5", "--target-us", "200", "--max-n", str(1 << 24), "--no-latency"]


# Programs that run a second time with a cold cache, as <name>_cold, and their options for this run.
COLD = {"radix_sort": [], "reduce": [], "scan": [], "segmented_sort": ["--filter", "DeviceMergeSort"], "select": [],
        "transform": []}
# Programs without CUB as a rival. They run only with the first CUB.
WITHOUT_CUB = ("distributed", "transpose")
UNKNOWN_CUB = "unknown"


class RunError(Exception):
    """An error whose message the user sees without a traceback."""


def ask(command, default="unknown"):
    """Returns the first line that a command prints."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        return done.stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return default


def commit_of_tree():
    """STRATA_COMMIT of the environment names the commit of a copy without git."""
    if "STRATA_COMMIT" in os.environ:
        return os.environ["STRATA_COMMIT"]
    commit = ask(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"])
    changed = ask(["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"], "")
    return f"{commit} with changes" if changed and commit != "unknown" else commit


def gpus():
    """Returns [(name, compute capability)] of this machine's GPUs."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [tuple(part.strip() for part in line.split(",")) for line in done.stdout.splitlines()]


def folder_name(gpu):
    """Shortens a GPU's name: NVIDIA GeForce RTX 4090 -> rtx-4090, NVIDIA H200 -> h200."""
    name = re.sub(r"^(NVIDIA|Tesla|GeForce|Quadro)\s+", "", re.sub(r"^NVIDIA\s+", "", gpu))
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def cub_folders(wanted):
    """Returns the folders of headers that the value of --cub stands for. "" stands for the toolkit's."""
    folders = []
    for what in [part for part in wanted.split(",") if part]:
        if what == "toolkit":
            folders.append("")
        elif what == "newest":
            try:
                folders.append(fetch_cub.fetch())
            except fetch_cub.FetchError as error:
                before = fetch_cub.fetched_before()
                raise RunError(f"CUB's newest release: {error}.\nPass a folder with its headers, as --cub "
                               f"{before[0] if before else 'DIR'},toolkit, or compare only with the toolkit's, by "
                               "--cub toolkit") from error
        elif fetch_cub.version_of(what) is None:
            raise RunError(f"--cub: {what} is neither newest nor toolkit, nor a folder with cub/version.cuh")
        else:
            folders.append(os.path.abspath(what))
    if not folders:
        raise RunError("--cub: newest, toolkit or a folder")
    return list(dict.fromkeys(folders))


def build(folder, architecture, jobs, cub, targets):
    """Builds programs in `folder`, with the CUB in the folder `cub`, or with the toolkit's if that is empty."""
    commands = [["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DSTRATA_ENABLE_CUDA=ON",
                 f"-DCMAKE_CUDA_ARCHITECTURES={architecture}", "-DSTRATA_BUILD_BENCHMARKS=ON",
                 "-DSTRATA_BUILD_TESTS=OFF", "-DSTRATA_BUILD_EXAMPLES=OFF", f"-DSTRATA_BENCHMARK_CUB_DIR={cub}"],
                ["cmake", "--build", folder, "--parallel", str(jobs), "--target", *targets]]
    for command in commands:
        print(" ".join(command), flush=True)
        try:
            code = subprocess.run(command, check=False).returncode
        except OSError as error:
            raise RunError(f"cannot start {command[0]}: {error}") from error
        if code != 0:
            raise RunError("the programs cannot be built; the messages are above")
    return os.path.join(folder, "benchmarks")


def targets_of(only, is_first):
    """Returns what to build: with the first CUB all programs, with another one only those that have CUB as a rival."""
    names = {name[:-len("_cold")] if name.endswith("_cold") else name for name in only}
    if not names and is_first:
        return ["benchmark_programs"]
    names = names or {os.path.basename(path)[:-len(".cu")] for path in glob.glob(os.path.join(HERE, "*.cu"))}
    return [f"{name}_benchmark" for name in sorted(names) if is_first or name not in WITHOUT_CUB]


def builds_of(options, architecture, only):
    """Builds the programs if necessary. Returns [(version of CUB, folder of programs)] in the order of the options,
    each version once."""
    if options.programs:
        folders = list(options.programs)
    else:
        folders = []
        for i, cub in enumerate(cub_folders(options.cub)):
            folder = f"{options.build}{f'-cub-{fetch_cub.version_of(cub)}' if cub else ''}"
            targets = targets_of(only, i == 0)
            if targets:
                folders.append(build(folder, architecture, options.jobs, cub, targets))
    found = {}
    for folder in folders:
        found.setdefault(built_with(folder), folder)
    return list(found.items())


def built_with(folder):
    """Returns the version of CUB that CMake wrote into the folder of the programs."""
    try:
        with open(os.path.join(folder, "cub_version"), encoding="utf-8") as file:
            number = int(file.read())
        return fetch_cub.version_text(number) if number else UNKNOWN_CUB
    except (OSError, ValueError):
        return UNKNOWN_CUB


def runs_in(folder, only, devices, is_first=True):
    """Returns {name: (path, arguments)}. The program for several GPUs runs only if there are several."""
    found = {os.path.basename(path)[:-len("_benchmark")]: path
             for path in sorted(glob.glob(os.path.join(folder, "*_benchmark")))}
    if not found:
        raise RunError(f"{folder} has no benchmark programs")
    if devices < 2:
        found.pop("distributed", None)
    runs = {}
    for name, path in found.items():
        runs[name] = (path, [])
        if name in COLD:
            runs[f"{name}_cold"] = (path, ["--cold", *COLD[name]])
    unknown = [name for name in only if name not in runs]
    if unknown and is_first:
        raise RunError(f"--only: there is no {', '.join(unknown)} in {folder}, but {', '.join(runs) or 'nothing'}")
    return {name: run for name, run in runs.items()
            if (not only or name in only) and (is_first or name not in WITHOUT_CUB)}


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
    """Returns the number of results that a program lists, one for each case and library."""
    done = subprocess.run([path, "--list", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    return max(1, len(done.stdout.splitlines()))


def run_program(name, path, folder, arguments, commit, show):
    """Runs a program. Returns (exit code, the program's context). Leaves its CSV in the folder if it has a row."""
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
    """Returns the programs that an earlier run with the same identity measured, {program: ...}, and what differs if the
    earlier run had another identity."""
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
    """Merges the contexts of all programs. Values that differ become a range or a list."""
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


def other_cubs(folder):
    """Returns the folders in a folder of results that have the results with another CUB."""
    return [path for path in sorted(glob.glob(os.path.join(folder, "cub-*"))) if csv_files(path)]


def context_of(folder):
    """Returns the context of a folder of results, from context.json or from the table in its README.md."""
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
    """Writes the table and the charts of the CSV files in a folder. Returns the comparisons."""
    timings = report.read_timings(csv_files(folder))
    comparisons = report.compare(timings)
    context = context_of(folder)
    title = report.page_title(context)
    others = {context_of(path).get("cub", os.path.basename(path)[len("cub-"):]): report.compare(
        report.read_timings(csv_files(path))) for path in other_cubs(folder)}
    text = report.markdown(comparisons, timings, context, title, report.read_failures(csv_files(folder)), others)
    heading = f"# {title}\n"
    write(os.path.join(folder, "README.md"),
          text.replace(heading, f"{heading}\n![strata, its best rival and a copy](overview.svg)\n", 1))
    write(os.path.join(folder, "chart.svg"), report.svg(comparisons, title))
    write(os.path.join(folder, "overview.svg"), report.overview_svg(timings, report.overview_title(context)))
    if report.group_points(timings):
        write(os.path.join(folder, "group_by.svg"),
              report.groups_svg(timings, report.groups_title(timings, context)))
    return comparisons


INDEX_HEAD = """# Results

![strata and its best rival, one pair of bars for each primitive]({picture}/overview.svg)

A pair of bars is one case of a primitive: strata, and below it the fastest rival on the same input, in most cases CUB.
The case has one type and one kind of input, and the largest size that was measured with a rival. Other types and sizes
may differ much; the tables have them. The dashed line beside these pairs is the limit: the speed at which the GPU
copies the input. Sorts and joins move items several times, so they cannot reach the limit. A sum does not write, so it
can exceed the limit. Further down, single bars show collectives, and the dashed line there is CUB's speed. The number
on the right is the rival's time divided by strata's.

| GPU | date | CUB | comparisons | faster | same | slower | unsure | copy, GB/s |
|---|---|---|--:|--:|--:|--:|--:|--:|
"""
INDEX_KERNELS = """
The next table is about collectives of blocks, warps and threads. A kernel on a full device calls them repeatedly.
Ratios are CUB's times divided by strata's:

| GPU | CUB | collectives | cases | geometric mean of ratios | least | greatest |
|---|---|---|--:|--:|--:|--:|
"""
INDEX_TAIL = """
A comparison is a case with one rival. `slower` counts the comparisons in which the rival is faster. `same` is a
difference of at most 1 %. In `unsure` cases, samples scatter too much to tell. Each folder lists all comparisons. `CUB`
is the version of CUB beside which strata was measured: the newest at that time, or the one of the CUDA toolkit.

## Results of your GPU

    python3 benchmarks/run_all.py

It builds the programs, with the newest CUB and with the toolkit's, and measures. If it is stopped, start it again: it
continues with the missing programs. At the end it says which files to send. `--quick` is a quick check that everything
runs, with fewer samples of smaller inputs. `<gpu>/` compares with the CUB that was measured first, by default the
newest, and `<gpu>/cub-<version>/` with the other one.

This page is written by `run_all.py --index` from the files in the folders.
"""


def index_row(folder, name):
    """Returns the line of the table for a folder of results."""
    context = context_of(folder)
    statuses = [comparison.status for comparison in report.compare(report.read_timings(csv_files(folder)))]
    numbers = " | ".join(str(statuses.count(status)) for status in ("faster", "same", "slower", "unsure"))
    copy = re.match(r"[\d.]+", str(context.get("copy_1gib_gb_per_s", "")))
    several = re.search(r"x(\d+)$", name.partition("/")[0])
    gpu = f"{f'{several.group(1)} x ' if several else ''}{context.get('gpu', name)}"
    return (f"| [{gpu}]({name}/README.md) | {str(context.get('date', ''))[:10]} | {context.get('cub', '')} | "
            f"{len(statuses)} | {numbers} | {report.rounded(float(copy.group(0))) if copy else ''} |")


def collective_rows(folder, name):
    """Returns the lines of the table of collectives: one for each group in a folder of results."""
    context = context_of(folder)
    rows = []
    for group, alone, members in report.collective_groups(report.compare(report.read_timings(csv_files(folder)))):
        ratios = [comparison.ratio for comparison in members]
        if not alone:
            rows.append(f"| {context.get('gpu', name)} | {context.get('cub', '')} | {group} | {len(members)} | "
                        f"{statistics.geometric_mean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} |")
    return rows


def index_text(results):
    """Returns the text of results/README.md."""
    lines, in_kernels, picture = [], [], None
    for name in sorted(os.listdir(results)):
        folder = os.path.join(results, name)
        if not csv_files(folder) or name.endswith("-quick"):
            continue
        if os.path.exists(os.path.join(folder, "overview.svg")):
            picture = min(picture or name, name, key=lambda each: (each != "h200", each))
        lines.append(index_row(folder, name))
        in_kernels += collective_rows(folder, name)
        for path in other_cubs(folder):
            lines.append(index_row(path, f"{name}/{os.path.basename(path)}"))
            in_kernels += collective_rows(path, name)
    return f"{report.SPDX_COMMENT}\n{INDEX_HEAD.format(picture=picture)}" + "\n".join(lines) + "\n" + (
        INDEX_KERNELS + "\n".join(in_kernels) + "\n" if in_kernels else "") + INDEX_TAIL


def counts_with_cub(folder):
    """Returns {status: number of comparisons with CUB}."""
    statuses = [comparison.status for comparison in report.compare(report.read_timings(csv_files(folder)))
                if comparison.rival == "cub"]
    return {status: statuses.count(status) for status in ("faster", "same", "slower", "unsure")}


def front_page_text(folder):
    """Returns the sentences on these results in README.md of the project, with the newest CUB first. A test checks that
    README.md has them."""
    def version(path):
        return [int(number) for number in re.findall(r"\d+", context_of(path).get("cub", ""))]
    newest, *others = sorted([folder, *other_cubs(folder)], key=version, reverse=True)
    context, counts = context_of(newest), counts_with_cub(newest)
    text = (f"of {sum(counts.values()):,} comparisons with CUB {context.get('cub', UNKNOWN_CUB)}, strata is faster in "
            f"{counts['faster']:,}, as fast in {counts['same']}, slower in {counts['slower']}; {counts['unsure']} are "
            f"unsure. These were measured on {str(context.get('date', ''))[:10]}.")
    for path in others:
        counts = counts_with_cub(path)
        text += (f" Beside CUB {context_of(path).get('cub', UNKNOWN_CUB)}, it is faster in {counts['faster']:,} of "
                 f"{sum(counts.values()):,}, slower in {counts['slower']}.")
    return text


def pack(folder, target):
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, arcname=os.path.basename(folder), filter=lambda member: None if member.name.endswith(
            (".part", ".log")) else member)


# ------------------------------------------------------------------ command line

def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small, quick run; do not publish its results")
    parser.add_argument("--only", default="", metavar="NAME,...", help="only these programs, such as reduce,scan")
    parser.add_argument("--out", metavar="DIR", help="default: benchmarks/results/<gpu>")
    parser.add_argument("--overwrite", action="store_true", help="replace results that are there already")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "benchmarks"), metavar="DIR",
                        help="where programs are built with the toolkit's CUB (default build/benchmarks); programs "
                        "with another CUB are built in DIR-cub-<version>")
    parser.add_argument("--cub", default="newest,toolkit", metavar="WHAT,...",
                        help="the rivals: newest, toolkit, or a folder with headers, as of fetch_cub.py (default "
                        "newest,toolkit). Programs without CUB as a rival run only with the first one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--programs", action="append", metavar="DIR",
                        help="run the programs in this folder, build none; repeat it for programs with another CUB")
    parser.add_argument("--index", action="store_true",
                        help="write results/README.md, print the sentences for README.md of the project, and end")
    return parser.parse_args(arguments)


def measure(options):
    found = gpus()
    if not options.programs and not found:
        raise RunError("no GPU answers to nvidia-smi")
    gpu, capability = found[0] if found else ("unknown", "")
    only = [name for name in options.only.split(",") if name]
    folder = options.out or os.path.join(RESULTS, folder_name(gpu) + ("-quick" if options.quick else ""))
    measured = []
    for i, (version, programs) in enumerate(builds_of(options, capability.replace(".", ""), only)):
        runs = runs_in(programs, only, len(found), i == 0)
        if runs:
            target = folder if i == 0 else os.path.join(folder, f"cub-{version}")
            measured.append((target, runs, measure_beside(options, version, runs, target, gpu)))
    return finish(options, folder, measured)


def measure_beside(options, version, runs, folder, gpu):
    """Runs the programs whose results a folder lacks. Returns {name: what happened}, with earlier runs."""
    os.makedirs(folder, exist_ok=True)
    commit = commit_of_tree()
    identity = {"gpu": gpu, "commit": commit, "quick": options.quick, "cub": version,
                "driver": ask(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])}
    done, differing = load_state(folder, identity)
    is_ours = os.path.exists(os.path.join(folder, "context.json")) and not differing
    if csv_files(folder) and not is_ours and not options.overwrite:
        raise RunError(f"{folder} has results of another run{f' (other {differing})' if differing else ''}: pass "
                       "another folder by --out, or replace them by --overwrite")
    done = {name: program for name, program in done.items() if program["exit_code"] == 0 and
            os.path.exists(os.path.join(folder, f"{name}.csv"))}
    bar = Bar()
    bar.line(f"beside CUB {version}:")
    if done:
        bar.line(f"goes on: {', '.join(sorted(done))} measured before")
    arguments = QUICK if options.quick else []
    to_do = {name: run for name, run in runs.items() if name not in done}
    sizes = {name: listed(path, [*arguments, *own]) for name, (path, own) in to_do.items()}
    total, before = max(1, sum(sizes.values())), 0
    for name, (path, own) in to_do.items():
        def show(rows, name=name, before=before):
            bar.show((before + min(rows, sizes[name])) / total, f"{name}: {rows} of {sizes[name]} results")

        show(0)
        began = time.monotonic()
        code, context = run_program(name, path, folder, [*arguments, *own], commit, show)
        before += sizes[name]
        if context.get("cub", version) != version:
            raise RunError(f"{path} was compiled with CUB {context['cub']}, not with {version}: build it again")
        done[name] = {"exit_code": code, "seconds": round(time.monotonic() - began, 1), "context": context,
                      "date": datetime.date.today().isoformat()}
        save_state(folder, identity, done)
        rows = count_rows(os.path.join(folder, f"{name}.csv"))
        bar.line(f"{name}: {rows} results in {done[name]['seconds']:.0f} s" +
                 ("" if code == 0 else f", FAILED with {code}: see {os.path.join(folder, name + '.log')}"))
    return done


def finish(options, folder, measured):
    """Writes the reports of [(folder, runs, what happened)]. The other folders lie in the first one."""
    failed = [os.path.join(os.path.relpath(part, folder), name) if part != folder else name
              for part, runs, done in measured for name in runs if done[name]["exit_code"] != 0]
    for part, _, _ in reversed(measured):  # the first one is last, because its table also has the others' figures
        if not csv_files(part):
            raise RunError(f"no program has a result; their messages are in {part}/*.log")
        comparisons = write_report(part)
        print(f"{report.page_title(context_of(part))}\n{report.headline(comparisons)}")
        print(f"written: {part}: {len(csv_files(part))} CSV files, README.md, charts, context.json")
    if os.path.dirname(os.path.abspath(folder)) == RESULTS and not options.quick:
        write(os.path.join(RESULTS, "README.md"), index_text(RESULTS))
    if failed:
        print(f"failed: {', '.join(failed)}. Run again to repeat them.")
    if options.quick:
        print("A quick run only shows that everything runs. Its figures are not to be sent.")
    elif options.only:
        print("Only some programs have run: run without --only before you send the results.")
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
            print("README.md of the project: " + front_page_text(os.path.join(RESULTS, "h200")))
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
