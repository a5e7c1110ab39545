"""The peak of steps with several backwards, held against PyTorch's on the CPU: facts_peaks.json."""

import json
import pathlib
import subprocess

import judge
import pytest

HERE = pathlib.Path(__file__).resolve().parent
FACTS = json.loads((HERE / "facts_peaks.json").read_text())
# What names have of the round before is not all known, nor what operations beside the step's own let go at once.
WITHIN = 0.04


@pytest.mark.parametrize("name", FACTS)
def test_the_peak_of_each_backward_is_near_the_real_one(name):
    done = subprocess.run([judge.STEPZERO, "memory", "--device", "cpu", "--format", "json", str(HERE / "peaks" / f"{name}.py")], capture_output=True, text=True, timeout=600)
    (file,) = json.loads(done.stdout)["files"]
    said = {str(step["line"]): step["peak"] for step in file["steps"]}
    assert said.keys() == FACTS[name].keys()
    for line, real in FACTS[name].items():
        assert not said[line].get("at_least", False)
        assert abs(said[line]["bytes"] / real - 1) <= WITHIN, (line, said[line]["bytes"], real)
