#!/usr/bin/env python3
"""Compares what stepzero says of calls of PyTorch's operators with what PyTorch did: facts/*.txt, see record.py.

    tests/operators/judge.py                    the totals, and a table of what is not known by operator
    tests/operators/judge.py NAME…              every call of these operators (glob patterns: 'linalg.*', 'conv*') that is
                                                not known, wrong, falsely reported, or wrong and not reported
    tests/operators/judge.py --all NAME…        all of their calls, with what was inferred
    tests/operators/judge.py --missed           every wrong call that is not reported
    tests/operators/judge.py --symbols [NAME…]  the same calls with symbols for the sizes of the tensors that they make: what is
                                                inferred has to be right for the sizes that were recorded
    tests/operators/judge.py --unknown [NAME…]  the same calls of tensors of which nothing is known: nothing wrong is to be said

A name matches the operator's full name ("nn.functional.conv2d"), its last part, and what stands in front of '/'.
"""

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
FACTS = HERE / "facts"
STEPZERO = os.path.abspath(os.environ.get("STEPZERO", str(HERE.parents[1] / "build" / "stepzero")))
LINES = 150  # of a generated program

# Their shapes depend on the values in their operands, not on the operands' shapes.
BY_VALUE = {"nonzero", "argwhere", "unique", "unique_consecutive", "masked_select", "bincount", "combinations/values",
            "linalg.lstsq", "linalg.lstsq/grad_oriented"}

# What PyTorch 1.13 still takes with a warning: unknown operands are held to be right for later versions, too.
OLD = {"torch.ones(()).mT", "torch.ones(()).mH"}

# Wrong calls that are wrong for another reason than sizes, indices or the arguments' values: told apart.
OTHER_REASON = re.compile(
    r"dtype|scalar type|not implemented for|device|CUDA|cuda|overlap|memory|\bout\b|Boolean|boolean|complex|Long|Float\b|floating|"
    r"singular|diverge|layout|requires grad|leaf|integral|integer|Tensor of type|without overflow|only Tensors of|nan\b|"
    r"index tensor|Found dtype|result type|can't be cast|type Tensor")


@dataclass
class Call:
    operator: str
    text: str
    outcome: object
    source: str = ""          # the file of facts
    inferred: object = None   # a place of `stepzero shapes`
    findings: list = field(default_factory=list)
    operands: dict = field(default_factory=dict)  # the same of the names that stand for unknown operands
    verdict: str = ""         # known, unknown, wrong, alarm, found, missed, other (a wrong call for another reason), value, other operands

    @property
    def fails(self):
        return isinstance(self.outcome, dict) and "raises" in self.outcome


def load(patterns=()):
    calls = []
    for file in sorted(FACTS.glob("*.txt")):
        operator = ""
        for line in file.read_text().splitlines():
            if line.startswith("# "):
                operator = line[2:]
            elif line:
                text, outcome = line.split("\t")
                if not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns for name in
                                       (operator, operator.split("/")[0], operator.rsplit(".", 1)[-1], operator.rsplit(".", 1)[-1].split("/")[0])):
                    calls.append(Call(operator, text, json.loads(outcome), file.stem))
    return calls


def asked(command, folder, files):
    done = subprocess.run([STEPZERO, command, "--format", "json", *files], cwd=folder, capture_output=True, timeout=600)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"stepzero {command}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def compare(inferred, seen):
    """known, unknown or wrong. Of what is no tensor only the kind counts, and a value where one is inferred."""
    if inferred is None or not inferred.get("kind"):
        return "unknown"
    kind = inferred["kind"]
    if kind in ("bool", "int") and inferred.get("value") == "?":  # what comparing unknowns gives is taken for Python's own
        return "unknown"
    if isinstance(seen, dict):
        return "known"
    if isinstance(seen, list):
        if kind not in ("tuple", "list"):
            return "wrong"
        items = inferred.get("items", [])
        if len(items) != min(len(seen), 16):  # only so many are shown
            return "wrong"
        each = [compare(item, part) for item, part in zip(items, seen)]
        return "wrong" if "wrong" in each else "unknown" if "unknown" in each else "known"
    if isinstance(seen, bool):
        return "wrong" if kind != "bool" or isinstance(inferred.get("value"), bool) and inferred["value"] != seen else "known"
    if isinstance(seen, int):
        return "wrong" if kind != "int" or isinstance(inferred.get("value"), int) and inferred["value"] != seen else "known"
    if seen is None:
        return "known" if kind == "none" else "wrong"
    if seen == "float":
        return "known" if kind == "float" else "wrong"
    if kind != "tensor":
        return "wrong"
    dtype, sizes = re.fullmatch(r"(\w+)(\[.*\])", seen).groups()
    sizes, shape = json.loads(sizes), inferred.get("shape")
    if inferred.get("dtype", dtype) != dtype:
        return "wrong"
    if shape is None:
        return "unknown"
    if "..." in shape:
        known = shape[1:] if shape[0] == "..." else shape[:-1]
        part = sizes[len(sizes) - len(known):] if shape[0] == "..." else sizes[:len(known)]
        return "wrong" if len(known) > len(sizes) or any(isinstance(a, int) and a != b for a, b in zip(known, part)) else "unknown"
    if len(shape) != len(sizes) or any(isinstance(a, int) and a != b for a, b in zip(shape, sizes)):
        return "wrong"
    return "known" if shape == sizes and inferred.get("dtype") else "unknown"


