"""moe/balance-loss is algebra: what it flags has no gradient in real PyTorch, and what it passes has one (see formulas.py)."""

import json
import os
import subprocess

import formulas
import pytest

GRADIENTS = json.loads(formulas.GRADIENTS.read_text())


def flagged(formula, folder):
    program = folder / "train.py"
    program.write_text(formulas.PROGRAM.format(formula=formula))
    done = subprocess.run([os.environ["STEPZERO"], "check", "--format", "json", str(program)], capture_output=True, timeout=60)
    said = json.loads(done.stdout)["diagnostics"]
    assert not [each for each in said if each["severity"] == "error"]
    return [each for each in said if each["rule"] == "moe/balance-loss" and each["range"]["start"]["line"] == formulas.LINE]


def test_every_formula_is_recorded():
    assert list(GRADIENTS) == formulas.FORMULAS


@pytest.mark.parametrize("formula", formulas.FORMULAS)
def test_what_is_flagged_has_no_gradient_and_what_passes_has_one(formula, tmp_path):
    assert bool(flagged(formula, tmp_path)) == (GRADIENTS[formula] < formulas.NOTHING)
