"""The main job in a real Neovim: open, see the deadlock, take the fix from the menu, write; the script then trains."""

import json
import os
import shutil
import subprocess
import sys
import time

import neovim
import pytest

sys.path[:0] = [str(neovim.SOURCE / "tests" / "oracle"), str(neovim.SOURCE / "tests")]
import oracles  # noqa: E402
from training import assert_trains, train  # noqa: E402

SAID = json.loads((neovim.SOURCE / "tests/vscode/said.json").read_text())
TITLE = SAID["train_ddp.py"]["fix"]
EXAMPLE = neovim.SOURCE / "examples" / "train_ddp.py"


# How the plugin is switched on: setup() everywhere, and Neovim's own vim.lsp.enable where it exists (0.11 and newer).
CASES = [(name, enable) for name in os.environ.get("STEPZERO_NEOVIM", "installed").split(",")
         for enable in (["setup", "lsp"] if name == "forky" else ["setup"])]


NAMES = list(dict.fromkeys(name for name, _ in CASES))


def start_of(name):
    editor = neovim.installed() if name == "installed" else neovim.unpacked(name)
    assert editor, f"no Neovim '{name}': run cmake/install-dependencies test, or tests/unpack-newer neovim {name}"
    return editor


def knows_schedules():
    done = subprocess.run([neovim.PROGRAM, "--help"], capture_output=True, text=True, timeout=60, check=True)
    return "schedule" in done.stdout


def fixed_by_check(folder):
    """The text that `stepzero check --fix` makes of the example."""
    copy = folder / "check" / EXAMPLE.name
    copy.parent.mkdir()
    shutil.copy(EXAMPLE, copy)
    subprocess.run([neovim.PROGRAM, "check", "--fix", str(copy)], check=True, stdout=subprocess.DEVNULL, timeout=60)
    return copy.read_text()


@pytest.mark.parametrize("name, enable", CASES)
def test_the_deadlock_is_shown_and_fixed(name, enable, tmp_path):
    editor = start_of(name)
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
    python = oracles.python()
    if python:
        assert_trains(train(python, script, tmp_path), epochs=[0, 1])


@pytest.mark.parametrize("name", NAMES)
def test_hints_health_help_schedule_and_fixing_before_writing(name, tmp_path):
    editor = start_of(name)
    script, shapes = tmp_path / EXAMPLE.name, tmp_path / "attention.py"
    shutil.copy(EXAMPLE, script)
    shutil.copy(EXAMPLE.with_name("attention.py"), shapes)
    home = tmp_path / "home"
    home.mkdir()

    seen = neovim.session(editor, home, script, script="features.lua", SHAPES=str(shapes))

    assert seen["errors"] == [], seen["output"]
    newer = tuple(map(int, seen["version"].split("."))) >= (0, 10)
    assert (SAID["attention.py"]["hint"] in seen["hints"]) == newer
    assert "stepzero" in seen["health"] and neovim.PROGRAM in seen["health"] and "running in" in seen["health"]
    assert "ERROR" not in seen["health"]
    assert ("shows inlay hints" in seen["health"]) == newer
    assert seen["help"].strip() == "*:StepzeroSchedule*"
    assert seen["same_window"]
    assert "not running" in seen["notified"][0]
    if knows_schedules():
        assert len(seen["notified"]) == 1
        assert "broadcast" in seen["schedule"]
        assert seen["folds"] == [1, 1, 1, 2, 2, 2, 3, 3] and seen["closed"] == -1
    else:
        assert "stepzero.schedule" in seen["notified"][1] or "executeCommand" in seen["notified"][1]
    assert script.read_text() == fixed_by_check(tmp_path)
    assert (seen["cursor"], seen["modified"]) == ([5, 3], False)
    assert seen["undone"] + "\n" == EXAMPLE.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_keys_typed_one_by_one_bring_diagnostics(name, tmp_path, capsys):
    editor = start_of(name)
    script = tmp_path / "shapes.py"
    script.write_text("import torch\n\nbatch = torch.zeros(32, 784)\nweights = torch.zeros(784, 10)\nlogits = batch @ weights\n")
    setup = tmp_path / "setup.lua"
    setup.write_text("vim.opt.runtimepath:prepend(vim.env.STEPZERO_SOURCE .. '/editors/neovim')\nvim.cmd('filetype on')\n"
                     "require('stepzero').setup({ cmd = { vim.env.STEPZERO, 'lsp' } })\nvim.cmd('edit ' .. vim.env.FILE)\n")
    homes = [tmp_path / "typed", tmp_path / "types"]
    for home in homes:
        home.mkdir()
    socket = str(tmp_path / "socket")
    typed = neovim.start(editor, homes[0], "--listen", socket, "-c", f"luafile {setup}", FILE=str(script))
    try:
        for _ in range(300):
            if os.path.exists(socket):
                break
            time.sleep(0.1)
        seen = neovim.session(editor, homes[1], script, script="typing.lua", SOCKET=socket)
    finally:
        neovim.end_group(typed.pid)
        typed.communicate()
    assert seen["errors"] == [], seen["output"]
    assert seen["line"] == "batch = torch.zeros(32, 784)"
    times = sorted(seen["times"])
    assert len(times) == 12
    with capsys.disabled():
        print(f"\nlatency: Neovim ({name}), key to diagnostics: median {times[6]:.0f} ms, worst {times[-1]:.0f} ms of 12")


