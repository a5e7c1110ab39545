#!/usr/bin/env python3
"""Compares what stepzero says of the programs below programs/ with what bugs.json knows of them.

    tests/loops/judge.py [NAME…]         the table by rule, and every complaint
    tests/loops/judge.py --fixes         besides, apply each preferred fix and judge what it leaves
    tests/loops/judge.py --write-known   rewrite known_misses to what is so now: read the difference before committing it

In right.py no error and no warning may be said, and of the rules that its program is about nothing at all; the same in
uncalled.py, which is right.py in a function that nobody calls. In wrong.py the bugs have to be said at their lines and no
other error or warning; how many of them are found too when nobody calls the program is counted, not judged.

`known_misses` says what is otherwise today, one complaint a line. A complaint that is not in it fails; so does a line of it
that no longer holds.
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
KNOWN = HERE / "known_misses"
STEPZERO = os.path.abspath(os.environ.get("STEPZERO", str(HERE.parents[1] / "build" / "stepzero")))
KINDS = ("alarm", "elsewhere", "severity", "fix", "missed")
HEADING = """\
# What stepzero does not do yet to the programs of tests/loops. Every line is a FIXME: it goes when it no longer holds.
#   missed NAME:LINE RULE       the bug of wrong.py is not found
#   elsewhere NAME:LINE RULE    its rule speaks, but of another line
#   severity NAME:LINE RULE     it is found with another severity
#   fix NAME:LINE RULE          the preferred fix leaves the finding, adds another, or leaves what does not parse
#   alarm NAME/FILE:LINE RULE   an error or warning where there is no bug, or a word of a rule that the program keeps
"""


@dataclass
class Program:
    name: str
    bugs: list
    kept: set                                       # rules that right.py keeps, whatever their severity
    found_uncalled: int = 0
    findings: dict = field(default_factory=dict)    # file -> diagnostics of `stepzero check`
    complaints: dict = field(default_factory=dict)  # the line of known_misses -> what to say
    found: list = field(default_factory=list)       # (bug, finding)


def asked(files, folder=PROGRAMS):
    done = subprocess.run([STEPZERO, "check", "--format", "json", *files], cwd=folder, capture_output=True, timeout=600)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"stepzero check: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)["diagnostics"]


def at(finding):
    return finding["range"]["start"]["line"]


def covers(finding, bug):
    """Whether the finding speaks of the bug's line or of one that names the same mistake as well."""
    last = max(at(finding), finding["range"]["end"]["line"])
    return any(at(finding) <= line <= last for line in [bug["line"], *bug.get("also", [])])


def said(finding):
    return f"line {at(finding)}, {finding['severity']}: {finding['message']}"


def judge_program(program):
    wrong = list(program.findings.get("wrong.py", []))
    for bug in program.bugs:
        place = f"{program.name}:{bug['line']} {bug['rule']}"
        same = [finding for finding in wrong if finding["rule"] == bug["rule"]]
        here = next((finding for finding in same if covers(finding, bug)), None)
        if here is None:
            others = [other for other in program.bugs if other is not bug and other["rule"] == bug["rule"]]
            away = next((finding for finding in same if not any(covers(finding, other) for other in others)), None)
            if away is None:
                program.complaints["missed " + place] = f"{bug['severity']} expected"
            else:
                program.complaints["elsewhere " + place] = said(away)
                wrong.remove(away)
            continue
        program.found.append((bug, here))
        if here["severity"] != bug["severity"]:
            program.complaints["severity " + place] = f"{here['severity']} instead of {bug['severity']}: {here['message']}"
        # A rule may speak of each line that names the same mistake.
        wrong = [finding for finding in wrong if finding not in same or not covers(finding, bug)]
    program.found_uncalled = sum(any(finding["rule"] == bug["rule"] and covers(finding, bug)
                                     for finding in program.findings.get("uncalled_wrong.py", [])) for bug in program.bugs)
    right, uncalled = (program.findings.get(file, []) for file in ("right.py", "uncalled.py"))
    for file, findings in (("wrong.py", wrong), ("right.py", right), ("uncalled.py", uncalled)):
        for finding in findings:
            if finding["severity"] in ("error", "warning") or (file != "wrong.py" and finding["rule"] in program.kept):
                program.complaints[f"alarm {program.name}/{file}:{at(finding)} {finding['rule']}"] = said(finding)


