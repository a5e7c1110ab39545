"""The built program in folders made for one test. Knows no rule but by name."""

import json
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("STEPZERO_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("STEPZERO", str(SOURCE / "build" / "stepzero"))


class Outcome:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        return json.loads(self.out.decode())

    @property
    def text(self):
        return self.out.decode()

    @property
    def said(self):
        return self.err.decode()

    def usage_error(self):
        """The one line of a usage error."""
        assert self.status == 2
        assert self.out == b""
        assert self.said.endswith("\n") and self.said.count("\n") == 1, self.said
        assert self.said.startswith("stepzero: "), self.said
        return self.said


@pytest.fixture
def stepzero(tmp_path):
    def run(*arguments, stdin=b"", cwd=tmp_path, timeout=60, **environment):
        variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        variables.update(environment)
        done = subprocess.run(
            [PROGRAM, *map(os.fsencode, arguments)],
            input=stdin, capture_output=True, cwd=cwd, env=variables, timeout=timeout,
        )
        assert done.returncode >= 0, f"killed by signal {-done.returncode}: {done.stderr.decode(errors='replace')}"
        return Outcome(done)

    return run


@pytest.fixture
def write(tmp_path):
    def make(name, content="x = 1\n"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.fixture
def checked(stepzero):
    """The paths that are looked at, in order."""

    def paths(*arguments, **options):
        outcome = stepzero("shapes", "--format", "json", *arguments, **options)
        return [entry["path"] for entry in outcome.json["files"]]

    return paths


def known_rules():
    done = subprocess.run([PROGRAM, "rules", "--format", "json"], capture_output=True, timeout=60, check=True)
    return {rule["id"]: rule for rule in json.loads(done.stdout)["rules"]}


def needs(*rules):
    """Skips a test that speaks of rules which this build has not."""
    missing = sorted(set(rules) - set(known_rules()))
    return pytest.mark.skipif(bool(missing), reason=f"no rule {', '.join(missing)}")


def knows_shapes():
    done = subprocess.run([PROGRAM, "shapes", "-"], input=b"import torch\nx = torch.zeros(2)\n", capture_output=True, timeout=60)
    return bool(done.stdout)


SHAPES_KNOWN = knows_shapes()
