#!/usr/bin/env python3
"""Compares what stepzero says of the programs below programs/ with what real PyTorch did (outcomes.json; see record.py).

    tests/ranks/judge.py [--stepzero PROGRAM] [NAME…]   the table, and what is not as known_misses says
    tests/ranks/judge.py --write-known                  rewrite known_misses to what is so now: read the difference first
    tests/ranks/judge.py --all                          besides, every line that known_misses has

A right program may get no error and no warning of the deadlock family, nor may what is left of it where nobody calls its
functions (uncalled.py: no main, nothing behind the definitions); a wrong one needs a finding of its rule at its line.
`known_misses` says what is otherwise today, one complaint a line. A complaint that is not in it fails; so does a line of it
that no longer holds.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import record

HERE = Path(__file__).resolve().parent
KNOWN = HERE / "known_misses"
HEADING = """\
# What stepzero does not do yet to the programs of tests/ranks. Every line is a FIXME: it goes when it no longer holds.
#   missed NAME RULE               no finding of the deadlock family in wrong.py
#   elsewhere NAME RULE LINE       … but only at other lines than those of the bug
#   other NAME RULE                … at the line of the bug, but of another rule
#   alarm NAME/FILE:LINE RULE      an error or warning of the deadlock family where there is no bug
#   unproven NAME RULE             an error where PyTorch ran wrong.py to its end
#   unshown NAME RULE              an error of which `stepzero schedule` shows nothing
"""
FAMILY = "deadlock/"
KINDS = ("found", "other", "elsewhere", "missed")


def stepzero_of(argument=None):
    return os.path.abspath(argument or os.environ.get("STEPZERO") or HERE.parents[1] / "build" / "stepzero")


def checked(stepzero, files, folder):
    """The findings of the deadlock family by file, from one call."""
    done = subprocess.run([stepzero, "check", "--format", "json", *files], cwd=folder, capture_output=True, timeout=600)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"stepzero check: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    found = {}
    for finding in json.loads(done.stdout)["diagnostics"]:
        if finding["rule"].startswith(FAMILY):
            found.setdefault(finding["path"].removeprefix("./"), []).append(finding)
    return found


def shown(stepzero, files, folder):
    """The files whose schedule says that something goes wrong."""
    done = subprocess.run([stepzero, "schedule", "--format", "json", *files], cwd=folder, capture_output=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"stepzero schedule: status {done.returncode}: {done.stderr.decode(errors='replace')}")

    def tells(node):
        return (node.get("kind") in ("hang", "unmatched") or (node.get("kind") == "step" and bool(node.get("problem")))
                or any(tells(inner) for inner in node.get("steps", [])))

    return {file["path"].removeprefix("./") for file in json.loads(done.stdout)["files"]
            if any(tells(part) for part in file["schedules"])}


def lines_of(finding):
    return range(finding["range"]["start"]["line"], finding["range"]["end"]["line"] + 1)


def judge_wrong(name, bug, findings):
    """What of KINDS the bug is, and the complaints."""
    places = {bug["line"], *bug.get("also", [])}
    at = [finding for finding in findings if places.intersection(lines_of(finding))]
    astray = [finding for finding in findings if finding not in at]
    complaints = {}
    if any(finding["rule"] == bug["rule"] for finding in at):
        kind = "found"
    elif at:
        kind = "other"
        complaints[f"other {name} {bug['rule']}"] = f"{at[0]['rule']} at line {at[0]['range']['start']['line']}: {at[0]['message']}"
    elif findings:
        kind = "elsewhere"
    else:
        kind = "missed"
        complaints[f"missed {name} {bug['rule']}"] = f"line {bug['line']}, and PyTorch's outcome is {bug['outcome']}"
    if bug["outcome"] == "success" and any(finding["severity"] == "error" for finding in findings):
        complaints[f"unproven {name} {bug['rule']}"] = "an error, and PyTorch ran it to its end"
    for finding in astray:
        line = finding["range"]["start"]["line"]
        if kind == "elsewhere":
            complaints[f"elsewhere {name} {bug['rule']} {line}"] = f"expected line {bug['line']}; {finding['rule']}: {finding['message']}"
        elif finding["severity"] in ("error", "warning"):
            complaints[f"alarm {name}/wrong.py:{line} {finding['rule']}"] = f"{finding['severity']}: {finding['message']}"
    return kind, complaints


def uncalled(text):
    """The program as a library: without the functions that need no arguments and without what runs. Lines keep their numbers."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        needs = isinstance(node, ast.FunctionDef) and len(node.args.args) > len(node.args.defaults)
        if needs or isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef)):
            continue
        if isinstance(node, ast.Assign) and not any(isinstance(part, ast.Call) for part in ast.walk(node)):
            continue
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        lines[first - 1:node.end_lineno] = [""] * (node.end_lineno - first + 1)
    return "\n".join(lines) + "\n"


