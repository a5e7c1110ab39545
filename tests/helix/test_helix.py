"""Helix on a terminal: the deadlock is on the screen, the quick-fix is taken from its menu, the file is what check --fix makes."""

import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STEPZERO", str(SOURCE / "build" / "stepzero"))
ROOT = SOURCE / ".cache" / "hx" / "trixie"

LANGUAGES = """
[language-server.stepzero]
command = "{program}"
args = ["lsp"]

[[language]]
name = "python"
language-servers = ["stepzero"]
"""


def text_of(path):
    try:
        return path.read_text()
    except FileNotFoundError:
        return None


class Screen:
    """A terminal that only remembers what was written to it."""

    def __init__(self, command, environment, folder):
        self.text = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command[0], command, environment)
        import fcntl
        import termios
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))

    def read(self, seconds=0.1):
        if select.select([self.terminal], [], [], seconds)[0]:
            try:
                self.text += os.read(self.terminal, 1 << 16).decode(errors="replace")
            except OSError:  # it has ended
                pass

    def wait_for(self, what, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"no {what} in {seconds} s; the screen had: {self.text[-3000:]!r}"
            self.read()

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)


def helix():
    lib = ROOT / "usr/lib/x86_64-linux-gnu"
    assert (ROOT / "complete").exists(), "no Helix: run tests/unpack-newer hx trixie"
    program = next(path for path in (ROOT / "usr/lib/helix/hx", ROOT / "usr/bin/hx") if path.is_file())
    return [str(lib / "ld-linux-x86-64.so.2"), "--library-path", str(lib), str(program)]


def test_the_deadlock_is_shown_and_fixed(tmp_path):
    script, fixed = tmp_path / "train_ddp.py", tmp_path / "fixed.py"
    for copy in (script, fixed):
        shutil.copy(SOURCE / "examples" / "train_ddp.py", copy)
    subprocess.run([PROGRAM, "check", "--fix", str(fixed)], check=True, stdout=subprocess.DEVNULL, timeout=60)
    settings = tmp_path / "config" / "helix"
    settings.mkdir(parents=True)
    (settings / "languages.toml").write_text(LANGUAGES.format(program=PROGRAM))
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path / "cache"),
                   "TERM": "xterm-256color", "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
                   "HELIX_RUNTIME": str(next(ROOT.glob("usr/**/runtime")))}
    screen = Screen([*helix(), "train_ddp.py:97:14"], environment, tmp_path)
    try:
        screen.wait_for("diagnostic", lambda: "Only rank 0" in screen.text)
        screen.type(" a")
        screen.wait_for("menu", lambda: "Run broadcast on all ranks" in screen.text)
        screen.type("\r")  # the first entry is chosen already
        screen.wait_for("changed text", lambda: "avg_loss_tensor" in screen.text)
        screen.type(":w\r")
        # The editor puts a new file in the place of the old one: for a moment there is none.
        screen.wait_for("fixed file", lambda: text_of(script) == fixed.read_text())
        screen.type(":q!\r")
        screen.wait_for("end", lambda: os.waitid(os.P_PID, screen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
    finally:
        screen.close()
