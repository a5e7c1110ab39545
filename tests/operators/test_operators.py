"""Every call of PyTorch's operators that facts/ holds: inferred as it is, or not at all. See record.py and judge.py."""

import functools

import judge
import pytest

# In percent. They only ever rise.
SYMBOLS = 92  # of the results where the sizes of the operands are symbols, exactly known for the recorded sizes
KNOWN = 95    # of the results, exactly known
FOUND = 90    # of the wrong calls, reported
OTHER = 0.03  # at most, of the calls of unknown operands: those that are taken for a batch and are none

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


@functools.lru_cache(None)
def judged_with(rewrite):
    return judge.judge(rewrite=rewrite)


@pytest.mark.parametrize("rewrite", [judge.with_symbols, judge.with_unknowns])
def test_nothing_wrong_is_said_of_symbols_and_unknowns(rewrite):
    said = [judge.complaint(call) for call in judged_with(rewrite) if call.verdict in ("wrong", "alarm")]
    assert not said, "\n".join(said)
    assert judge.count(judged_with(rewrite), "other operands") <= OTHER * len(judged_with(rewrite))


def test_results_are_known_in_symbols():
    assert judge.share(judged_with(judge.with_symbols)) >= SYMBOLS
