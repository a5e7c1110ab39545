"""Training programs, right and wrong, judged by what bugs.json knows of them: see judge.py and record.py."""

import functools
import json

import judge
import pytest
import record

BUGS = json.loads((judge.HERE / "bugs.json").read_text())
OUTCOMES = json.loads(record.OUTCOMES.read_text())


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
    assert sorted(folder.name for folder in judge.PROGRAMS.iterdir()) == sorted(BUGS)


def test_known_misses_name_what_exists():
    assert {judge.name_of(line) for line in judge.known()} <= set(BUGS)
