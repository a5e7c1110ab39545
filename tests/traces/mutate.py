#!/usr/bin/python3
"""Changes one number of a program below programs/ at a time and asks both real PyTorch and stepzero what comes of it.

    tests/traces/mutate.py [--every N] [--seed S] [TOPIC…]    every Nth change (all of them without it) of the right programs

Prints what is wrong: an error where PyTorch runs to the end (ALARM), a shape that PyTorch did not have (WRONG); what may be:
an error on another line than that where PyTorch raises (ELSEWHERE; most often a later one that fails too); then how many of
the exceptions are found at their line. It needs PyTorch and a few minutes: a tool for whoever works on the analysis, not a
test.
"""

import argparse
import ast
import json
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path

import judge
import record


def numbers(text):
    """(line, column, end, value) of the integers that may be sizes."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and type(node.value) is int and 1 <= node.value <= 512 and node.lineno == node.end_lineno:
            found.append((node.lineno, node.col_offset, node.end_col_offset, node.value))
    return sorted(set(found))


def changed(text, place, value):
    line, begin, end, _ = place
    lines = text.split("\n")
    bytes_of = lines[line - 1].encode()
    lines[line - 1] = (bytes_of[:begin] + str(value).encode() + bytes_of[end:]).decode()
    return "\n".join(lines)


def mutants(folder):
    text = (folder / "ok.py").read_text()
    for place in numbers(text):
        for value in {place[3] + 1, max(place[3] // 2, 0) if place[3] > 3 else place[3] - 1}:
            yield place, value, changed(text, place, value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("topics", nargs="*")
    options = parser.parse_args()
    record.oracles.enter()
    import torch  # noqa: F401
    folders = [judge.PROGRAMS / topic for topic in options.topics] or sorted(p.parent for p in judge.PROGRAMS.glob("*/ok.py"))
    everything = [(folder, *each) for folder in folders for each in mutants(folder)]
    random.Random(options.seed).shuffle(everything)
    chosen = everything[::options.every]
    with tempfile.TemporaryDirectory() as scratch:
        reports, files = {}, []
        for i, (folder, place, value, text) in enumerate(chosen):
            here = Path(scratch) / f"{i}"
            shutil.copytree(folder, here, ignore=shutil.ignore_patterns("wrong.py", "facts.json", "__pycache__"))
            (here / "ok.py").write_text(text)
            reports[str(i)] = record.in_a_child(here, "ok.py")
            files += [file.relative_to(scratch).as_posix() for file in record.sources(here)]
        judge.PROGRAMS = Path(scratch)
        findings, shapes = {}, {}
        for finding in judge.asked("check", files)["diagnostics"]:
            if finding["severity"] == "error" and finding["rule"].startswith("shape/"):
                number, file = finding["path"].split("/", 1)
                findings.setdefault(number, []).append((file, finding))
        for each in judge.asked("shapes", files)["files"]:
            number, file = each["path"].split("/", 1)
            shapes.setdefault(number, {})[file] = each["shapes"]
    complaints = raised = found = 0
    for i, (folder, place, value, _) in enumerate(chosen):
        report = reports[str(i)]
        raises = report["raises"]
        what = f"{folder.name}:{place[0]}:{place[1] + 1} {place[3]} → {value}"
        said = []
        hit = False
        for file, finding in findings.get(str(i), []):
            first, last = finding["range"]["start"]["line"], finding["range"]["end"]["line"]
            if raises and raises.get("file") == file and first <= raises["line"] <= last:
                hit = True
            elif not raises:
                said.append(f"ALARM {what} but {file}:{first} {finding['rule']}: {finding['message']}")
        if raises:
            shape_like = raises["type"] in ("RuntimeError", "ValueError", "IndexError", "AssertionError") and "line" in raises
            raised += shape_like
            found += hit and shape_like
            if findings.get(str(i)) and not hit:
                file, finding = findings[str(i)][0]
                said.append(f"ELSEWHERE {what} raises {raises.get('file')}:{raises.get('line')} {raises['message'][:90]}; "
                            f"said {file}:{finding['range']['start']['line']} {finding['message'][:140]}")
        for file, places in report["places"].items():
            inferred = {f"{each['line']}:{each['name']}": each for each in shapes.get(str(i), {}).get(file, [])}
            for where, seen in places.items():
                got = inferred.get(where)
                if got is None or raises or "..." in seen or got.get("kind") not in ("tensor", "int"):
                    continue
                if not any(judge.agrees(got, each) for each in seen):
                    said.append(f"WRONG {what} {file}:{where} inferred {judge.shown(got)}, observed {json.dumps(seen[0])}")
        complaints += bool(said)
        for line in said:
            print(re.sub(r"\s+", " ", line), flush=True)
    print(f"{len(chosen)} programs, {complaints} with complaints; {found} of {raised} exceptions found at their line")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