def uncalled(text):
    """The program in a function that nobody calls, behind its imports: the lines below them move down by one."""
    body = ast.parse(text).body
    first = next(node.lineno for node in body if not isinstance(node, (ast.Import, ast.ImportFrom)))
    first = min([first, *(each.lineno for node in body for each in getattr(node, "decorator_list", []))])
    lines = text.splitlines()
    lines[first - 1:] = ["def program():", *("    " + line if line else line for line in lines[first - 1:])]
    return first, "\n".join(lines) + "\n"


def find_uncalled(programs):
    with tempfile.TemporaryDirectory() as scratch:
        firsts = {}
        for name in programs:
            for file, new in (("right.py", "uncalled.py"), ("wrong.py", "uncalled_wrong.py")):
                if (PROGRAMS / name / file).exists():
                    first, text = uncalled((PROGRAMS / name / file).read_text())
                    (Path(scratch) / name).mkdir(exist_ok=True)
                    (Path(scratch) / name / new).write_text(text)
                    firsts[f"{name}/{new}"] = first
        for finding in asked(sorted(firsts), scratch):
            name, file = finding["path"].split("/", 1)
            for end in finding["range"].values():
                end["line"] -= end["line"] > firsts[finding["path"]]
            programs[name].findings.setdefault(file, []).append(finding)


def offset(text, position):
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[:position["line"] - 1])) + position["column"] - 1


def applied(text, edits):
    spans = sorted(((offset(text, edit["range"]["start"]), offset(text, edit["range"]["end"]), edit["new_text"])
                    for edit in edits), reverse=True)
    for start, end, new in spans:
        text = text[:start] + new + text[end:]
    return text


def preferred(programs):
    """(program, bug, wrong.py after the preferred fix of the finding) of each bug that is found and has one."""
    for program in programs.values():
        text = (PROGRAMS / program.name / "wrong.py").read_text() if program.found else ""
        for bug, finding in program.found:
            fix = next((fix for fix in finding.get("fixes", []) if fix.get("preferred")), None)
            if fix is not None:
                yield program, bug, applied(text, fix["edits"])


