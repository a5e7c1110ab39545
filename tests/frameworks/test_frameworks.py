"""stepzero against the recorded facts, which need nothing installed; and a sample of the facts against the frameworks, where they are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import judge  # noqa: E402
import record  # noqa: E402


@pytest.mark.parametrize("name", record.NAMES)
def test_says_what_the_framework_does(name):
    wrong, count = judge.complaints([name])
    known = [line for line in judge.KNOWN.read_text().splitlines() if line.split(":")[0] == name]
    assert [line for line in wrong if line not in known] == []
    assert [line for line in known if line not in wrong] == [], "no longer wrong: take it from known_misses"
    assert sum(count.values()) >= 30


@pytest.mark.parametrize("name", ["trainer"])
def test_says_the_same_where_the_package_is_installed_and_read(name):
    python = record.python_with_frameworks()
    if not python:
        pytest.skip("the frameworks are not installed: run `make oracle`")
    assert judge.complaints([name], Path(python).parent.parent)[0] == judge.complaints([name])[0]


@pytest.mark.parametrize("name", record.NAMES)
def test_facts_are_of_every_question(name):
    """A probe that was changed was asked again."""
    probe = record.probe_of(name)
    facts = json.loads((record.FACTS / f"{name}.json").read_text())
    for kind, key_of in record.KEYS.items():
        asked = [key for each, key, _ in record.questions_of(probe) if each == kind]
        assert [key_of(fact) for fact in facts[kind]] == asked


@pytest.mark.parametrize("claim", judge.CLAIMS, ids=lambda claim: f"{claim[0]}: {claim[2]}")
def test_what_the_loop_rules_rest_on(claim):
    name, question, what, value = claim
    facts = json.loads((record.FACTS / f"{name}.json").read_text())
    answers = next(fact["answers"] for fact in facts["questions"] if fact["question"] == question)
    assert answers[what] == value


@pytest.mark.parametrize("name", record.NAMES)
def test_the_framework_still_answers_so(name):
    python = record.python_with_frameworks()
    if not python:
        pytest.skip("the frameworks are not installed: run `make oracle`")
    asked = subprocess.run([python, HERE / "record.py", "--check", "--sample", "3", name], capture_output=True, text=True, timeout=1800)
    if asked.returncode == 77:
        pytest.skip(asked.stdout.strip().splitlines()[-1])
    assert asked.returncode == 0, asked.stdout + asked.stderr
