#!/usr/bin/env python3
"""Checks packages as they are installed and compares what is said with what was read and judged: reviewed.json.

    tests/precision/review.py [PACKAGE…]            the packages of reviewed.json, or these: what is new, what is gone
    tests/precision/review.py --write [PACKAGE…]    the same, and reviewed.json is made anew: what is new has the verdict "unread"

A finding is known by its content: its rule, its file below site-packages, the function that it stands in and the text of its line. An edit
elsewhere in the file, or another line number, changes nothing.
"""

import argparse
import ast
import collections
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPZERO = os.path.abspath(os.environ.get("STEPZERO", str(HERE.parents[1] / "build" / "stepzero")))
REVIEWED = HERE / "reviewed.json"
PART = 60  # folders of models that are checked together


def folder():
    """Where the packages lie: in the environment that is named, or in the oracle's."""
    named = os.environ.get("STEPZERO_PACKAGES")
    if not named:
        sys.path.insert(0, str(HERE.parent))
        import oracles
        named = oracles.folder()
    return next(Path(named).glob("lib/python3*/site-packages"), Path(named))


def reviewed():
    return json.loads(REVIEWED.read_text())


def missing(package):
    """Why a package cannot be judged; empty if it can."""
    wanted = reviewed()["versions"][package]
    if (folder() / f"{package}-{wanted}.dist-info").is_dir():
        return ""
    return f"{package} {wanted} is not installed (make oracle)"


def function_at(text, line):
    """The names of the classes and functions around a line."""
    names, block = [], ast.parse(text).body
    while block:
        inside = [each for each in ast.walk(ast.Module(block, [])) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
                  and each.lineno <= line <= each.end_lineno]
        if not inside:
            break
        outermost = min(inside, key=lambda each: each.lineno)
        names.append(outermost.name)
        block = outermost.body
    return ".".join(names)


def content(finding):
    path = folder() / finding["path"]
    line = finding["range"]["start"]["line"]
    text = path.read_text(errors="replace")
    return {"rule": finding["rule"], "severity": finding["severity"], "path": finding["path"],
            "function": function_at(text, line), "line": text.splitlines()[line - 1].strip()}


def parts(package):
    """A package as it is checked: in one go, or where it is larger than that folder by folder."""
    models = sorted(each for each in (folder() / package).glob("models/*/") if any(each.glob("*.py")))
    if len(models) < PART:
        return [[package]]
    others = sorted(each for each in (folder() / package).iterdir() if each.name not in ("models", "__pycache__") and (each.suffix == ".py" or each.is_dir()))
    together = [[str(each.relative_to(folder())) for each in others]]
    return together + [[str(each.relative_to(folder())) for each in models[i:i + PART]] for i in range(0, len(models), PART)]


def check(*paths):
    """The errors and warnings of packages or files below site-packages, by content and in order."""
    done = subprocess.run([STEPZERO, "check", "--format", "json", "--min-severity", "warning", *paths], cwd=folder(), capture_output=True, text=True)
    assert done.returncode in (0, 1) and "internal error" not in done.stderr, done.stderr
    return [content(each) for each in json.loads(done.stdout)["diagnostics"]]


def key(finding):
    return tuple(finding[name] for name in ("rule", "severity", "path", "function", "line"))


def compare(found, known):
    """(new, gone)"""
    left = collections.Counter(key(each) for each in known)
    new = []
    for each in found:
        if left[key(each)]:
            left[key(each)] -= 1
        else:
            new.append(each)
    return new, list(left.elements())


def of(package):
    return [each for each in reviewed()["findings"] if each["path"].split("/")[0] == package]


def shown(finding):
    return f"{finding['severity']}[{finding['rule']}] {finding['path']} in {finding['function'] or 'the module'}: {finding['line']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("packages", nargs="*")
    arguments = parser.parse_args()
    data = reviewed()
    failed = False
    for package in arguments.packages or data["versions"]:
        why = missing(package)
        if why:
            print("skipped: " + why)
            continue
        begin = time.monotonic()
        new, gone = compare([each for part in parts(package) for each in check(*part)], of(package))
        failed = failed or bool(new or gone)
        print(f"{package} {data['versions'][package]}: {len(of(package))} reviewed, {len(new)} new, {len(gone)} gone, {time.monotonic() - begin:.0f} s", flush=True)
        for each in new:
            print("  new   " + shown(each))
        for each in gone:
            print("  gone  " + " ".join(each))
        if arguments.write:
            data["findings"] = [each for each in data["findings"] if key(each) not in set(gone)]
            data["findings"] += [{**each, "verdict": "unread", "why": ""} for each in new]
    if arguments.write:
        lines = ",\n".join("  " + json.dumps(each) for each in sorted(data["findings"], key=key))
        REVIEWED.write_text('{"versions": ' + json.dumps(data["versions"]) + ', "findings": [\n' + lines + "\n]}\n")
    counts = collections.Counter(each["verdict"] for each in data["findings"])
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if failed and not arguments.write else 0


if __name__ == "__main__":
    sys.exit(main())