def has_tensor(outcome):
    return isinstance(outcome, str) and outcome != "float" or isinstance(outcome, list) and any(has_tensor(part) for part in outcome)


def takes_others(call):
    """Whether an unknown operand was taken for one of another rank than this call gives: where nothing else is known, a layer is
    shown with what it usually gets, a batch."""
    given = [[int(size) for size in re.findall(r"\d+", sizes)] for sizes in WHOLE.findall(call.text)]
    for i, sizes in enumerate(given):
        shown_sizes = (call.operands.get(f"x{i}") or {}).get("shape")
        if shown_sizes is not None and "..." not in shown_sizes and len(shown_sizes) != len(sizes):
            return True
    return False


def judge_call(call):
    errors = [finding for finding in call.findings if finding["severity"] in ("error", "warning")]
    if call.fails:
        if any(finding["severity"] == "error" for finding in errors):
            return "found"
        return "other" if OTHER_REASON.search(call.outcome["message"]) else "missed"
    if errors:
        return "alarm"
    if takes_others(call):
        return "other operands"
    verdict = compare(call.inferred, call.outcome)
    if verdict == "wrong":
        return verdict
    return "value" if call.operator in BY_VALUE or not has_tensor(call.outcome) else verdict


MADE = re.compile(r"(torch\.(?:ones|zeros|rand)\(\()([\d, ]*)(\))")


def with_symbols(text):
    """The call with every size above 1 of the tensors that it makes replaced by a name: n5 for 5."""
    return MADE.sub(lambda made: made[1] + re.sub(r"\b([2-9]|\d\d+)\b", r"n\1", made[2]) + made[3], text)


WHOLE = re.compile(r"torch\.(?:ones|zeros|rand)\(\(([\d, ]*)\)(?:, dtype=torch\.\w+)?\)")


def with_unknowns(text):
    """The call with every tensor that it makes replaced by a name: x0, x1…"""
    numbers = iter(range(100))
    return WHOLE.sub(lambda _: f"x{next(numbers)}", text)


def evaluated(place):
    """What was inferred, with the sizes put in where the symbols stand. What is not known stays "?"."""
    def dim(text):
        if isinstance(text, int) or text in ("...", "?"):
            return text
        try:
            names = {name: int(name[1:]) for name in re.findall(r"\bn\d+\b", text)}
            return eval(text, {"__builtins__": {}, "min": min, "max": max}, names)
        except Exception:
            return "?"
    place = dict(place)
    if place.get("kind") == "tensor" and place.get("shape") is not None:
        place["shape"] = [dim(size) for size in place["shape"]]
    elif place.get("kind") == "int" and isinstance(place.get("value"), str):
        place["value"] = dim(place["value"])
    if "items" in place:
        place["items"] = [item and evaluated(item) for item in place["items"]]
    return place


