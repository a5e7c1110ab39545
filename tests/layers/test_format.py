"""The sources are as clang-format writes them (.clang-format; `make format`)."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Other versions break some lines elsewhere.
PROGRAM = shutil.which("clang-format-19")


@pytest.mark.skipif(not PROGRAM, reason="clang-format-19 is not installed")
def test_sources_are_formatted():
    files = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert len(files) > 500
    checked = subprocess.run([PROGRAM, "--dry-run", "--Werror", *files], cwd=ROOT, capture_output=True, text=True)
    places = sorted({line.split(": ")[0] for line in checked.stderr.splitlines() if "warning" in line or "error" in line})
    assert not checked.returncode, "run `make format`: " + ", ".join(places[:20])
