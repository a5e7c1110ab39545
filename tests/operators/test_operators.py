"""Every call of PyTorch's operators that facts/ holds: inferred as it is, or not at all. See record.py and judge.py."""

import functools
import json

import judge
import pytest

# In percent. They only ever rise.
SYMBOLS = 97  # of the results where the sizes of the operands are symbols, exactly known for the recorded sizes
KNOWN = 99    # of the results, exactly known
FOUND = 94    # of the wrong calls, reported
OTHER = 0.038 # at most, of the calls of unknown operands: layers and their functions that take a sample without its batch, too, and that are
              # shown with one. PyTorch's own calls of them are without a batch in every second case

OPERATORS = sorted({call.operator for call in judge.load()})


@functools.lru_cache(None)
def judged():
    return judge.judge()


@pytest.mark.parametrize("name", OPERATORS)
def test_results_are_right_or_unknown_and_right_calls_silent(name):
    said = [judge.complaint(call) for call in judged() if call.operator == name and call.verdict in ("wrong", "alarm")]
    assert not said, "\n".join(said)


def test_results_are_known():
    assert judge.share(judged()) >= KNOWN


def test_wrong_calls_are_reported():
    assert judge.share_found(judged()) >= FOUND


@pytest.mark.parametrize("source", ["module_db", "modules"])
def test_results_of_modules_are_known_and_wrong_calls_reported(source):
    calls = [call for call in judged() if call.source == source]
    assert len(calls) > 1000
    assert judge.share(calls) >= KNOWN
    assert judge.share_found(calls) >= 92


def test_the_facts_are_of_the_newest_version():
    """What an older PyTorch answered otherwise stands beside them, and is about calls that they hold."""
    texts = {call.text for call in judged()}
    older = [line.split("\t") for line in (judge.FACTS / "older.tsv").read_text().splitlines() if line and not line.startswith("# ")]
    assert older and all(text in texts for text, _ in older)


def test_what_only_older_versions_refused_is_not_told():
    """A call that the newest PyTorch takes is right, whatever 1.13 said to it."""
    lines = [line.split("\t") for line in (judge.FACTS / "older.tsv").read_text().splitlines() if line and not line.startswith("# ")]
    refused = {text for text, outcome in lines if isinstance(json.loads(outcome), dict) and ("since" in json.loads(outcome) or "raises" in json.loads(outcome))}
    taken = [call for call in judged() if call.text in refused and not call.fails]
    assert len(taken) > 500
    assert not [judge.complaint(call) for call in taken if call.verdict in ("wrong", "alarm")]


@functools.lru_cache(None)
def judged_with(rewrite):
    return judge.judge(rewrite=rewrite)


@pytest.mark.parametrize("rewrite", [judge.with_symbols, judge.with_unknowns])
def test_nothing_wrong_is_said_of_symbols_and_unknowns(rewrite):
    said = [judge.complaint(call) for call in judged_with(rewrite) if call.verdict in ("wrong", "alarm")]
    assert not said, "\n".join(said)
    assert judge.count(judged_with(rewrite), "other operands") <= OTHER * len(judged_with(rewrite))
    assert {call.source for call in judged_with(rewrite) if call.verdict == "other operands"} <= {"functional", "module_db", "modules"}


def test_results_are_known_in_symbols():
    assert judge.share(judged_with(judge.with_symbols)) >= SYMBOLS
