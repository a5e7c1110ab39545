"""`stepzero check --watch`: the state again whenever something changes that it depends on, until Ctrl-C."""

import os
import pty
import select
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM

BUG = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
RIGHT = BUG.replace("4, 5", "3, 5")


class Watched:
    def __init__(self, folder, *arguments, terminal=False):
        ours = theirs = None
        if terminal:
            ours, theirs = pty.openpty()
        self.process = subprocess.Popen([PROGRAM, "check", "--watch", *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=theirs or subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"})
        if terminal:
            os.close(theirs)
        self.out = ours or self.process.stdout.fileno()
        self.text = ""
        self.said = ""

    def until(self, text):
        """What is written up to the text, and forgotten."""
        deadline = time.monotonic() + 20
        while text not in self.text:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} did not come: {self.text!r}, {self.said!r}"
            ready, _, _ = select.select([self.out, self.process.stderr], [], [], left)
            if self.out in ready:
                self.text += os.read(self.out, 65536).decode()
            if self.process.stderr in ready:
                self.said += os.read(self.process.stderr.fileno(), 65536).decode()
        at = self.text.index(text) + len(text)
        seen, self.text = self.text[:at], self.text[at:]
        return seen

    def watching(self):
        deadline = time.monotonic() + 20
        while "Ctrl-C ends" not in self.said and time.monotonic() < deadline:
            self.said += os.read(self.process.stderr.fileno(), 65536).decode()
        said, self.said = self.said, ""
        return said


@pytest.fixture
def watch(tmp_path):
    running = []

    def start(*arguments, **options):
        running.append(Watched(tmp_path, *arguments, **options))
        return running[-1]

    yield start
    for each in running:
        each.process.kill()
        each.process.wait()
        each.process.stderr.close()


def test_the_state_is_told_again_when_a_file_changes_and_ctrl_c_ends(watch, write):
    write("train.py", BUG)
    write("other.py")
    watched = watch(".")
    assert "shape/matmul" in watched.until("Found 1 error in 1 of 2 files.")
    assert watched.watching() == "stepzero: watching 2 files; Ctrl-C ends\n"
    write("train.py", RIGHT)
    assert "train.py changed:" in watched.until("No problems found in 2 files.")
    watched.watching()
    write("new/model.py", BUG)
    assert "new/model.py changed:" in watched.until("Found 1 error in 1 of 3 files.")
    watched.watching()
    os.remove(write("other.py").parent / "new" / "model.py")
    assert "model.py changed:" in watched.until("No problems found in 2 files.")
    watched.watching()
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(10) == 0


def test_what_a_file_imports_and_the_settings_count_as_well(watch, write, tmp_path):
    write("sizes.py", "WIDTH = 3\n")
    write("train.py", "import torch\nfrom sizes import WIDTH\n\nx = torch.zeros(2, 3) @ torch.zeros(WIDTH, 5)\n")
    write("unconcerned.py")
    watched = watch("train.py")
    watched.until("No problems found in 1 file.")
    watched.watching()
    write("sizes.py", "WIDTH = 4\n")
    assert "shape/matmul" in watched.until("Found 1 error in 1 of 1 file.")
    watched.watching()
    write("stepzero.toml", 'ignore = ["shape"]\n')
    watched.until("No problems found in 1 file.")
    watched.watching()
    write("unconcerned.py", "y = 2\n")
    watched.process.send_signal(signal.SIGTERM)
    assert watched.process.wait(10) == 0
    assert watched.text.strip() == ""


def test_a_terminal_shows_one_state_at_a_time(watch, write):
    write("train.py", BUG)
    watched = watch("train.py", terminal=True)
    watched.until("Found 1 error in 1 of 1 file.")
    watched.watching()
    write("train.py", RIGHT)
    seen = watched.until("No problems found in 1 file.")
    assert "\x1b[2J" in seen and "changed" not in seen
    watched.watching()
    write("train.py", BUG)
    watched.until("Found 1 error in 1 of 1 file.")
    watched.watching()
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(10) == 1  # as the last state


@pytest.mark.parametrize("arguments", [["--fix", "."], ["--diff", "."], ["--format", "json", "."], ["--write-baseline", "b", "."], ["-"]])
def test_what_it_cannot_do_together(stepzero, arguments):
    assert "--watch" in stepzero("check", "--watch", *arguments).usage_error()