def of_uncalled(stepzero, names):
    """The findings in the right programs as libraries, by name."""
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            Path(scratch, f"{name}.py").write_text(uncalled((record.PROGRAMS / name / "right.py").read_text()))
        return {Path(path).stem: findings for path, findings in checked(stepzero, ["."], scratch).items()}


def judge(stepzero, names=()):
    """Per rule what became of its bugs, the number of right programs, and every complaint with what to say of it."""
    bugs = {name: bug for name, bug in json.loads(record.BUGS.read_text()).items() if not names or name in names}
    files = [f"{name}/{file}" for name in bugs for file in ("right.py", "wrong.py") if (record.PROGRAMS / name / file).exists()]
    found = checked(stepzero, files, record.PROGRAMS)
    libraries = of_uncalled(stepzero, bugs)
    proven = [file for file in files if file.endswith("/wrong.py") and any(
        finding["severity"] == "error" and "does not exist" not in finding["message"] for finding in found.get(file, []))]
    told = shown(stepzero, proven, record.PROGRAMS) if proven else set()
    table, complaints, alarms = {}, {}, Counter()
    for name, bug in bugs.items():
        for file, findings in (("right.py", found.get(f"{name}/right.py", [])), ("uncalled.py", libraries.get(name, []))):
            for finding in findings:
                if finding["severity"] in ("error", "warning"):
                    alarms[bug.get("rule", "none")] += 1
                    line = finding["range"]["start"]["line"]
                    complaints[f"alarm {name}/{file}:{line} {finding['rule']}"] = f"{finding['severity']}: {finding['message']}"
        if "rule" in bug:
            kind, said = judge_wrong(name, bug, found.get(f"{name}/wrong.py", []))
            table.setdefault(bug["rule"], Counter())[kind] += 1
            complaints.update(said)
            if f"{name}/wrong.py" in proven and f"{name}/wrong.py" not in told:
                complaints[f"unshown {name} {bug['rule']}"] = "an error, and the schedule shows nothing wrong"
    return table, alarms, len(bugs), complaints


def known():
    lines = KNOWN.read_text().splitlines() if KNOWN.exists() else []
    return {line for line in lines if line and not line.startswith("#")}


def name_of(complaint):
    return complaint.split()[1].split("/")[0]


def stale_records(names=()):
    """What outcomes.json does not know of the programs as they are, or knows otherwise than bugs.json expects."""
    outcomes = json.loads(record.OUTCOMES.read_text()) if record.OUTCOMES.exists() else {}
    listed = list(record.programs(names))
    trouble = []
    for key, path, _, expected in listed:
        seen = outcomes.get(key)
        if seen is None or seen["hash"] != record.text_hash(path):
            trouble.append(f"{key} is not the program that was run: tests/ranks/record.py --record {path.parent.name}")
        elif seen["outcome"] not in expected:
            trouble.append(f"{key}: PyTorch's outcome is {seen['outcome']}, not {' or '.join(map(str, expected))}")
    if not names:
        trouble += [f"outcomes.json has {key}, which is no program" for key in sorted(set(outcomes) - {key for key, *_ in listed})]
    return trouble


def report(table, alarms, count):
    lines = [f"{'rule':34}" + "".join(f"{kind:>11}" for kind in (*KINDS, "alarms"))]
    total = Counter()
    for rule in sorted(table):
        lines.append(f"{rule:34}" + "".join(f"{table[rule][kind]:11}" for kind in KINDS) + f"{alarms[rule]:11}")
        total.update(table[rule])
    if alarms["none"]:
        lines.append(f"{'(right only)':34}" + " " * 44 + f"{alarms['none']:11}")
    lines.append(f"ranks: {total['found']} of {sum(total.values())} bugs found, {total['other']} by another rule, "
                 f"{total['elsewhere']} at another line, {total['missed']} missed; "
                 f"{sum(alarms.values())} false alarms in {count} right programs")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stepzero")
    parser.add_argument("--write-known", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    table, alarms, count, now = judge(stepzero_of(options.stepzero), options.names)
    before = {line for line in known() if not options.names or name_of(line) in options.names}
    stale = stale_records(options.names)
    for line in sorted(now):
        if line not in before or options.all:
            print(f"{line}{'' if line in before else '  (new)'}\n    {now[line]}")
    for line in sorted(before - set(now)):
        print(f"{line}  (no longer so: it goes from known_misses)")
    print(*stale, *report(table, alarms, count), sep="\n")
    if options.write_known:
        kept = {line for line in known() if options.names and name_of(line) not in options.names} | set(now)
        KNOWN.write_text(HEADING + "".join(line + "\n" for line in sorted(kept)))
    return int(set(now) != before or bool(stale))


if __name__ == "__main__":
    sys.exit(main())
