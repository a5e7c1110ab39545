"""Workspaces as they are found on real machines: generated files of hundreds of megabytes, tens of thousands of files, names
that are no text, a checkout that changes under the server, a full disk, a home that cannot be written. What is right beside them
is still found, in time and in bounded memory. Bad contents of one file are in test_bad_input.py."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import threading
import time

import pytest

import programs
from client import PROGRAM, SCALE

MEBIBYTE = 1 << 20


def check(folder, *arguments, seconds=60 * SCALE, **options):
    """Runs `stepzero check`; returns its status, the rules found by path, and what it said beside them."""
    run = subprocess.run([PROGRAM, "check", "--format", "json", *arguments, "."], cwd=folder, capture_output=True, timeout=seconds, **options)
    said = run.stderr.decode(errors="replace")
    assert run.returncode in (0, 1, 2), f"ended with {run.returncode}: {said[-3000:]}"
    assert "Sanitizer" not in said, said[-6000:]
    found = {}
    for diagnostic in json.loads(run.stdout)["diagnostics"] if run.stdout else []:
        found.setdefault(os.path.normpath(diagnostic["path"]), []).append(diagnostic["rule"])
    return run.returncode, found, said


def opened(start, folder, **options):
    client = start(**options)
    client.initialize(rootUri=folder.as_uri(), workspaceFolders=[{"uri": folder.as_uri(), "name": "w"}])
    return client


def resident(client):
    """MiB of memory that the server holds."""
    with open(f"/proc/{client.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def heard_nothing_bad(client):
    """Takes what the server showed to the user, which must not be an error."""
    while shown := client._take(lambda m: m.get("method") == "window/showMessage"):
        assert shown["params"]["type"] != 1, shown


def test_a_generated_file_of_200_mb(start, tmp_path):
    line = "TABLE = [" + "0, " * 500 + "]\n"
    with open(tmp_path / "table.py", "w") as file:
        for _ in range(200 * MEBIBYTE // len(line)):
            file.write(line)
    text = "import table\nfrom table import TABLE\n" + programs.MATMUL
    (tmp_path / "train.py").write_text(text)
    status, found, said = check(tmp_path)
    assert (status, found) == (1, {"train.py": [programs.MATMUL_RULE]})  # what nobody named does not fail the check
    assert "table.py: not checked: larger than 50 MiB" in said
    client = opened(start, tmp_path)
    uri = (tmp_path / "train.py").as_uri()
    client.open(uri, text)
    assert [d["code"] for d in client.diagnostics(uri, 1)] == [programs.MATMUL_RULE]
    assert resident(client) < 200 * SCALE
    heard_nothing_bad(client)


def test_50_000_files(start, tmp_path):
    for folder in range(100):
        (tmp_path / f"part{folder}").mkdir()
        for i in range(500):
            (tmp_path / f"part{folder}/m{i}.py").write_text(f"import torch\n\nSIZE = {i % 7 + 1}\nx = torch.zeros(SIZE, 3)\n")
    text = "import torch\nfrom part7.m11 import x\n\ny = x @ torch.zeros(4, 5)\n"
    (tmp_path / "train.py").write_text(text)
    assert check(tmp_path, "--no-cache", seconds=120 * SCALE)[:2] == (1, {"train.py": [programs.MATMUL_RULE]})
    client = opened(start, tmp_path)
    uri = (tmp_path / "train.py").as_uri()
    began = time.monotonic()
    client.open(uri, text)
    assert [d["code"] for d in client.diagnostics(uri, 1)] == [programs.MATMUL_RULE]
    assert time.monotonic() - began < 10 * SCALE  # reading the workspace does not stand before the open file
    client.idle(120 * SCALE)
    assert resident(client) < 500 * SCALE


NAMES = [b"\xff\xfe.py", b"gr\xf6\xdfe.py", b"new\nline.py", b"esc\x1b[2J.py", "模型 🙂.py".encode(), b"-rf.py", b"%41%ff.py", b"a" * 250 + b".py"]


def test_names_that_are_no_text(start, tmp_path):
    folder = os.fsencode(tmp_path)
    for name in NAMES:
        with open(os.path.join(folder, name), "w") as file:
            file.write(programs.MATMUL)
    os.mkdir(os.path.join(folder, b"fold\xe9r"))
    with open(os.path.join(folder, b"fold\xe9r", b"in.py"), "w") as file:
        file.write(programs.MATMUL)
    (tmp_path / "train.py").write_text(programs.MATMUL)
    status, found, _ = check(tmp_path)
    assert status == 1 and len(found) == len(NAMES) + 2
    client = opened(start, tmp_path)
    for name in NAMES:
        uri = "file://" + "".join(chr(b) if chr(b).isalnum() and b < 128 or chr(b) in "/._-" else f"%{b:02X}" for b in os.path.join(folder, name))
        client.open(uri, programs.MATMUL)
        assert [d["code"] for d in client.diagnostics(uri, 1)] == [programs.MATMUL_RULE]
    heard_nothing_bad(client)


def test_a_checkout_that_changes_under_the_server(start, tmp_path):
    """Files and folders come, go, and change kind while the server reads them and an editor types, and no word of it is told. When it
    is over, what the server says is what a new one says."""
    dice = random.Random(5)
    names = [f"p{i}/m{j}.py" for i in range(4) for j in range(6)]
    uri = (tmp_path / "train.py").as_uri()
    text = "import torch\n" + "".join(f"from {name[:-3].replace('/', '.')} import SIZE as s{i}\n" for i, name in enumerate(names)) + (
        "\nfor s in (" + ", ".join(f"s{i}" for i in range(len(names))) + "):\n    x = torch.zeros(2, s) @ torch.zeros(3, 3)\n")

    def disturb():
        name = tmp_path / dice.choice(names)
        folder = name.parent
        what = dice.randrange(6)
        try:
            if what == 0: shutil.rmtree(folder, ignore_errors=True)
            elif what == 1 and folder.is_dir(): name.unlink(missing_ok=True)
            elif what == 2 and not folder.exists(): folder.symlink_to(tmp_path / "p0", target_is_directory=True)
            elif what == 3 and folder.is_symlink(): folder.unlink()
            elif what == 4: folder.write_text("SIZE = 3\n")
            else:
                if folder.is_file() or folder.is_symlink(): folder.unlink()
                folder.mkdir(exist_ok=True)
                name.write_text(f"SIZE = {dice.choice([3, 3, 4])}\n" + "# more\n" * dice.randrange(2000))
        except OSError:
            pass

    client = opened(start, tmp_path)
    client.open(uri, text)
    over = threading.Event()

    def keep_disturbing():
        while not over.is_set():
            disturb()

    disturber = threading.Thread(target=keep_disturbing)
    disturber.start()
    try:
        for version in range(2, 60):
            client.change(uri, version, text + f"n = {version}\n")
            if version % 7 == 0:
                client.notify("workspace/didChangeWatchedFiles", {"changes": [
                    {"uri": (tmp_path / name).as_uri(), "type": dice.randrange(1, 4)} for name in dice.sample(names, 5)]})
            client.diagnostics(uri, version)
            check(tmp_path)
    finally:
        over.set()
        disturber.join()
    for i in range(4):
        folder = tmp_path / f"p{i}"
        if folder.is_symlink() or folder.is_file(): folder.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for i, name in enumerate(names):
        (tmp_path / name).write_text(f"SIZE = {4 if i == 11 else 3}\n")
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": (tmp_path / name).as_uri(), "type": 2} for name in names]})
    client.change(uri, 100, text)
    said = client.diagnostics(uri, 100)
    client.idle()
    fresh = opened(start, tmp_path)
    fresh.open(uri, text, version=100)
    assert said == fresh.diagnostics(uri, 100) and [d["code"] for d in said] == [programs.MATMUL_RULE]
    heard_nothing_bad(client)


@pytest.mark.parametrize("room", [0, 200, 5000])
def test_a_disk_without_room_for_the_cache(tmp_path, room):
    """A limit on the size of files stands for the disk: what is written beyond it fails in the middle."""
    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    for i in range(4):
        (tmp_path / f"m{i}.py").write_text(programs.MATMUL.replace("4, 5", f"{i + 4}, 5"))
    wanted = {f"m{i}.py": [programs.MATMUL_RULE] for i in range(4)}
    # Findings go into a pipe, which has no such limit.
    assert check(tmp_path, preexec_fn=no_room)[:2] == (1, wanted)
    assert check(tmp_path, preexec_fn=no_room)[:2] == (1, wanted)  # what was written in part is no entry
    assert check(tmp_path)[:2] == (1, wanted)
    assert not list((tmp_path / ".stepzero_cache").rglob("*.tmp*"))


@pytest.mark.parametrize("home", ["", "/proc/nowhere", "/dev/null", "relative"])
def test_a_home_that_is_none(start, tmp_path, home):
    env = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home}
    (tmp_path / "train.py").write_text(programs.MATMUL)
    assert check(tmp_path, env=env)[:2] == (1, {"train.py": [programs.MATMUL_RULE]})
    client = opened(start, tmp_path, env=env)
    client.open((tmp_path / "train.py").as_uri(), programs.MATMUL)
    assert [d["code"] for d in client.diagnostics((tmp_path / "train.py").as_uri(), 1)] == [programs.MATMUL_RULE]
    heard_nothing_bad(client)
