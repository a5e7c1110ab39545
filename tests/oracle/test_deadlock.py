"""The main job, proven: a real script that hangs runs to its end after stepzero's own fix, and nothing else is said."""

import json
import math

from training import assert_trains, train, validation_losses


def test_the_only_finding_is_the_deadlock(stepzero, example):
    done = stepzero("check", "--format", "json", example)
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)["diagnostics"]
    assert [(finding["rule"], finding["severity"]) for finding in found] == [
        ("deadlock/rank-guarded-collective", "error")]
    finding = found[0]
    lines = example.read_text().splitlines()
    start, end = finding["range"]["start"], finding["range"]["end"]
    assert start["line"] == end["line"]
    assert lines[start["line"] - 1][start["column"] - 1:].startswith("dist.broadcast(")
    guard = next(number for number, line in enumerate(lines, 1) if line == "    if rank == 0:" and
                 lines[number].strip() == "model.eval()")
    assert guard in [related["range"]["start"]["line"] for related in finding["related"]]
    fixes = [(fix["title"], fix["preferred"]) for fix in finding["fixes"]]
    assert ("Run broadcast on all ranks", True) in fixes


def test_the_fix_leaves_nothing_to_say(stepzero, fixed):
    done = stepzero("check", "--format", "json", "--fail-on", "hint", fixed)
    assert (done.returncode, json.loads(done.stdout)["diagnostics"]) == (0, [])


def test_the_diff_is_the_fix(stepzero, example, fixed):
    before = example.read_text()
    diff = stepzero("check", "--diff", example.name, cwd=example.parent).stdout
    assert example.read_text() == before
    removed = [line[1:] for line in diff.splitlines() if line.startswith("-") and not line.startswith("---")]
    added = [line[1:] for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert removed and added
    assert set(removed) <= set(before.splitlines())
    assert set(added) <= set(fixed.read_text().splitlines())


def test_it_hangs_before_the_fix(example, tmp_path, python):
    ended = train(python, example, tmp_path, seconds=10, after="rank 1 epoch 0: validation loss")
    assert [end.status for end in ended] == [None, None], ended
    # Rank 1 has left validate without a loss, and rank 0 waits for it in the broadcast.
    assert validation_losses(ended, 0) == {}
    assert validation_losses(ended, 1) == {0: math.inf}
    assert "in broadcast" in ended[0].output and "in validate" in ended[0].output


def test_it_runs_after_the_fix_and_resumes(fixed, tmp_path, python):
    assert_trains(train(python, fixed, tmp_path), epochs=[0, 1])
    assert_trains(train(python, fixed, tmp_path, "--resume", "--epochs=3"), epochs=[2])
