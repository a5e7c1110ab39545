#!/usr/bin/python3
"""Where real PyTorch is: every suite that asks it finds it here.

The first oracle is today's PyTorch with the frameworks that people train with, in an environment of its own below .cache/, made by
`make oracle` (tests/oracle/install) from tests/oracle/lock.txt. The second is Debian 12's python3-torch, 1.13, of /usr/bin/python3;
it alone has torchvision. Where the two differ the first holds.

A test that needs one calls `need()`; a program that runs PyTorch itself calls `enter()` before it imports it. Where the oracle is not
installed both say how to get it, and skip.

    tests/oracles.py            what is installed, and where
"""

import functools
import hashlib
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
LOCK = SOURCE / "tests" / "oracle" / "lock.txt"
FIRST, SECOND = "2.13", "1.13"
VERSIONS = (FIRST, SECOND)
SKIPPED = 77  # what ctest counts as skipped
MARK = "STEPZERO_ORACLE"  # set in the processes that run in an oracle


def folder():
    """The environment of the first oracle; another lock has another one, so that checkouts can share .cache/."""
    return (SOURCE / ".cache").resolve() / ("oracle-" + hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12])


@functools.lru_cache(None)
def python(version=FIRST):
    """The Python that has this version of PyTorch, or None."""
    if version == FIRST:
        program = folder() / "bin" / "python"
        return str(program) if (folder() / "complete").exists() else None
    program = "/usr/bin/python3"
    asked = subprocess.run([program, "-c", "import importlib.metadata as m; print(m.version('torch'))"],
                           capture_output=True, text=True) if os.path.exists(program) else None
    return program if asked and asked.stdout.startswith(version + ".") else None


def missing(version=FIRST):
    """Why a test is skipped."""
    if version == SECOND:
        return f"no PyTorch {version} in /usr/bin/python3: run `make oracle` on Debian 12"
    return f"no PyTorch {version}: run `make oracle` (needs a network, CPython 3.11 and x86_64)"


def need(version=FIRST):
    """The Python that has this version; skips the test of pytest that asks where there is none."""
    import pytest
    return python(version) or pytest.skip(missing(version))


def enter(version=None):
    """Goes on in a Python that has this version of PyTorch: the program starts again there, with the same arguments.

    Without a version: the one of `--torch VERSION` among the arguments, else the first. Ends the program where it is missing.
    """
    version = version or chosen()
    if os.environ.get(MARK) == version:
        return version
    program = python(version)
    if program is None:
        print(f"SKIPPED [1] {os.path.basename(sys.argv[0])} {missing(version)}", flush=True)
        sys.exit(SKIPPED)
    os.environ[MARK] = version
    os.execv(program, [program, *sys.argv])


def chosen():
    """What `--torch VERSION` or `--torch=VERSION` among the arguments says; it is taken out of them."""
    for i, argument in enumerate(sys.argv):
        if argument.startswith("--torch"):
            width = 1 if "=" in argument else 2
            version = argument.partition("=")[2] if width == 1 else "".join(sys.argv[i + 1:i + 2])
            if version not in VERSIONS:
                sys.exit(f"--torch takes one of {', '.join(VERSIONS)}")
            del sys.argv[i:i + width]
            return version
    return os.environ.get(MARK, FIRST)


def load(*names):
    """Imports PyTorch and what of it takes long, for the processes that are forked from this one."""
    for name in ("torch", "torch._dynamo", *names):
        try:
            importlib.import_module(name)
        except Exception:  # not in this version, or broken there
            pass


def answers(version, *arguments):
    """What this program prints, as JSON, when this version runs it with these arguments; None where it is not installed."""
    program = python(version)
    if program is None:
        print("skipped:", missing(version), flush=True)
        return None
    environment = {**os.environ, MARK: version}
    done = subprocess.run([program, sys.argv[0], *map(str, arguments)], env=environment, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def patch(new, old):
    """What turns the record of the first oracle into that of the second: a JSON merge patch (RFC 7396); None where they are equal."""
    if not (isinstance(new, dict) and isinstance(old, dict)):
        return None if new == old else old
    changes = {key: old.get(key) if not isinstance(old.get(key), dict) else patch(new.get(key, {}), old[key])
               for key in sorted({*new, *old}) if new.get(key) != old.get(key)}
    return changes or None


def patched(new, changes):
    """The record of the second oracle."""
    if not isinstance(changes, dict):
        return changes
    merged = dict(new) if isinstance(new, dict) else {}
    for key, value in changes.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = patched(merged.get(key), value)
    return merged


if __name__ == "__main__":
    for each in VERSIONS:
        print(each, python(each) or missing(each))
