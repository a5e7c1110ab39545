"""What is known already is left out: --write-baseline and --baseline, --since, and GitLab's report, which goes by the same fingerprints."""

import json
import os
import subprocess

import pytest

from conftest import needs

WRONG = "import torch\n\na = torch.ones(2, 3)\nb = torch.ones(4, 3)\nc = a @ b\n"
TWICE = "import torch\n\n\ndef f():\n    return torch.ones(2, 3) @ torch.ones(4, 3)\n\n\ndef g():\n    return torch.ones(2, 3) @ torch.ones(4, 3)\n"
OTHER = "import torch\n\nd = torch.ones(5, 5)\ne = d @ torch.ones(4, 4)\n"

pytestmark = needs("shape/matmul")


def lines(outcome):
    return [(found["path"], found["range"]["start"]["line"]) for found in outcome.json["diagnostics"]]


def git(folder, *words):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True, env=environment)


@pytest.fixture
def repository(tmp_path, write):
    write("train.py", WRONG)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_a_baseline_is_written_and_holds_what_was_found(stepzero, write, tmp_path):
    write("train.py", WRONG)
    outcome = stepzero("check", "--write-baseline", "known.json", ".")
    assert (outcome.status, outcome.out) == (0, b"")
    assert outcome.said == "stepzero: wrote 1 finding to known.json\n"
    assert json.loads((tmp_path / "known.json").read_text()) == {
        "version": 1, "findings": [{"path": "train.py", "rule": "shape/matmul", "line": "c = a @ b"}]}
    again = stepzero("check", "--baseline", "known.json", ".")
    assert again.status == 0
    assert again.text == "No problems found in 1 file. 1 known one is left out.\n"


def test_known_findings_stay_known_when_lines_move_and_new_ones_are_told(stepzero, write):
    write("train.py", WRONG)
    stepzero("check", "--write-baseline", "known.json", ".")
    write("train.py", "# a comment\n\n" + WRONG.replace("c = a @ b", "c  =  a @ b"))
    write("other.py", OTHER)
    outcome = stepzero("check", "--baseline", "known.json", "--format", "json", ".")
    assert outcome.status == 1
    assert lines(outcome) == [("other.py", 4)]


def test_each_known_finding_counts_once(stepzero, write):
    write("train.py", TWICE[:TWICE.index("def g")])
    stepzero("check", "--write-baseline", "known.json", ".")
    write("train.py", TWICE)
    assert stepzero("check", "--baseline", "known.json", ".").status == 1
    stepzero("check", "--write-baseline", "known.json", ".")
    assert stepzero("check", "--baseline", "known.json", ".").status == 0


def test_a_baseline_holds_from_any_folder(stepzero, write, tmp_path):
    write("pkg/train.py", WRONG)
    stepzero("check", "--write-baseline", "known.json", "pkg")
    assert stepzero("check", "--baseline", "../known.json", "train.py", cwd=tmp_path / "pkg").status == 0


def test_what_is_mended_is_said(stepzero, write):
    write("train.py", WRONG)
    stepzero("check", "--write-baseline", "known.json", ".")
    write("train.py", "x = 1\n")
    outcome = stepzero("check", "--baseline", "known.json", ".")
    assert outcome.said == "stepzero: 1 of the findings in known.json are gone; `--write-baseline` brings it up to date\n"


@pytest.mark.parametrize("text", ["5", "{", '{"version": 2, "findings": []}', '{"version": 1, "findings": [3]}',
                                  '{"version": 1, "findings": [{"path": "a", "rule": "b", "line": "c", "count": 0}]}'])
def test_a_file_that_is_no_baseline(stepzero, write, text):
    write("a.py")
    write("known.json", text)
    assert stepzero("check", "--baseline", "known.json", ".").usage_error().endswith("write it again with --write-baseline\n")


@pytest.mark.parametrize("words", [["--write-baseline", "b", "--fix"], ["--write-baseline", "b", "--since", "HEAD"], ["--diff", "--baseline", "b"]])
def test_options_that_exclude_each_other(stepzero, write, words):
    write("a.py")
    stepzero("check", *words, ".").usage_error()


def test_a_baseline_that_cannot_be_written(stepzero, write):
    write("a.py")
    assert "no/such/b.json" in stepzero("check", "--write-baseline", "no/such/b.json", ".").usage_error()


def test_since_tells_what_is_new(stepzero, repository, write):
    write("train.py", "# moved\n" + WRONG)
    write("other.py", OTHER)
    outcome = stepzero("check", "--since", "HEAD", "--format", "json", ".")
    assert lines(outcome) == [("other.py", 4)]


def test_since_sees_what_a_change_elsewhere_breaks(stepzero, repository, write):
    """The line of the finding did not change: the size that it meets did, in another file."""
    write("sizes.py", "width = 3\n")
    write("model.py", "import torch\nfrom sizes import width\ny = torch.ones(2, 3) @ torch.ones(width, 5)\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    assert stepzero("check", "--since", "HEAD", ".").status == 0
    write("sizes.py", "width = 4\n")
    assert lines(stepzero("check", "--since", "HEAD", "--format", "json", ".")) == [("model.py", 3)]


def test_since_runs_nothing_that_the_repository_names(stepzero, repository, write):
    (repository / ".git" / "hooks" / "post-checkout").write_text("#!/bin/sh\ntouch ran\n")
    write(".gitattributes", "*.py diff=own filter=own\n")
    for key in ("diff.own.command", "diff.own.textconv", "diff.external", "core.fsmonitor"):
        git(repository, "config", key, f"touch {repository}/ran; cat")
    write("other.py", OTHER)
    assert stepzero("check", "--since", "HEAD", ".").status == 1
    assert not (repository / "ran").exists()


def test_since_says_what_is_missing(stepzero, repository, write):
    assert 'no revision "nope"' in stepzero("check", "--since", "nope", ".").usage_error()
    assert "no revision" in stepzero("check", "--since=--output=x", ".").usage_error()
    assert "standard input" in stepzero("check", "--since", "HEAD", "-").usage_error()


def test_since_outside_of_a_repository(stepzero, write):
    write("a.py")
    assert "lies in none" in stepzero("check", "--since", "HEAD", ".", GIT_CEILING_DIRECTORIES="/").usage_error()


def test_gitlab(stepzero, write):
    write("train.py", TWICE)
    outcome = stepzero("check", "--format", "gitlab", ".")
    assert outcome.status == 1
    first, second = outcome.json
    assert first["check_name"] == "shape/matmul"
    assert first["severity"] == "critical"
    assert first["location"] == {"path": "train.py", "lines": {"begin": 5, "end": 5}}
    assert first["fingerprint"] != second["fingerprint"]
    write("train.py", "# moved\n" + TWICE)
    assert stepzero("check", "--format", "gitlab", ".").json[0]["fingerprint"] == first["fingerprint"]