def judge(patterns=(), rewrite=None):
    """All calls with their verdicts; with `rewrite`, the right ones as functions of the names that it puts in, which nobody calls."""
    calls = load(patterns)
    if rewrite:
        calls = [call for call in calls if not call.fails and rewrite(call.text) != call.text and call.text not in OLD]
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for wrong in (False, True):
            chosen = [call for call in calls if call.fails == wrong]
            for start in range(0, len(chosen), LINES):
                part = chosen[start:start + LINES]
                name = f"{'wrong' if wrong else 'right'}{start}.py"
                lines = ["import torch", "import torch.nn.functional as F"]
                for i, call in enumerate(part):
                    text = rewrite(call.text) if rewrite else call.text
                    names = ", ".join(sorted(set(re.findall(r"\b[nx]\d+\b", text))))
                    lines.append(f"def f{i}({names}): r{i} = {text}" if rewrite else f"r{i} = {text}")
                Path(folder, name).write_text("\n".join(lines) + "\n")
                programs[name] = part
        names = list(programs)
        halves = [half for half in (names[::2], names[1::2]) if half]
        with ThreadPoolExecutor() as pool:
            shapes = list(pool.map(lambda half: asked("shapes", folder, half), halves))
            findings = list(pool.map(lambda half: asked("check", folder, half), halves))
        for each in (file for answer in shapes for file in answer["files"]):
            for place in each["shapes"]:
                if place["line"] <= 2:
                    continue
                call = programs[each["path"]][place["line"] - 3]
                if place["name"].startswith("r"):
                    call.inferred = evaluated(place) if rewrite else place
                else:
                    call.operands[place["name"]] = place
        for finding in (finding for answer in findings for finding in answer["diagnostics"]):
            if finding["range"]["start"]["line"] > 2:
                programs[finding["path"]][finding["range"]["start"]["line"] - 3].findings.append(finding)
    for call in calls:
        call.verdict = judge_call(call)
    return calls


def count(calls, *verdicts):
    return sum(call.verdict in verdicts for call in calls)


def shown(value):
    if value is None or not value.get("kind"):
        return "nothing"
    if value["kind"] == "tensor":
        return f"{value.get('dtype', '?')}{json.dumps(value.get('shape'))}"
    if value["kind"] in ("tuple", "list"):
        return "[" + ", ".join(shown(item) for item in value.get("items", [])) + "]"
    return json.dumps(value.get("value", value["kind"]))


def complaint(call):
    said = "; ".join(f"{finding['rule']}: {finding['message']}" for finding in call.findings)
    return f"{call.verdict:8}{call.operator}: {call.text}\n        PyTorch {json.dumps(call.outcome)}\n        inferred {shown(call.inferred)}" + (
        f", said {said}" if said else "")


def table(calls):
    """What is not known, by operator, most first."""
    by_operator = {}
    for call in calls:
        by_operator.setdefault(call.operator, []).append(call)
    rows = []
    for operator, own in by_operator.items():
        unknown = count(own, "unknown")
        if unknown:
            rows.append((unknown, operator, unknown + count(own, "known")))
    return [f"{operator:48}{unknown:4} of {all:3} not known" for unknown, operator, all in sorted(rows, reverse=True)]


OTHERS = {"module_db": "module_db", "modules": "modules drawn", "written": "written"}  # all else is of the operator database


def totals(calls):
    """Of all, and of each source."""
    rows = totals_of("all", calls)
    for source in sorted({OTHERS.get(call.source, "op_db") for call in calls}):
        rows += totals_of(source, [call for call in calls if OTHERS.get(call.source, "op_db") == source])
    return rows


def totals_of(title, calls):
    known, unknown = count(calls, "known"), count(calls, "unknown")
    found, missed = count(calls, "found"), count(calls, "missed")
    return [f"{title}: {known} of {known + unknown} results exactly known ({share(calls):.1f} %), {count(calls, 'wrong')} wrong, "
            f"{count(calls, 'alarm')} false alarms",
            f"           {found} of {found + missed} wrong calls reported ({share_found(calls):.1f} %); "
            f"{count(calls, 'value')} results that depend on values or hold no tensor, {count(calls, 'other')} calls wrong for other reasons",
            *([f"           {n} calls of other operands than a batch"] if (n := count(calls, 'other operands')) else [])]


def share(calls):
    known, unknown = count(calls, "known"), count(calls, "unknown")
    return 100 * known / max(known + unknown, 1)


def share_found(calls):
    found, missed = count(calls, "found"), count(calls, "missed")
    return 100 * found / max(found + missed, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--symbols", action="store_true")
    parser.add_argument("--unknown", action="store_true")
    options = parser.parse_args()
    calls = judge(options.names, with_symbols if options.symbols else with_unknowns if options.unknown else None)
    for call in calls:
        bad = ("wrong", "alarm", "missed") if options.missed else ("wrong", "alarm", "missed", "unknown") if options.names else ("wrong", "alarm")
        if options.all or call.verdict in bad:
            print(complaint(call))
    if not options.names:
        print(*table(calls), sep="\n")
    print(*totals(calls), sep="\n")
    return int(count(calls, "wrong", "alarm") > 0)


if __name__ == "__main__":
    sys.exit(main())
