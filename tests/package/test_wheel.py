"""What `pip install` gives: the program on the PATH of a new environment; the hooks of pre-commit and the action that run it."""

import base64
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STEPZERO_BUILD", SOURCE / "build"))
WRONG = "import torch\n\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n"
RIGHT = "import torch\n\ntorch.zeros(2, 3) @ torch.zeros(3, 5)\n"
CONFLICT = '{"train_micro_batch_size_per_gpu": 1, "fp16": {"enabled": true}, "bf16": {"enabled": true}}'


def run(*command, status=0, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL, timeout=240,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == status, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    run("cmake", "--build", BUILD, "--target", "stepzero_portable", "documents")
    return Path(run(SOURCE / "packaging/wheel", BUILD, tmp_path_factory.mktemp("wheel")).strip())


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """The bin folder of a new environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    if subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True).returncode != 0:
        pytest.skip("no python3-venv")
    run(folder / "bin/python", "-m", "pip", "install", "-q", "--no-index", wheel)
    return folder / "bin"


@pytest.fixture
def project(tmp_path):
    """A repository of git with one file, which is wrong."""
    (tmp_path / "model.py").write_text(WRONG)
    run("git", "init", "-q", cwd=tmp_path)
    run("git", "add", ".", cwd=tmp_path)
    return tmp_path


def on_path(folder, home):
    return dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", HOME=str(home), PRE_COMMIT_HOME=str(home / "pre-commit"))


def test_every_file_of_the_wheel_is_recorded(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [record] = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        rows = {name: (digest, size) for name, digest, size in csv.reader(archive.read(record).decode().splitlines())}
        assert set(rows) == set(archive.namelist())
        for name in set(rows) - {record}:
            digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
            assert rows[name] == (f"sha256={digest}", str(len(archive.read(name)))), name
        assert any(name.endswith("/THIRD-PARTY-NOTICES") for name in rows)


def test_equal_programs_make_equal_wheels(wheel, tmp_path):
    again = Path(run(SOURCE / "packaging/wheel", BUILD, tmp_path).strip())
    assert again.read_bytes() == wheel.read_bytes()


def test_the_program_asks_for_no_library(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/scripts/stepzero")]
        archive.extract(name, tmp_path)
    assert "NEEDED" not in run("readelf", "-d", tmp_path / name)
    assert "INTERP" not in run("readelf", "-lW", tmp_path / name)


def test_a_program_that_needs_a_loader_is_refused(tmp_path):
    (tmp_path / "portable").mkdir()
    shutil.copy(BUILD / "stepzero", tmp_path / "portable")
    assert "needs a dynamic loader" in run(SOURCE / "packaging/wheel", tmp_path, tmp_path, status=1)


def test_it_runs_in_a_new_environment(environment, project):
    version = run(environment / "stepzero", "--version")
    assert run(environment / "python", "-m", "stepzero", "--version") == version
    assert run(environment / "python", "-c", "import stepzero; print(stepzero.find_program())").strip() == str(environment / "stepzero")
    assert "error[shape/matmul]" in run(environment / "stepzero", "check", "model.py", cwd=project, status=1)
    assert (environment.parent / "share/doc/stepzero/rules/shape/matmul.md").is_file()


def test_what_it_says_is_what_the_other_program_says(environment):
    example = SOURCE / "examples/train_ddp.py"
    theirs, ours = ([str(program), "check", str(example)] for program in (environment / "stepzero", BUILD / "stepzero"))
    assert run(*theirs, status=1) == run(*ours, status=1)


@pytest.mark.skipif(not (SOURCE / "build-aarch64/portable/stepzero").exists(), reason="no program for aarch64: cmake/install-dependencies cross, make wheel")
@pytest.mark.skipif(shutil.which("qemu-aarch64-static") is None, reason="no qemu-user-static")
def test_the_program_for_aarch64_says_what_this_one_says(tmp_path):
    other = SOURCE / "build-aarch64"
    made = Path(run(SOURCE / "packaging/wheel", other, tmp_path, env={**os.environ, "STRIP": "aarch64-linux-gnu-strip"}).strip())
    assert "manylinux_2_17_aarch64" in made.name and "musllinux" in made.name
    with zipfile.ZipFile(made) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/scripts/stepzero")]
        archive.extract(name, tmp_path)
        assert any(each.endswith("rules/shape/matmul.md") for each in archive.namelist())
    program = tmp_path / name
    program.chmod(0o755)
    example = str(SOURCE / "examples/train_ddp.py")
    assert run("qemu-aarch64-static", program, "--version") == run(BUILD / "stepzero", "--version")
    assert run("qemu-aarch64-static", program, "check", example, status=1) == run(BUILD / "stepzero", "check", example, status=1)


@pytest.mark.skipif(shutil.which("pre-commit") is None, reason="no pre-commit")
@pytest.mark.parametrize("name, text, rule", [
    ("model.py", WRONG, "shape/matmul"), ("model.py", RIGHT, None), ("ds_config.json", CONFLICT, "deepspeed/precision"), ("package.json", "{}", None)])
def test_the_hook_of_pre_commit(environment, project, tmp_path_factory, name, text, rule):
    hooks = tmp_path_factory.mktemp("hooks")  # the hooks alone, as a repository: the checkout may be no clone
    shutil.copy(SOURCE / ".pre-commit-hooks.yaml", hooks)
    run("git", "init", "-q", cwd=hooks)
    run("git", "add", ".", cwd=hooks)
    run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "hooks", cwd=hooks)
    (project / name).write_text(text)
    home = tmp_path_factory.mktemp("home")
    printed = run("pre-commit", "try-repo", hooks, "stepzero", "--files", name, cwd=project, status=1 if rule else 0, env=on_path(environment, home))
    assert "Passed" in printed if rule is None else rule in printed


def steps_of_action(inputs):
    """(script, environment) of each step, with the inputs in their places as a runner puts them."""
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((SOURCE / "action.yml").read_text())
    assert set(inputs) <= set(action["inputs"])
    values = {name: str(inputs.get(name, what["default"])) for name, what in action["inputs"].items()}
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash" and "${{" not in step["run"]  # an input in a script is a script injection
        yield step["run"], {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
                            for name, text in step["env"].items()}


@pytest.mark.parametrize("text, fail_on, status", [(WRONG, "error", 1), (RIGHT, "hint", 0)])
def test_the_action(environment, wheel, project, tmp_path_factory, text, fail_on, status):
    (project / "model.py").write_text(text)
    report = project / "report.sarif"
    home = tmp_path_factory.mktemp("home")
    variables = dict(on_path(environment, home), PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheel.parent))
    *before, last = steps_of_action({"paths": "model.py", "sarif": str(report), "fail-on": fail_on})
    for script, own in before:
        run("bash", "-e", "-o", "pipefail", "-c", script, cwd=project, env={**variables, **own})
    printed = run("bash", "-e", "-o", "pipefail", "-c", last[0], cwd=project, env={**variables, **last[1]}, status=status)
    assert ("::error" in printed) == (status == 1)
    assert ("shape/matmul" in report.read_text().split('"results"')[1]) == (status == 1)
