"""Real models stay silent and their shapes are right; their wrong twins are told: see judge.py."""

import json

import judge
import pytest

FACTS = json.loads(judge.FACTS.read_text())
TWINS = [(name, twin) for name, model in judge.MODELS.items() for twin in model["twins"]]
# Of the tensors of the small forms, how many are known to the last dimension at least.
SHARE = 0.75


@pytest.mark.parametrize("name", judge.MODELS)
def test_a_right_model_is_silent(name):
    assert FACTS[name]["raises"] is None
    assert judge.judge_right(name) == []


@pytest.mark.parametrize("name", judge.MODELS)
def test_its_shapes_are_those_of_pytorch(name):
    wrong, full, places, unknown = judge.judge_shapes(name, FACTS)
    assert wrong == []
    assert full >= SHARE * places, "\n".join(unknown)


@pytest.mark.parametrize("name", judge.MODELS)
def test_its_shapes_are_known_at_its_real_sizes(name):
    known, every = judge.known_at_full_size(name)
    assert known >= SHARE * every


@pytest.mark.parametrize("name,twin", TWINS, ids=[f"{name}: {twin['name']}" for name, twin in TWINS])
def test_a_wrong_twin_is_told(name, twin):
    assert judge.judge_twin(name, twin) == []


@pytest.mark.parametrize("name,twin", [each for each in TWINS if "torch" in each[1]], ids=[f"{n}: {t['name']}" for n, t in TWINS if "torch" in t])
def test_pytorch_agrees(name, twin):
    assert FACTS[name]["twins"][twin["name"]] == (twin["torch"] == "raises")