def judge_fixes(programs):
    """Applied, a preferred fix leaves nothing of its rule there, and adds nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        fixed = {}
        for program, bug, text in preferred(programs):
            file = f"{program.name}_{bug['line']}.py"
            (Path(scratch) / file).write_text(text)
            fixed[file] = program, bug, text
        left = {}
        for finding in asked(sorted(fixed), scratch) if fixed else []:
            left.setdefault(finding["path"], []).append(finding)
        for file, (program, bug, text) in fixed.items():
            before = Counter(finding["rule"] for finding in program.findings["wrong.py"])
            after = Counter(finding["rule"] for finding in left.get(file, []))
            more = [rule for rule in after if after[rule] > before[rule]]
            wrong = None
            try:
                compile(text, file, "exec")
            except SyntaxError as error:
                wrong = f"does not parse: {error}"
            if wrong is None and after[bug["rule"]] >= before[bug["rule"]]:
                wrong = "leaves the finding"
            if wrong is None and more:
                wrong = f"adds {', '.join(more)}"
            if wrong:
                program.complaints[f"fix {program.name}:{bug['line']} {bug['rule']}"] = wrong
    return len(fixed)


def judge(names=()):
    """Every program by name, with its complaints."""
    programs, files = {}, []
    for name, entry in json.loads((HERE / "bugs.json").read_text()).items():
        if names and name not in names:
            continue
        bugs = entry.get("bugs", [])
        programs[name] = Program(name, bugs, {bug["rule"] for bug in bugs} | set(entry.get("looks_like", [])))
        files += [file.relative_to(PROGRAMS).as_posix() for file in sorted((PROGRAMS / name).glob("*.py"))]
    for finding in asked(files):
        name, file = finding["path"].split("/", 1)
        programs[name].findings.setdefault(file, []).append(finding)
    find_uncalled(programs)
    for program in programs.values():
        judge_program(program)
    return programs


def known():
    lines = KNOWN.read_text().splitlines() if KNOWN.exists() else []
    return {line for line in lines if line and not line.startswith("#")}


def name_of(complaint):
    return complaint.split()[1].split("/")[0].split(":")[0]


def report(programs):
    """The table by rule, and what is said of right programs per 1,000 lines."""
    columns = ("found", "missed", "wrong line", "severity", "false alarms")
    rows = {}
    for program in programs.values():
        for bug in program.bugs:
            rows.setdefault(bug["rule"], Counter())
        for bug, _ in program.found:
            rows[bug["rule"]]["found"] += 1
        for complaint in program.complaints:
            kind, _, rule = complaint.split()
            column = {"elsewhere": "wrong line", "alarm": "false alarms"}.get(kind, kind)
            rows.setdefault(rule, Counter())[column] += 1
    lines = [f"{'rule':30}" + "".join(f"{column:>14}" for column in columns)]
    for rule in sorted(rows):
        lines.append(f"{rule:30}" + "".join(f"{rows[rule][column] or '-':>14}" for column in columns))
    total = sum(rows.values(), Counter())
    lines.append(f"{'all':30}" + "".join(f"{total[column]:14}" for column in columns))
    for file in ("right.py", "wrong.py"):
        length = sum(len((PROGRAMS / name / file).read_text().splitlines()) for name in programs
                     if (PROGRAMS / name / file).exists())
        count = Counter(finding["severity"] for program in programs.values() for finding in program.findings.get(file, []))
        lines.append(f"{file}: {length} lines, per 1,000 lines " + ", ".join(
            f"{1000 * count[severity] / max(length, 1):.1f} {severity}" for severity in ("information", "hint")))
    bugs = sum(len(program.bugs) for program in programs.values())
    lines.append(f"{sum(program.found_uncalled for program in programs.values())} of {bugs} bugs found when nobody calls the program")
    lines.append(f"loops: {total['found']} of {bugs} bugs found, {total['wrong line']} at a wrong line, "
                 f"{total['false alarms']} false alarms in {len(programs)} programs")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write-known", action="store_true")
    parser.add_argument("--fixes", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if not shutil.which(STEPZERO):
        sys.exit(f"no {STEPZERO}: build it, or name it in STEPZERO")
    programs = judge(options.names)
    fixes = judge_fixes(programs) if options.fixes or options.write_known else None
    now = {complaint: text for program in programs.values() for complaint, text in program.complaints.items()}
    before = {line for line in known() if (not options.names or name_of(line) in options.names)
              and (fixes is not None or not line.startswith("fix "))}
    for complaint in sorted(now, key=lambda line: (KINDS.index(line.split()[0]), line)):
        if complaint not in before or not complaint.startswith("missed"):
            print(f"{complaint}{'' if complaint in before else '  (new)'}\n    {now[complaint]}")
    for line in sorted(before - set(now)):
        print(f"{line}  (no longer so: it goes from known_misses)")
    print(*report(programs), sep="\n")
    if fixes is not None:
        print(f"{fixes} preferred fixes applied")
    if options.write_known:
        kept = {line for line in known() if options.names and name_of(line) not in options.names} | set(now)
        KNOWN.write_text(HEADING + "".join(line + "\n" for line in sorted(kept)))
        return 0
    return int(set(now) != before)


if __name__ == "__main__":
    sys.exit(main())
