"""Training programs, right and wrong, judged by what bugs.json knows of them: see judge.py and record.py."""

import functools
import json
import re
import subprocess

import judge
import pytest
import record

BUGS = json.loads((judge.HERE / "bugs.json").read_text())
OUTCOMES = json.loads(record.OUTCOMES.read_text())
EFFECTS = json.loads((judge.HERE / "effects.json").read_text())


@functools.lru_cache(None)
def judged():
    programs = judge.judge()
    judge.judge_fixes(programs)
    return programs


@pytest.mark.parametrize("name", sorted(BUGS))
def test_the_bug_and_nothing_else_is_reported(name):
    now = judged()[name].complaints
    before = {line for line in judge.known() if judge.name_of(line) == name}
    said = [f"{line}: {now[line]}" for line in sorted(set(now) - before)]
    said += [f"{line}: no longer so, take it out of known_misses" for line in sorted(before - set(now))]
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", sorted(BUGS))
def test_the_outcomes_are_of_these_programs(name):
    assert OUTCOMES[name]["hash"] == record.text_hash(judge.PROGRAMS / name), "run tests/loops/record.py --record " + name
    assert (judge.PROGRAMS / name / "wrong.py").exists() == ("bugs" in BUGS[name])


def test_every_program_is_named():
    assert sorted(folder.name for folder in judge.PROGRAMS.iterdir() if not folder.name.startswith(".")) == sorted(BUGS)


def test_known_misses_name_what_exists():
    assert {judge.name_of(line) for line in judge.known()} <= set(BUGS)


def figures(value):
    """Every number of what was measured, those in its words included."""
    if isinstance(value, dict):
        return set().union(*(figures(part) for item in value.items() for part in item))
    if isinstance(value, list):
        return set().union(set(), *map(figures, value))
    return {float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", value if isinstance(value, str) else repr(value))}


def quoted(rule):
    """What the rule's page says was measured; nothing if there is no such rule."""
    asked = subprocess.run([judge.STEPZERO, "explain", rule], capture_output=True, text=True, timeout=60)
    if asked.returncode != 0:
        return None
    why = asked.stdout.split("## Why")[1].split("\n## ")[0]
    return [part for part in re.findall(r"\((measured[^()]*(?:\(\)[^()]*)*)\)", why)]


@pytest.mark.parametrize("rule", sorted({rule for effect in EFFECTS.values() for rule in effect["rules"]}))
def test_the_page_quotes_what_was_measured(rule):
    said = quoted(rule)
    if said is None:
        pytest.skip("no such rule")
    measured = set().union(*(figures([effect["says"], effect["figures"]]) for effect in EFFECTS.values() if rule in effect["rules"]))
    assert said or not rule.startswith(("amp/", "loop/")), "the page quotes nothing"
    assert figures(said) <= measured


def test_the_recorded_fixes_are_those_of_today():
    """A preferred fix changes nothing about whether its program runs: record.py --record-fixes asks PyTorch."""
    ran = json.loads(record.FIXES.read_text())
    now = record.fixed_programs(judged(), BUGS)
    assert {name: record.hash_of(text) for name, (_, text) in now.items()} == {name: entry["hash"] for name, entry in ran.items()}, "run tests/loops/record.py --record-fixes"
    assert all(entry["report"] == {"ends": "success"} for entry in ran.values())