@pytest.mark.parametrize("name", NAMES)
def test_the_program_of_an_active_environment_is_found(name, tmp_path):
    """`pip install stepzero` into an environment needs no setting."""
    editor = start_of(name)
    (tmp_path / "environment/bin").mkdir(parents=True)
    program = tmp_path / "environment/bin/stepzero"
    program.symlink_to(neovim.PROGRAM)
    command, variables = editor
    plugin = neovim.SOURCE / "editors/neovim/lsp/stepzero.lua"
    for environment, expected in (({"VIRTUAL_ENV": str(tmp_path / "environment")}, str(program)), ({"VIRTUAL_ENV": str(tmp_path)}, "stepzero")):
        done = subprocess.run([*command, "--clean", "--headless", "-c", f"lua io.stdout:write(dofile('{plugin}').cmd[1])", "-c", "qa"],
                              env={**neovim.environment_of(editor, tmp_path), **environment}, capture_output=True, text=True, timeout=60)
        assert done.stdout == expected, done


PROGRAM_OF_DEEPSPEED = """\
import deepspeed
import torch
from torch import nn

model = nn.Linear(4, 4)
engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config="ds_config.json")
loss = engine(torch.randn(2, 4)).pow(2).mean()
engine.backward(loss)
engine.step()
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelled_key_is_fixed_and_the_program_is_told_no_more(name, tmp_path):
    editor = start_of(name)
    (tmp_path / "pyproject.toml").write_text("")
    script, configuration = tmp_path / "train.py", tmp_path / "ds_config.json"
    script.write_text(PROGRAM_OF_DEEPSPEED)
    text = '{\n  "train_batch_size": 2,\n  "optimiser": {"type": "AdamW"},\n  "zero_optimization": {"stage": 2}\n}\n'
    configuration.write_text(text)
    home = tmp_path / "home"
    home.mkdir()

    seen = neovim.session(editor, home, script, "Rename to optimizer", script="configuration.lua", CONFIGURATION=str(configuration))

    assert seen["errors"] == [], seen["output"]
    assert [(found["code"], found["line"]) for found in seen["program"]] == [("deepspeed/engine", 8)]
    assert seen["configuration"] == [{"code": "deepspeed/unknown-key", "severity": "WARN", "line": 3, "column": 3, "end_column": 14}]
    assert seen["modified"]
    assert seen["text"] + "\n" == text.replace("optimiser", "optimizer")
    assert configuration.read_text() == text
    assert "optimizer that DeepSpeed makes" in seen["hover"]
