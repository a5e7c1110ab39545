#!/usr/bin/env python3
"""Compares stepzero with what the frameworks themselves answered (facts/): needs none of them installed.

    tests/frameworks/judge.py [--table] [--write-known] [NAME…]

For each call that was asked, two programs: both ranks make it, and the main process alone does. Said of the second has to be a
deadlock, as an error or a warning, if the job then hung or failed, and nothing if it ended; a warning is right, too, where the same call
fails under another setting. Of the first no error may be said, and nothing about ranks. The same for members that tell ranks apart:
a barrier under one of them has to be found exactly if its values differ. known_misses lists what is wrong today.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import record  # noqa: E402

KNOWN = HERE / "known_misses"
STEPZERO = os.environ.get("STEPZERO", str(HERE.parent.parent / "build" / "stepzero"))

# What the rules of training loops rest on: framework, question, what was told, the answer.
CLAIMS = [
    ("accelerate", "accumulation", "backward divides the loss by the accumulation steps", 2.0),
    ("accelerate", "accumulation", "the prepared optimizer steps while accumulating", False),
    ("accelerate", "accumulation", "its zero_grad clears while accumulating", False),
    ("accelerate", "accumulation", "the step clears", False),
    ("accelerate", "accumulation", "zero_grad clears in the last round", True),
    ("accelerate", "what prepare gives back, in the order of its arguments", "answer", ["DistributedDataParallel", "AcceleratedOptimizer", "DataLoaderShard", "AcceleratedScheduler"]),
    ("accelerate", "what prepare gives back, in the order of its arguments", "the same optimizer inside", "SGD"),
    ("accelerate", "without the context", "step clears", False),
    ("accelerate", "a scheduler", "the optimizer's step steps the scheduler", False),
    ("fabric", "what setup gives back, in the order of its arguments", "answer", ["_FabricModule", "FabricSGD", "_FabricDataLoader"]),
    ("fabric", "who clears, divides and steps", "step clears", False),
    ("fabric", "who clears, divides and steps", "zero_grad clears", True),
    ("deepspeed", "who clears, divides and steps", "1: engine.step clears", True),
    ("deepspeed", "who clears, divides and steps", "1: engine.step steps", True),
    ("deepspeed", "who clears, divides and steps", "1: engine.step steps the scheduler", True),
    ("deepspeed", "who clears, divides and steps while accumulating", "1: engine.step clears", False),
    ("deepspeed", "who clears, divides and steps while accumulating", "2: engine.step clears", True),
    ("lightning", "automatic optimization clears, runs the backward and steps", "0: zero_grad", True),
    ("lightning", "what fit makes of the module and of the optimizers", "self.trainer.model", "DistributedDataParallel"),
]


def fails(fact):
    """Does the call of the main process alone break the job?"""
    return fact.get("main alone", "ends") != "ends" or fact.get("others alone", "ends") != "ends"


def title(name, fact):
    before = " after " + " | ".join(fact["before"].split("\n")) if fact.get("before") else ""
    return f"{name}: {fact['call']} ({fact['setting']}){before}"


def questions(name):
    """(title, text, lines that may be told, what is expected: "deadlock", "silent", "perhaps")."""
    probe = record.probe_of(name)
    facts = json.loads((HERE / "facts" / f"{name}.json").read_text())
    elsewhere = {}
    for fact in facts["calls"]:
        key = fact["call"], fact.get("before", "") if len(fact.get("before", "")) < 200 else ""
        elsewhere[key] = elsewhere.get(key, False) or fails(fact)
    for fact in facts["calls"]:
        if "main alone" not in fact or fact["both"] != "ends":
            continue
        setup = probe.SETTINGS[fact["setting"]]
        call, before = fact["call"], fact.get("before", "")
        yield title(name, fact) + ": by both", record.program(setup, call, before), "silent"
        expected = "deadlock" if fails(fact) else "perhaps" if elsewhere[call, before if len(before) < 200 else ""] else "silent"
        yield title(name, fact), record.program(setup, call, before, setup.get("guard", probe.GUARD)), expected
    setup = next(iter(probe.SETTINGS.values()))
    for fact in facts["ranks"]:
        first, second = fact["values"]
        if first is None or second is None:
            continue
        condition = fact["member"] if isinstance(first, bool) else f"{fact['member']} == {first!r}"
        text = record.program(setup, "dist.barrier()", "import torch.distributed as dist", condition)
        yield f"{name}: {fact['member']} tells ranks apart", text, "deadlock" if first != second else "silent"


def diagnose(texts, environment=None):
    """What is said of each program; `environment`: a virtual environment whose packages are read, or None."""
    variables = {**os.environ, "VIRTUAL_ENV": str(environment)} if environment else None
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"q{at}.py") for at in range(len(texts))]
        for path, text in zip(paths, texts):
            path.write_text(text)
        seen = subprocess.run([STEPZERO, "check", "--format", "json", folder], capture_output=True, text=True, check=False, env=variables)
        if seen.returncode not in (0, 1):
            sys.exit(seen.stderr)
        found = {path.name: [] for path in paths}
        for each in json.loads(seen.stdout)["diagnostics"]:
            found[Path(each["path"]).name].append(each)
    return [found[path.name] for path in paths]


def complaints(names, environment=None):
    asked = [each for name in names for each in questions(name)]
    count = {"deadlock": 0, "silent": 0, "perhaps": 0}
    wrong = []
    for (what, text, expected), said in zip(asked, diagnose([text for _, text, _ in asked], environment)):
        count[expected] += 1
        loud = [each for each in said if each["severity"] == "error" or (each["severity"] == "warning" and each["rule"].startswith("deadlock/"))]
        deadlocks = [each for each in loud if each["rule"].startswith("deadlock/")]
        others = [each for each in loud if not each["rule"].startswith("deadlock/")]
        if others:
            wrong.append(f"{what}: said {others[0]['severity']}[{others[0]['rule']}]")
        elif expected == "deadlock" and not deadlocks:
            wrong.append(f"{what}: not told")
        elif expected == "silent" and deadlocks or expected == "perhaps" and any(each["severity"] == "error" for each in deadlocks):
            wrong.append(f"{what}: said {deadlocks[0]['severity']}[{deadlocks[0]['rule']}], and it ends")
    return wrong, count


def table(names):
    """What was asked, one line a call."""
    for name in names:
        facts = json.loads((HERE / "facts" / f"{name}.json").read_text())
        print(name, " ".join(f"{package} {version}" for package, version in facts["versions"].items()))
        for fact in facts["calls"]:
            alone = fact.get("main alone", "").split(":")[0]
            print(f"  {fact['call'][:70]:70} {fact['setting'][:28]:28} {'not asked: ' + fact['both'][:60] if fact['both'] != 'ends' else alone or '-':10}"
                  f" {' '.join(dict.fromkeys(fact['collectives']))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--write-known", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or [name for name in record.NAMES if (HERE / "facts" / f"{name}.json").exists()]
    if options.table:
        return table(names)
    wrong, count = complaints(names)
    known = KNOWN.read_text().splitlines() if KNOWN.exists() else []
    if options.write_known:
        KNOWN.write_text("".join(line + "\n" for line in sorted(wrong)))
        known = wrong
    mine = [line for line in known if line.split(":")[0] in names]
    new, gone = [line for line in wrong if line not in known], [line for line in mine if line not in wrong]
    for line in new:
        print(line)
    for line in gone:
        print(f"no longer wrong, take it from known_misses: {line}")
    print(f"{sum(count.values())} programs ({count['deadlock']} that break a job), {len(wrong)} judged wrongly, {len(new)} of these new")
    return int(bool(new or gone))


if __name__ == "__main__":
    sys.exit(main())
