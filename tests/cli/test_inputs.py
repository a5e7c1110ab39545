"""Which files are looked at and what they are called; nothing a path or a file holds does harm."""

import os
import random
import shutil
import subprocess

import pytest

from conftest import PROGRAM


def test_paths_are_named_as_they_were_given(checked, write, tmp_path):
    write("a.py")
    write("pkg/b.py")
    assert checked("a.py") == ["a.py"]
    assert checked("./a.py", "pkg//b.py") == ["a.py", "pkg/b.py"]
    assert checked(".") == ["a.py", "pkg/b.py"]
    assert checked("pkg/") == ["pkg/b.py"]
    assert checked(tmp_path) == [f"{tmp_path}/a.py", f"{tmp_path}/pkg/b.py"]
    assert checked("../a.py", cwd=tmp_path / "pkg") == ["../a.py"]
    assert checked("..", cwd=tmp_path / "pkg") == ["../a.py", "../pkg/b.py"]


def test_each_file_once_in_the_order_given(checked, write, tmp_path):
    write("a.py")
    write("b.py")
    assert checked("b.py", ".", tmp_path / "a.py", "b.py") == ["b.py", "a.py"]


def test_standard_input(stepzero, write):
    outcome = stepzero("shapes", "--format", "json", "-", stdin=b"x = 1\n")
    assert [entry["path"] for entry in outcome.json["files"]] == ["-"]
    outcome = stepzero("shapes", "--format", "json", "--stdin-filename", "pkg/new.py", "-", stdin=b"x = 1\n")
    assert [entry["path"] for entry in outcome.json["files"]] == ["pkg/new.py"]
    write("a.py")
    outcome = stepzero("check", "--format", "json", "-", "a.py", "-", stdin=b"x = 1\n")
    assert outcome.json["files"] == 2
    outcome = stepzero("check", "-", stdin=b"\0\0")
    assert outcome.status == 2
    assert "standard input: not a text file" in outcome.said


def test_standard_input_stands_before_the_file_and_uses_its_settings(stepzero, write):
    write("pkg/a.py", b"\0")
    write("pkg/stepzero.toml", "x = 1\n")
    outcome = stepzero("check", "--format=json", "--stdin-filename=pkg/a.py", "-", stdin=b"x = 1\n")
    assert outcome.status == 0
    assert [one["path"] for one in outcome.json["diagnostics"]] == ["pkg/stepzero.toml"]


def test_a_folder_without_python_files_says_so(stepzero, write, tmp_path):
    write("empty/notes.txt")
    outcome = stepzero("check", "empty")
    assert (outcome.status, outcome.text, outcome.said) == (0, "", "stepzero: no Python files in empty\n")
    outcome = stepzero("check", "--format=json", "empty")
    assert outcome.json == {"version": 1, "files": 0, "diagnostics": []}


def test_unreadable_inputs_are_named_and_the_others_checked(stepzero, write, tmp_path):
    write("a.py")
    write("nul.py", b"x = 1\n\0")
    os.mkfifo(tmp_path / "pipe.py")
    os.symlink("loop.py", tmp_path / "loop.py")
    outcome = stepzero("check", "--format=json", "none.py", "nul.py", "pipe.py", "loop.py", "a.py/x.py", "", "a.py")
    assert outcome.status == 2
    assert outcome.json["files"] == 1
    for line in [
        "stepzero: none.py: no such file or folder",
        "stepzero: nul.py: not a text file (it contains NUL bytes)",
        "stepzero: pipe.py: not a regular file (use `-` to read standard input)",
        "stepzero: a.py/x.py: no such file or folder",
        'stepzero: "": no such file or folder',
    ]:
        assert line in outcome.said.splitlines()
    assert len(outcome.said.splitlines()) == 6
    assert stepzero("shapes", "none.py", "a.py").status == 2


def test_a_file_without_permission(stepzero, write, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    write("a.py").chmod(0)
    write("in/b.py")
    (tmp_path / "in").chmod(0)
    try:
        outcome = stepzero("check", ".")
    finally:
        (tmp_path / "in").chmod(0o755)
    assert outcome.status == 2
    assert "a.py: permission denied" in outcome.said
    assert "in: permission denied" in outcome.said


def test_exclude(checked, write):
    write("stepzero.toml", 'exclude = ["build/", "/top.py", "*_gen.py", "!keep_gen.py"]\n')
    for name in ["a.py", "top.py", "in/top.py", "build/x.py", "in/build/x.py", "x_gen.py", "keep_gen.py"]:
        write(name)
    assert checked(".") == ["a.py", "in/top.py", "keep_gen.py"]
    assert checked("top.py", "in") == ["top.py", "in/top.py"]


def git(folder, *arguments):
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True).stdout


