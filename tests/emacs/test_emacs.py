"""Emacs with eglot: the deadlock is shown, the quick-fix is taken from the menu, the file is what check --fix makes."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PROGRAM = os.environ.get("STEPZERO", str(SOURCE / "build" / "stepzero"))


def test_the_deadlock_is_shown_and_fixed(tmp_path):
    emacs = shutil.which("emacs")
    assert emacs, "no Emacs: run cmake/install-dependencies editors"
    script, fixed, report = tmp_path / "train_ddp.py", tmp_path / "fixed.py", tmp_path / "report.json"
    for copy in (script, fixed):
        shutil.copy(SOURCE / "examples" / "train_ddp.py", copy)
    subprocess.run([PROGRAM, "check", "--fix", str(fixed)], check=True, stdout=subprocess.DEVNULL, timeout=60)
    environment = dict(os.environ, HOME=str(tmp_path), STEPZERO=PROGRAM, FILE=str(script), REPORT=str(report))
    editor = subprocess.Popen([emacs, "--batch", "-q", "--eval", "(progn (require 'package) (package-initialize))", "-l",
                               str(HERE / "session.el")], env=environment, cwd=tmp_path, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = editor.communicate(timeout=150)
    finally:
        try:
            os.killpg(editor.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    assert report.exists(), output
    seen = json.loads(report.read_text())
    assert [found["line"] for found in seen["before"]] == [97]
    assert "Only rank 0 enters `broadcast`" in seen["before"][0]["text"]
    assert "Run broadcast on all ranks" in seen["titles"][0]
    assert "in this file" in seen["titles"][-1]
    assert script.read_text() == fixed.read_text()
