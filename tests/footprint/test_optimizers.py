"""What `stepzero memory` says of an optimizer's state is what it has after one step: see optimizers.py."""

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import judge
import optimizers
import pytest

FACTS = json.loads(optimizers.FACTS.read_text())
# What these keep depends on the numbers or on the iteration, or is not in the table: what is said is a lower bound that says so.
BOUNDS = ("torch.optim LBFGS", "prodigyopt ", "torch_optimizer AggMo", "torch_optimizer Lamb", "torch_optimizer MADGRAD", "torch_optimizer PID", "torch_optimizer SWATS",
          "torch_optimizer Shampoo")


@pytest.fixture(scope="module")
def said():
    programs = optimizers.programs()

    def judged(name):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.py"
            path.write_text(programs[name])
            return judge.state_of(path)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(FACTS, pool.map(judged, FACTS)))


def test_each_line_is_recorded():
    assert set(optimizers.programs()) == set(FACTS)


def test_the_state_is_equal_to_the_byte(said):
    wrong = {name: (state, FACTS[name]) for name, (state, _) in said.items() if state != FACTS[name] and not (name.startswith(BOUNDS) and state <= FACTS[name])}
    assert not wrong


def test_what_is_not_the_whole_says_so(said):
    assert {name for name, (_, exact) in said.items() if not exact} == {name for name in FACTS if name.startswith(BOUNDS)}
