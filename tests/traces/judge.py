#!/usr/bin/env python3
"""Compares what stepzero says of the programs below programs/ with what real PyTorch did (facts.json; see record.py).

    tests/traces/judge.py [TOPIC…]     the complaints, the bugs missed and the coverage
    tests/traces/judge.py --unknown    besides, every place whose tensor is not fully known
    tests/traces/judge.py --known      rewrite known_misses to what is so now: read the difference before committing it

`known_misses` says what is wrong today, one complaint a line. A complaint that is not in it fails; so does a line of it
that no longer holds.
"""

import argparse
import ast
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
KNOWN = HERE / "known_misses"
STEPZERO = os.path.abspath(os.environ.get("STEPZERO", str(HERE.parents[1] / "build" / "stepzero")))
HEADING = """\
# What stepzero does not do yet to the programs of tests/traces. Every line is a FIXME: it goes when it no longer holds.
#   missed TOPIC                    the bug of wrong.py is not found at its line
#   alarm TOPIC/FILE:LINE RULE      an error or warning where there is no bug (uncalled.py: ok.py without what calls it)
#   wrong TOPIC/FILE:LINE NAME      a shape, dtype or int that is not what PyTorch had there
"""


@dataclass
class Topic:
    name: str
    facts: dict
    bug: dict
    shapes: dict = field(default_factory=dict)    # file -> places of `stepzero shapes`
    findings: dict = field(default_factory=dict)  # file -> errors and warnings of `stepzero check`
    complaints: dict = field(default_factory=dict)  # the line of known_misses -> what to say
    places: int = 0   # those of the right program that held tensors of one rank
    full: int = 0     # … whose shape is inferred to the last dimension
    unknown: list = field(default_factory=list)


def asked(command, files, folder=None):
    done = subprocess.run([STEPZERO, command, "--format", "json", *files], cwd=folder or PROGRAMS, capture_output=True,
                          timeout=600)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"stepzero {command}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def dims_agree(inferred, seen):
    """`inferred` is None or a list of ints and texts, one end of which may be "..."."""
    if inferred is None:
        return True
    if inferred and inferred[0] == "...":
        inferred = inferred[1:]
        if len(inferred) > len(seen):
            return False
        seen = seen[len(seen) - len(inferred):]
    elif inferred and inferred[-1] == "...":
        inferred = inferred[:-1]
        if len(inferred) > len(seen):
            return False
        seen = seen[:len(inferred)]
    return len(inferred) == len(seen) and all(isinstance(dim, str) or dim == size for dim, size in zip(inferred, seen))


def agrees(inferred, seen):
    """Whether a value of `stepzero shapes` may be the recorded one. Silence and symbols agree with everything."""
    kind = inferred.get("kind")
    if kind == "tensor":
        if not isinstance(seen, str):
            return False
        dtype, sizes = re.fullmatch(r"(\w+)(\[.*\])", seen).groups()
        return inferred.get("dtype", dtype) == dtype and dims_agree(inferred.get("shape"), json.loads(sizes))
    if kind == "int":
        value = inferred.get("value")
        return isinstance(value, str) or value is None or value == seen
    if kind in ("tuple", "list"):
        items = inferred.get("items", [])
        if not isinstance(seen, list):
            return False
        if len(items) != len(seen):
            return False
        return all(item is None or agrees(inner, item) for inner, item in zip(items, seen))
    return True


def shapes_of(seen):
    """The shapes of a place that held tensors of one rank only; else None. No one line can say more than the rank."""
    if not all(isinstance(each, str) and each != "..." for each in seen):
        return None
    shapes = [json.loads(each[each.index("["):]) for each in seen]
    return shapes if len({len(shape) for shape in shapes}) == 1 else None


def fully_known(inferred, shapes):
    """Every dimension is a number or a text; but one that held several sizes may be left open."""
    if inferred is None or inferred.get("kind") != "tensor" or inferred.get("shape") is None:
        return False
    dims = inferred["shape"]
    return len(dims) == len(shapes[0]) and all(
        dim != "..." and (dim != "?" or len({shape[i] for shape in shapes}) > 1) for i, dim in enumerate(dims))


