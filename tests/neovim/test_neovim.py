"""The main job in a real Neovim: open, see the deadlock, take the fix from the menu, write; the script then trains."""

import importlib.util
import os
import shutil
import subprocess
import sys

import neovim
import pytest

sys.path.insert(0, str(neovim.SOURCE / "tests" / "oracle"))
from training import assert_trains, train  # noqa: E402

TITLE = "Run broadcast on all ranks"
EXAMPLE = neovim.SOURCE / "examples" / "train_ddp.py"


# How the plugin is switched on: setup() everywhere, and Neovim's own vim.lsp.enable where it exists (0.11 and newer).
CASES = [(name, enable) for name in os.environ.get("STEPZERO_NEOVIM", "installed").split(",")
         for enable in (["setup", "lsp"] if name == "forky" else ["setup"])]


def fixed_by_check(folder):
    """The text that `stepzero check --fix` makes of the example."""
    copy = folder / "check" / EXAMPLE.name
    copy.parent.mkdir()
    shutil.copy(EXAMPLE, copy)
    subprocess.run([neovim.PROGRAM, "check", "--fix", str(copy)], check=True, stdout=subprocess.DEVNULL, timeout=60)
    return copy.read_text()


@pytest.mark.parametrize("name, enable", CASES)
def test_the_deadlock_is_shown_and_fixed(name, enable, tmp_path):
    editor = neovim.installed() if name == "installed" else neovim.unpacked(name)
    assert editor, f"no Neovim '{name}': run cmake/install-dependencies test, or tests/neovim/install-newer {name}"
    project = tmp_path / "project with a space"
    (project / "src").mkdir(parents=True)
    (project / "pyproject.toml").write_text("")
    script = project / "src" / EXAMPLE.name
    shutil.copy(EXAMPLE, script)
    home = tmp_path / "home"
    home.mkdir()

    seen = neovim.session(editor, home, script, TITLE, ENABLE=enable)

    assert seen["errors"] == [], seen["output"]
    assert (seen["status"], seen["left"]) == (0, False)
    assert seen["root"] == str(project)
    assert [(found["code"], found["severity"], found["source"]) for found in seen["before"]] == [
        ("deadlock/rank-guarded-collective", "ERROR", "stepzero")]
    line = EXAMPLE.read_text().splitlines()[seen["before"][0]["line"] - 1]
    assert line[seen["before"][0]["column"] - 1:].startswith("dist.broadcast(")
    assert any(TITLE in action for action in seen["actions"])
    assert seen["after"] == []
    assert script.read_text() == fixed_by_check(tmp_path)
    if importlib.util.find_spec("torch") is not None:
        assert_trains(train(script, tmp_path), epochs=[0, 1])
