"""The logits of transformers' models, inferred by running the package's own source: see judge.py."""

import functools
import os

import judge
import pytest

pytestmark = pytest.mark.skipif(bool(judge.missing()), reason=judge.missing())
# One of each kind; every one where STEPZERO_ALL_MODELS is set (make precision).
SAMPLE = ("llama", "bert", "whisper", "swin")


@functools.cache
def results():
    return list(judge.judge_all(() if os.environ.get("STEPZERO_ALL_MODELS") else SAMPLE))


def test_no_shape_is_wrong():
    assert not [(model["type"], inferred) for model, (said, _, inferred, _) in results() if said == "wrong"]


def test_nothing_is_said_against_right_programs():
    assert not [(model["type"], each["message"]) for model, (*_, reported) in results() for each in reported]


def test_what_was_known_is_known():
    known = set(judge.known())
    assert not [model["type"] for model, (said, *_) in results() if said != "known" and model["type"] in known]


def test_known_programs_are_most():
    assert len(judge.known()) >= 0.8 * len(judge.facts()["models"])


@functools.cache
def losses():
    return judge.judge_losses(() if os.environ.get("STEPZERO_ALL_MODELS") else SAMPLE)


def test_no_loss_is_wrong():
    assert not [(model["type"], inferred) for model, said, inferred in losses() if said == "wrong"]


# As they are trained: moved to a device, and called with labels.
def test_losses_are_known():
    assert sum(said == "known" for _, said, _ in losses()) >= 0.95 * len(losses()) > 0