def shown(value):
    if value.get("kind") == "tensor":
        return f"{value.get('dtype', '?')}{json.dumps(value.get('shape'))}"
    if value.get("kind") in ("tuple", "list"):
        return "(" + ", ".join(shown(item) for item in value.get("items", [])) + ")"
    return json.dumps(value.get("value", value.get("kind")))


def unreached(topic):
    """What the places of wrong.py hold in the right program: there they are reached again behind the bug."""
    folder = PROGRAMS / topic.name
    if not (folder / "wrong.py").exists():
        return {}
    right, wrong = ((folder / file).read_text().splitlines() for file in ("ok.py", "wrong.py"))
    lines = {}
    for block in difflib.SequenceMatcher(None, right, wrong, autojunk=False).get_matching_blocks():
        lines.update((block.a + i + 1, block.b + i + 1) for i in range(block.size))
    places = {}
    for place, seen in topic.facts["places"].get("ok.py", {}).items():
        line, name = place.split(":", 1)
        if int(line) in lines:
            places[f"{lines[int(line)]}:{name}"] = seen
    return places


def judge_shapes(topic):
    later = unreached(topic)
    for file, places in topic.facts["places"].items():
        inferred = {f"{place['line']}:{place['name']}": place for place in topic.shapes.get(file, [])}
        for place, seen in places.items():
            value = inferred.get(place)
            allowed = seen + (later.get(place, []) if file == "wrong.py" else [])
            if value is not None and "..." not in allowed and not any(agrees(value, each) for each in allowed):
                line, name = place.split(":", 1)
                topic.complaints[f"wrong {topic.name}/{file}:{line} {name}"] = (
                    f"inferred {shown(value)}, observed {'; '.join(json.dumps(each) for each in seen[:4])}")
            shapes = shapes_of(seen)
            if file != "wrong.py" and shapes is not None:
                topic.places += 1
                if fully_known(value, shapes):
                    topic.full += 1
                else:
                    topic.unknown.append(f"{topic.name}/{file}:{place} {shown(value) if value else 'nothing'}, "
                                         f"observed {seen[0]}")


def stands_at(bug, file, place):
    first, last = place["range"]["start"]["line"], place["range"]["end"]["line"]
    return file == bug.get("file", "wrong.py") and any(first <= line <= last for line in [bug["line"], *bug.get("also", [])])


def judge_findings(topic):
    """Nothing is said but the bug, at its line; or at the layer whose number is wrong, where the line is evidence of it."""
    found = False
    for file, findings in topic.findings.items():
        for finding in findings:
            first = finding["range"]["start"]["line"]
            at_the_bug = topic.bug and (stands_at(topic.bug, file, finding) or any(
                stands_at(topic.bug, place["path"].split("/", 1)[-1], place)
                for place in finding["related"]))
            if at_the_bug and finding["rule"].split("/")[0] == topic.bug["rule"].split("/")[0]:
                found = True
                continue
            topic.complaints[f"alarm {topic.name}/{file}:{first} {finding['rule']}"] = (
                f"{finding['severity']}: {finding['message']}")
    if topic.bug and not found:
        topic.complaints[f"missed {topic.name}"] = (
            f"{topic.bug.get('file', 'wrong.py')}:{topic.bug['line']} {topic.bug['rule']}"
            + (f": {topic.facts['raises']['message']}" if topic.facts["raises"] else " (PyTorch says nothing)"))


def uncalled(text):
    """The program with nothing left that runs it: no statement behind the first definition, no function that needs no
    arguments. Lines keep their numbers."""
    lines = text.splitlines()
    defined = False
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef)):
            defined = defined or isinstance(node, ast.ClassDef)
            continue
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            if len(arguments.posonlyargs + arguments.args) > len(arguments.defaults) or arguments.vararg:
                defined = True
                continue
        elif not defined and isinstance(node, (ast.Assign, ast.AnnAssign)) and "torch." not in ast.unparse(node):
            continue
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        lines[first - 1:node.end_lineno] = [""] * (node.end_lineno - first + 1)
    return "\n".join(lines) + "\n"


