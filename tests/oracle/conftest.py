import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests"))
import oracles  # noqa: E402

EXAMPLE = SOURCE / "examples" / "train_ddp.py"


@pytest.fixture(scope="session", params=oracles.VERSIONS)
def python(request):
    """The Python of each PyTorch that is installed."""
    return oracles.need(request.param)


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