PIECES = ["a", "b", "*", "?", "**", "x.py", "*.py", "[ab]", "[!a]", "a*", "b.py", "a.py", "\\a"]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
@pytest.mark.parametrize("seed", range(25))
def test_the_same_files_as_git(checked, write, tmp_path, seed):
    chance = random.Random(seed)
    git(tmp_path, "init", "-q")
    folders = ["", "a/", "b/", "a/a/", "a/b/", "b/a/b/"]
    for folder in folders:
        for name in ["a.py", "b.py", "x.py", "ab.py"]:
            write(folder + name)

    def pattern():
        text = "/".join(chance.choice(PIECES) for _ in range(chance.choice([1, 1, 2, 2, 3])))
        return chance.choice(["", "", "", "!"]) + chance.choice(["", "", "/"]) + text + chance.choice(["", "", "/"])

    rules = {}
    for folder in chance.sample(folders, 3):
        rules[folder] = [pattern() for _ in range(chance.randint(1, 4))]
        write(folder + ".gitignore", "\n".join(rules[folder]) + "\n")
    listed = git(tmp_path, "ls-files", "-z", "--others", "--exclude-standard").decode().split("\0")
    expected = sorted(name for name in listed if name.endswith(".py"))
    assert sorted(checked(".")) == expected, rules
    below = sorted(name for name in expected if name.startswith("a/"))
    if subprocess.run(["git", "check-ignore", "-q", "a"], cwd=tmp_path).returncode != 0:
        assert sorted(checked("a")) == below, rules


def test_who_checks_what_is_no_python_hears_of_the_line(stepzero, write):
    write("broken.py", "import torch\n<<<x = torch.ones(2, 3)\ny = 1\n")
    write("whole.py", "import torch\n")
    for form in ["text", "json"]:
        done = stepzero("check", "--format", form, "broken.py", "whole.py")
        assert done.status == 0
        assert "broken.py: cannot be read as Python at line 2" in done.said
        assert "whole.py" not in done.said


HARMFUL = {
    "empty": b"",
    "half-typed": b"def f(x:\n    for i in\n  class (\n",
    "broken UTF-8": b"x = '\xff\xfe\xc3\x28\xed\xa0\x80'\nimport torch\n",
    "byte order mark": b"\xef\xbb\xbfimport torch\n",
    "CRLF": b"import torch\r\nx = 1\r\n",
    "lone CR": b"import torch\rx = 1\r",
    "late NUL": b"#" * 9000 + b"\0\nx = 1\n",
    "ten thousand brackets": b"x = " + b"(" * 10_000 + b")" * 10_000 + b"\n",
    "ten thousand open brackets": b"x = " + b"[" * 10_000,
    "ever deeper blocks": b"".join(b" " * i + b"if x:\n" for i in range(200)),
    "a long line": b"x = [" + b"1, " * 100_000 + b"]\n",
    "operators": b"x = " + b"1 + " * 20_000 + b"1\n",
    "attributes": b"x" + b".a" * 20_000 + b"\n",
    "an unclosed string": b"x = '''\n" + b"y\n" * 1000,
    "recursive classes": b"class A(B): pass\nclass B(A): pass\nx = A()\n",
    "import of itself": b"from target import *\nimport target\n",
}


@pytest.mark.parametrize("name", HARMFUL)
def test_nothing_a_file_holds_does_harm(stepzero, write, name):
    write("target.py", HARMFUL[name])
    for form in ["text", "json", "sarif", "github"]:
        assert stepzero("check", "--format", form, "target.py").status in (0, 1)
    assert stepzero("shapes", "--format", "json", "target.py").status == 0
    assert stepzero("check", "--format", "json", "-", stdin=HARMFUL[name]).status in (0, 1)


