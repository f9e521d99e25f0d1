"""Nothing of GoogleTest's is left out by a filter: basis_test.py CTEST BUILD [PATTERN...].

Every pattern of every test's filter names something, so that none is forgotten when a case gets another name; and each
case of an executable whose tests leave some out is in one of them, in the basis or with the label `whole`, but for what the
patterns given here name. Worlds of other sizes than the jobs of processes have are in none of these."""

import collections
import fnmatch
import json
import os
import re
import subprocess
import sys


def tests_with_filters(ctest, build):
    """(name, executable, chosen patterns, patterns left out, variables) of every test with a filter."""
    shown = json.loads(subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout)
    for test in shown["tests"]:
        command = test.get("command", [])
        words = [word for word in command if word.startswith("--gtest_filter=")]
        executables = [word for word in command if re.fullmatch(r"test_\w+", os.path.basename(word))]
        if words and executables and os.path.exists(executables[0]):
            chosen, _, left_out = words[0].split("=", 1)[1].partition("-")
            variables = next((one["value"] for one in test["properties"] if one["name"] == "ENVIRONMENT"), [])
            yield test["name"], executables[0], (chosen or "*").split(":"), left_out.split(":") if left_out else [], variables


def cases_of(executable, variables):
    said = subprocess.run([executable, "--gtest_list_tests"], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **dict(one.split("=", 1) for one in variables)}).stdout
    cases, suite = [], ""
    for line in said.splitlines():
        if re.match(r"^\S+\.( |$)", line):
            suite = line.split()[0]
        elif line.startswith("  ") and suite:
            cases.append(suite + line.split("#")[0].strip())
    return cases


def matched(cases, pattern):
    found = re.compile(fnmatch.translate(pattern.replace("[", "[[]")))
    return {case for case in cases if found.match(case)}


def main(ctest, build, *never):
    wrong, covered, listed, by_processes, parted = [], collections.defaultdict(set), {}, set(), set()
    for name, executable, chosen, left_out, variables in tests_with_filters(ctest, build):
        if executable not in listed:
            listed[executable] = cases_of(executable, variables)
        cases = listed[executable]
        for pattern in [*chosen, *left_out]:
            if not matched(cases, pattern):
                wrong.append(f"{name}: '{pattern}' names no case of {os.path.basename(executable)}")
        found = set().union(*(matched(cases, one) for one in chosen)) - set().union(*(matched(cases, one) for one in left_out))
        covered[executable] |= found
        if left_out:
            parted.add(executable)
        if re.match(r"(mpi|net_ranks|gpu|gpu_on_host)\.", name):
            by_processes.add(executable)
    for executable, cases in listed.items():
        allowed = covered[executable].union(*(matched(cases, one) for one in never))
        for case in cases:
            if executable in parted - by_processes and case not in allowed:
                wrong.append(f"{case} of {os.path.basename(executable)} is in no test")
    if not listed:
        wrong.append("no test of this build has a filter; this check has nothing to do")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
