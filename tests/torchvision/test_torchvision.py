"""The shapes of torchvision's models, inferred by running its own source: see judge.py."""

import functools

import judge
import pytest

pytestmark = pytest.mark.skipif(bool(judge.missing()), reason=judge.missing())


@functools.lru_cache(None)
def results():
    return judge.judge_all()


def test_no_shape_is_wrong():
    wrong = [(model["builder"], inferred) for model, (said, _, inferred) in results() if said == "wrong"]
    assert not wrong


def test_what_was_known_is_known():
    now = {model["builder"] for model, (said, _, _) in results() if said == "known"}
    assert not set(judge.known()) - now  # judge.py --write adds what is known besides