@pytest.mark.parametrize("before", range(8))
def test_a_budget_that_ends_in_a_setter(stepzero, write, before):
    """Which of three steps is the last one depends on how many come before."""
    write(
        "target.py",
        "".join(f"x{i} = {i}\n" for i in range(before))
        + "class A:\n    count = 0\n\n"
        + "    def __setattr__(self, name, value):\n        object.__setattr__(self, name, value)\n\n\n"
        + "def burn(a, k):\n" + "".join(f"    a.count = k + {i}\n" for i in range(400))
        + "\n\ndef main(a):\n" + "".join(f"    burn(a, {i})\n" for i in range(3000)) + "\n\nmain(A())\n",
    )
    assert stepzero("check", "target.py").status == 0


def test_50_megabytes(stepzero, write):
    write("large.py", b"x = 1\n" * 8_000_000)
    outcome = stepzero("check", "large.py", timeout=120)
    assert outcome.status in (0, 1)
    assert "too large" in outcome.said
    write("huge.py", b"#" * 60_000_000)
    outcome = stepzero("check", "huge.py")
    assert outcome.status == 2
    assert "huge.py: larger than 50 MiB" in outcome.said


def test_import_cycles_and_link_loops(stepzero, write, tmp_path):
    write("a.py", "from b import *\nimport pkg\n")
    write("b.py", "from a import *\n")
    write("pkg/__init__.py", "from .c import *\n")
    write("pkg/c.py", "from . import *\nfrom .. import a\n")
    os.symlink("..", tmp_path / "pkg" / "up")
    assert stepzero("check", "--format=json", ".").json["files"] == 4


def test_copies_of_a_package_mean_themselves(stepzero, write):
    for project, parts in [("one", 2), ("two", 3)]:
        write(f"{project}/setup.py", "")
        write(f"{project}/pkg/__init__.py", "")
        write(f"{project}/pkg/parts.py", f"def parts():\n    return {', '.join('1' * parts)}\n")
        write(f"{project}/pkg/deep/__init__.py", "")
        names = ", ".join("abc"[:parts])
        write(f"{project}/pkg/deep/use.py", f"from pkg.parts import parts\n\n{names} = parts()\n")
    assert stepzero("check", "--format=json", ".").json["diagnostics"] == []
    write("two/pkg/deep/use.py", "from pkg.parts import parts\n\na, b = parts()\n")
    (found,) = stepzero("check", "--format=json", ".").json["diagnostics"]
    assert (found["path"], found["rule"]) == ("two/pkg/deep/use.py", "shape/unpack")


def test_names_that_are_no_text(stepzero, tmp_path):
    for name in [b"new\nline.py", b"\xff\xfe.py", b"esc\x1b[2J.py", "形.py".encode()]:
        (open(os.path.join(os.fsencode(tmp_path), name), "wb")).close()
    (tmp_path / "stepzero.toml").write_text("x = 1\n")
    for form in ["text", "json", "sarif", "github"]:
        outcome = stepzero("check", "--format", form, ".")
        assert outcome.status == 0
        assert b"\x1b" not in outcome.out
    assert stepzero("shapes", "--format", "json", ".").json["files"][-1]["path"] == "\ufffd\ufffd.py"


HARMFUL_SETTINGS = {
    "broken UTF-8": b"\xff\xfe",
    "half-typed": b"[[[",
    "many brackets": b"a = " + b"[" * 50_000,
    "a long word": b"a" * 1_000_000,
    "NUL": b"\0",
    "CRLF": b"select = 'x'\r\n",
    "no key": b"= 1\n",
}


@pytest.mark.parametrize("name", HARMFUL_SETTINGS)
def test_nothing_a_settings_file_holds_does_harm(stepzero, write, name):
    write("a.py")
    write("in/b.py")
    write("stepzero.toml", HARMFUL_SETTINGS[name])
    write("in/pyproject.toml", b"[tool.stepzero]\n" + HARMFUL_SETTINGS[name])
    outcome = stepzero("check", "--format=json", ".")
    assert outcome.status == 0
    assert {one["path"] for one in outcome.json["diagnostics"]} == {"stepzero.toml", "in/pyproject.toml"}


def test_a_deleted_current_folder(tmp_path, write):
    gone = tmp_path / "gone"
    gone.mkdir()
    path = write("a.py")
    done = subprocess.run(f'cd "{gone}" && rmdir "{gone}" && "{PROGRAM}" check "{path}"', shell=True, timeout=60)
    assert done.returncode == 0
