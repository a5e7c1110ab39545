import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
EXAMPLE = SOURCE / "examples" / "train_ddp.py"


@pytest.fixture(scope="session")
def torch_is_here():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch for this Python: run make oracle")


@pytest.fixture(scope="session")
def example():
    return EXAMPLE


@pytest.fixture(scope="session")
def stepzero():
    """Runs the program; returns what subprocess.run does."""
    program = os.environ.get("STEPZERO", str(SOURCE / "build" / "stepzero"))

    def run(*arguments, **options):
        return subprocess.run([program, *map(str, arguments)], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **options)

    return run


@pytest.fixture(scope="session")
def fixed(stepzero, tmp_path_factory):
    """A copy of the example after `stepzero check --fix`."""
    copy = tmp_path_factory.mktemp("fixed") / EXAMPLE.name
    copy.write_text(EXAMPLE.read_text())
    done = stepzero("check", "--fix", copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert copy.read_text() != EXAMPLE.read_text(), done.stdout + done.stderr
    return copy