def judge_uncalled(topics):
    """Right programs are right too when nobody calls them."""
    with tempfile.TemporaryDirectory() as scratch:
        files = []
        for name in topics:
            here = Path(scratch) / name
            shutil.copytree(PROGRAMS / name, here, ignore=shutil.ignore_patterns("ok.py", "wrong.py", "drive.py", "__pycache__"))
            (here / "uncalled.py").write_text(uncalled((PROGRAMS / name / "ok.py").read_text()))
            files.append(f"{name}/uncalled.py")
        for finding in asked("check", files, scratch)["diagnostics"]:
            name, file = finding["path"].split("/", 1)
            if finding["severity"] in ("error", "warning"):
                topics[name].complaints[f"alarm {name}/{file}:{finding['range']['start']['line']} {finding['rule']}"] = (
                    f"{finding['severity']}: {finding['message']}")


def judge(names=()):
    """Every topic by name, with its complaints."""
    bugs = json.loads((HERE / "bugs.json").read_text())
    topics, files = {}, []
    for record in sorted(PROGRAMS.glob("*/facts.json")):
        name = record.parent.name
        if names and name not in names:
            continue
        topics[name] = Topic(name, json.loads(record.read_text()), bugs.get(name))
        files += [file.relative_to(PROGRAMS).as_posix() for file in sorted(record.parent.glob("**/*.py"))
                  if file.name != "drive.py"]
    for each in asked("shapes", files)["files"]:
        name, file = each["path"].split("/", 1)
        topics[name].shapes[file] = each["shapes"]
    for finding in asked("check", files)["diagnostics"]:
        name, file = finding["path"].split("/", 1)
        if finding["severity"] in ("error", "warning"):
            topics[name].findings.setdefault(file, []).append(finding)
    for topic in topics.values():
        judge_shapes(topic)
        judge_findings(topic)
    judge_uncalled(topics)
    return topics


def known():
    lines = KNOWN.read_text().splitlines() if KNOWN.exists() else []
    return {line for line in lines if line and not line.startswith("#")}


def topic_of(complaint):
    return re.match(r"\w+ ([^/ ]+)", complaint).group(1)


def report(topics):
    lines = []
    for topic in topics.values():
        share = 100 * topic.full / topic.places if topic.places else 100
        bug = "" if not topic.bug else "  bug missed" if f"missed {topic.name}" in topic.complaints else "  bug found"
        lines.append(f"{topic.name:28} {topic.full:4} of {topic.places:4} tensors known, {share:3.0f} %{bug}")
    places, full = sum(topic.places for topic in topics.values()), sum(topic.full for topic in topics.values())
    bugs = [topic for topic in topics.values() if topic.bug]
    found = sum(f"missed {topic.name}" not in topic.complaints for topic in bugs)
    complaints = [complaint for topic in topics.values() for complaint in topic.complaints]
    lines.append(f"traces: {full} of {places} recorded tensors fully known ({100 * full / max(places, 1):.1f} %), "
                 f"{found} of {len(bugs)} bugs found, {sum(c.startswith('wrong') for c in complaints)} wrong values, "
                 f"{sum(c.startswith('alarm') for c in complaints)} false alarms")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--unknown", action="store_true")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("topics", nargs="*")
    options = parser.parse_args()
    topics = judge(options.topics)
    now = {complaint: said for topic in topics.values() for complaint, said in topic.complaints.items()}
    before = {line for line in known() if not options.topics or topic_of(line) in options.topics}
    order = ["wrong", "alarm", "missed"]
    for complaint in sorted(now, key=lambda line: (order.index(line.split()[0]), line)):
        print(f"{complaint}{'' if complaint in before else '  (new)'}\n    {now[complaint]}")
    for line in sorted(before - set(now)):
        print(f"{line}  (no longer so: it goes from known_misses)")
    if options.unknown:
        print(*(line for topic in topics.values() for line in topic.unknown), sep="\n")
    print(*report(topics), sep="\n")
    if options.known:
        kept = {line for line in known() if options.topics and topic_of(line) not in options.topics} | set(now)
        KNOWN.write_text(HEADING + "".join(line + "\n" for line in sorted(kept)))
    return int(set(now) != before)


if __name__ == "__main__":
    sys.exit(main())
