"""Real Neovims, each in a home of its own."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PROGRAM = os.environ.get("STEPZERO", str(SOURCE / "build" / "stepzero"))
CACHE = SOURCE / ".cache"


def installed():
    """How to start Debian's Neovim, or None."""
    found = shutil.which("nvim")
    return ([found], {}) if found else None


def unpacked(suite):
    """How to start the Neovim of a newer Debian that unpack-newer unpacked, or None."""
    root = CACHE / "neovim" / suite
    lib = root / "usr/lib/x86_64-linux-gnu"
    if not (root / "complete").exists():
        return None
    return ([str(lib / "ld-linux-x86-64.so.2"), "--argv0", "nvim", "--library-path", str(lib),
             str(root / "usr/bin/nvim"), "--cmd", f"set rtp+={root}/usr/lib/nvim"],
            {"VIMRUNTIME": str(root / "usr/share/nvim/runtime")})


def environment_of(neovim, home, **more):
    """What a Neovim with nothing of the user's sees; its `report.json` lies in `home`."""
    variables = {name: value for name, value in os.environ.items()
                 if name not in ("NVIM", "VIM", "VIMRUNTIME", "NVIM_LISTEN_ADDRESS") and not name.startswith("XDG_")}
    for kind in ("CONFIG", "DATA", "STATE", "CACHE", "RUNTIME"):
        folder = home / kind.lower()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        variables[f"XDG_{kind}_{'DIR' if kind == 'RUNTIME' else 'HOME'}"] = str(folder)
    variables.update(neovim[1], HOME=str(home), REPORT=str(home / "report.json"), STEPZERO=PROGRAM, STEPZERO_SOURCE=str(SOURCE),
                     **more)
    return variables


def start(neovim, home, *arguments, **more):
    return subprocess.Popen([*neovim[0], "--headless", "-u", "NONE", "-i", "NONE", "-n", *arguments],
                            env=environment_of(neovim, home, **more), cwd=home, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def session(neovim, home, file, title="", seconds=30, script="session.lua", **more):
    """Runs a script; returns its report. The process group of the editor, its servers included, ends with it."""
    report = home / "report.json"
    editor = start(neovim, home, "-c", f"luafile {HERE}/{script}", FILE=str(file), TITLE=title, SECONDS=str(seconds), **more)
    try:
        output, _ = editor.communicate(timeout=4 * seconds)
    except subprocess.TimeoutExpired:
        os.killpg(editor.pid, signal.SIGKILL)
        output, _ = editor.communicate()
        raise AssertionError(f"Neovim did not end:\n{output}") from None
    left = end_group(editor.pid)
    assert report.exists(), output
    result = json.loads(report.read_text())
    result.update(output=output, status=editor.returncode, left=left)
    return result


def end_group(group):
    """Kills what is left of a process group; returns whether there was anything."""
    try:
        os.killpg(group, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False
