"""Every call of PyTorch's operators that facts/ holds: inferred as it is, or not at all. See record.py and judge.py."""

import functools

import judge
import pytest

# In percent. They only ever rise.
KNOWN = 94    # of the results, exactly known
FOUND = 88    # of the wrong calls, reported

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
