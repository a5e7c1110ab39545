#!/usr/bin/env python3
"""What the quick-fixes make of the wrong programs, and what real PyTorch made of that (fixed.json; see record.py --fixed).

    tests/ranks/fixed.py [NAME…]   every fix that stepzero offers gives a text that was run, and that ended

Each fix is taken alone, and then what is offered under the same title, until nothing more is: a program may have its bug twice.
"""

import argparse
import ast
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIXED = HERE / "fixed.json"
FAMILY = "deadlock/"
ROUNDS = 4


def program():
    return os.path.abspath(os.environ.get("STEPZERO") or HERE.parents[1] / "build" / "stepzero")


def findings(stepzero, file):
    done = subprocess.run([stepzero, "check", "--format", "json", file.name], cwd=file.parent, capture_output=True, timeout=300)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"stepzero check: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return [finding for finding in json.loads(done.stdout)["diagnostics"] if finding["rule"].startswith(FAMILY)]


def offered(found):
    """The fixes by title, the first of each."""
    fixes = {}
    for finding in found:
        for fix in finding["fixes"]:
            fixes.setdefault(fix["title"], fix)
    return fixes


def applied(text, fix):
    """The text after a fix; lines and columns of the edits count from 1, columns in code points."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(place):
        return starts[place["line"] - 1] + place["column"] - 1

    edits = sorted(fix["edits"], key=lambda edit: (offset(edit["range"]["start"]), offset(edit["range"]["end"])), reverse=True)
    for edit in edits:
        text = text[:offset(edit["range"]["start"])] + edit["new_text"] + text[offset(edit["range"]["end"]):]
    return text


def texts(stepzero, path):
    """By title: the text after that fix, and the rules still found in it."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(path.read_bytes())
        for title in offered(findings(stepzero, copy)):
            text = path.read_text()
            for _ in range(ROUNDS):
                copy.write_text(text)
                found = findings(stepzero, copy)
                fix = offered(found).get(title)
                if fix is None:
                    break
                text = applied(text, fix)
            made[title] = text, sorted({finding["rule"] for finding in found})
    return made


def key(name, title):
    return f"{name}: {title}"


def text_hash(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main():
    import record

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    recorded = json.loads(FIXED.read_text()) if FIXED.exists() else {}
    seen, complaints = set(), []
    for program_key, path, _, _ in record.programs(options.names):
        if not program_key.endswith("wrong.py"):
            continue
        name = path.parent.name
        for title, (text, left) in texts(program(), path).items():
            at = key(name, title)
            seen.add(at)
            try:
                ast.parse(text)
            except SyntaxError as error:
                complaints.append(f"{at}: does not parse: {error}")
            known = recorded.get(at)
            if known is None or known["hash"] != text_hash(text):
                complaints.append(f"{at}: was not run: tests/ranks/record.py --fixed {name}")
            elif known["outcome"] != "success" and not left:
                complaints.append(f"{at}: nothing is found any more, and PyTorch's outcome is {known['outcome']}")
    if not options.names:
        complaints += [f"{at}: is not offered any more: tests/ranks/record.py --fixed" for at in sorted(set(recorded) - seen)]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    ended = sum(recorded.get(at, {}).get("outcome") == "success" for at in seen)
    print(f"ranks: {len(seen)} fixes of wrong programs, {ended} after which the real program ends")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
