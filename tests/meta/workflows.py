#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workflows in .github/workflows/ call presets and scripts that exist, and install the packages of the README.

`--self-test` runs each rule on an example that breaks it.
"""

import json
import re

import toolbox

WORKFLOWS = toolbox.ROOT / ".github" / "workflows"
README = toolbox.ROOT / "README.md"
INSTALL = r"apt-get install -y (?P<packages>[^\n&\\]+?) && cmake --workflow --preset (?P<preset>\w+)"


def presets_of_the_build():
    presets = json.loads((toolbox.ROOT / "CMakePresets.json").read_text())
    return {preset["name"] for preset in presets["workflowPresets"]}


def missing(text, presets):
    """What a workflow calls, but does not exist."""
    result = [f"preset {name}" for name in re.findall(r"--workflow --preset (\w+)", text) if name not in presets]
    scripts = re.findall(r"(?<![\w./-])((?:\.ci|tests|cmake|benchmarks)/[\w./-]+)", text)
    return result + [name for name in scripts if not (toolbox.ROOT / name).exists()]


def packages_that_no_job_installs(readme, workflow):
    """{preset: packages} of the README's commands that no step of a workflow installs exactly."""
    steps = [line.split() for line in re.findall(r"apt-get install -y ([^\n]+)", workflow)]
    return {match["preset"]: match["packages"] for match in re.finditer(INSTALL, readme)
            if match["packages"].split() not in steps}


def self_test():
    text = "run: cmake --workflow --preset none\nrun: python3 tests/meta/none.py\nrun: .ci/run\n"
    if missing(text, {"test"}) != ["preset none", "tests/meta/none.py"]:
        toolbox.fail(f"the self-test finds {missing(text, {'test'})}")
    readme = "    sudo apt-get install -y a b-c && cmake --workflow --preset test\n"
    if packages_that_no_job_installs(readme, "apt-get install -y a b-c\n") or \
            packages_that_no_job_installs(readme, "apt-get install -y a\n") != {"test": "a b-c"}:
        toolbox.fail("the self-test does not find other packages")


def main():
    if toolbox.wants_self_test(__doc__):
        self_test()
        return
    workflows = {path.name: path.read_text() for path in sorted(WORKFLOWS.glob("*.yml"))}
    if not workflows:
        toolbox.fail(f"no workflows in {WORKFLOWS}")
    presets = presets_of_the_build()
    findings = [f"{name}: {what} does not exist" for name, text in workflows.items() for what in missing(text, presets)]
    commands = {match["preset"] for match in re.finditer(INSTALL, README.read_text())}
    if not {"demo", "test"} <= commands:
        toolbox.fail("README.md has no command that installs and runs each of the presets demo and test")
    others = packages_that_no_job_installs(README.read_text(), "\n".join(workflows.values()))
    findings += [f"no workflow installs README.md's packages for {preset}: {packages}"
                 for preset, packages in others.items() if preset == "test"]
    if findings:
        toolbox.fail("\n".join(findings))


if __name__ == "__main__":
    main()
