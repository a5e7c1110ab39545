"""What needs real findings: fixes, suppression, imports and shapes. Each test names the rules that it speaks of."""

import os
import shutil
import subprocess

import pytest

from conftest import needs, PROGRAM, SHAPES_KNOWN
from test_findings import CHECK, sarif_is_valid, schema

MATMUL = "import torch\n\na = torch.zeros(2, 3)\nb = torch.zeros(4, 5)\nc = a @ b  # wrong\n"

BARRIER = """\
import torch.distributed as dist


def save(path):
    if dist.get_rank() == 0:
        print(path)
        dist.barrier()
"""

STEP = """\
import torch


def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        optimizer.step()  # the step
        scaler.update()
"""

needs_shapes = pytest.mark.skipif(not SHAPES_KNOWN, reason="this build knows no shapes")


@needs("shape/matmul")
def test_an_error_is_found_and_fails(stepzero, write):
    write("a.py", MATMUL)
    outcome = stepzero("check", "--format=json", "a.py")
    assert outcome.status == 1
    schema(outcome.json, CHECK)
    (found,) = outcome.json["diagnostics"]
    assert (found["path"], found["rule"], found["severity"]) == ("a.py", "shape/matmul", "error")
    assert found["range"]["start"]["line"] == 5
    assert "3" in found["message"] and "4" in found["message"]
    text = stepzero("check", "a.py")
    assert text.status == 1
    assert text.text.startswith(f"a.py:5:{found['range']['start']['column']}: error[shape/matmul]: ")
    assert "5 | c = a @ b  # wrong\n  | " in text.text
    assert "Found 1 error in 1 of 1 file." in text.text


@needs("shape/matmul", "deadlock/rank-guarded-collective")
@pytest.mark.parametrize(
    "arguments, rules",
    [
        ([], {"shape/matmul", "deadlock/rank-guarded-collective"}),
        (["--select", "shape"], {"shape/matmul"}),
        (["--select", "deadlock,shape"], {"shape/matmul", "deadlock/rank-guarded-collective"}),
        (["--select", "deadlock", "--select", "shape/matmul"], {"shape/matmul", "deadlock/rank-guarded-collective"}),
        (["--ignore", "shape/matmul"], {"deadlock/rank-guarded-collective"}),
        (["--ignore", "shape,deadlock"], set()),
        (["--select", "shape", "--ignore", "shape/matmul"], set()),
    ],
)
def test_select_and_ignore(stepzero, write, arguments, rules):
    write("a.py", MATMUL)
    write("b.py", BARRIER)
    outcome = stepzero("check", "--format=json", *arguments, ".")
    assert {one["rule"] for one in outcome.json["diagnostics"]} == rules
    assert outcome.status == (1 if rules else 0)


@needs("shape/matmul")
def test_severity_of_the_settings(stepzero, write):
    write("a.py", MATMUL)
    write("stepzero.toml", '[severity]\n"shape/matmul" = "hint"\n')
    outcome = stepzero("check", "--format=json", ".")
    assert outcome.status == 0
    assert outcome.json["diagnostics"][0]["severity"] == "hint"
    assert stepzero("check", "--fail-on=hint", ".").status == 1
    write("stepzero.toml", '[severity]\nshape = "off"\n')
    assert stepzero("check", "--format=json", ".").json["diagnostics"] == []


@needs("shape/matmul")
def test_suppression(stepzero, write):
    write("a.py", MATMUL.replace("# wrong", "# stepzero: ignore[shape/matmul]"))
    assert stepzero("check", "a.py").status == 0
    write("a.py", "# stepzero: ignore-file[shape/matmul]\n" + MATMUL)
    assert stepzero("check", "a.py").status == 0


@needs("shape/matmul")
def test_a_file_is_checked_once_however_it_is_named(stepzero, write, tmp_path):
    write("a.py", MATMUL)
    outcome = stepzero("check", "--format=json", "a.py", "./a.py", ".", tmp_path, tmp_path / "a.py")
    assert len(outcome.json["diagnostics"]) == 1


@needs("shape/matmul")
def test_standard_input_with_its_name(stepzero, write):
    write("sizes.py", "width = 4\n")
    text = b"import torch\nfrom sizes import width\nc = torch.zeros(2, 3) @ torch.zeros(width, 5)\n"
    outcome = stepzero("check", "--format=json", "--stdin-filename", "new.py", "-", stdin=text)
    (found,) = outcome.json["diagnostics"]
    assert (outcome.status, found["path"]) == (1, "new.py")


@needs("shape/matmul")
def test_other_formats(stepzero, write, tmp_path):
    write("a.py", MATMUL)
    sarif = stepzero("check", "--format=sarif", "a.py")
    assert sarif.status == 1
    run = sarif_is_valid(sarif.json, tmp_path)
    assert [result["ruleId"] for result in run["results"]] == ["shape/matmul"]
    assert run["invocations"][0]["exitCode"] == 1
    github = stepzero("check", "--format=github", "a.py")
    assert github.text.startswith("::error title=shape/matmul,file=a.py,line=5,")


@needs("amp/unscaled-step")
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_fix(stepzero, write, ending):
    path = write("a.py", STEP.replace("\n", ending))
    path.chmod(0o755)
    fixed = STEP.replace("optimizer.step()  # the step", "scaler.step(optimizer)  # the step").replace("\n", ending)
    assert stepzero("check", "--select=amp/unscaled-step", "a.py").status == 1
    difference = stepzero("check", "--select=amp/unscaled-step", "--diff", "a.py")
    assert difference.status == 1
    assert path.read_bytes() == STEP.replace("\n", ending).encode()
    assert "-        optimizer.step()  # the step" in difference.text
    assert "+        scaler.step(optimizer)  # the step" in difference.text
    outcome = stepzero("check", "--select=amp/unscaled-step", "--fix", "a.py")
    assert outcome.status == 0, outcome.text
    assert outcome.text == "Fixed 1 problem.\nNo problems found in 1 file.\n"
    assert path.read_bytes() == fixed.encode()
    assert path.stat().st_mode & 0o777 == 0o755
    assert sorted(os.listdir(path.parent)) == [".stepzero_cache", "a.py"]
    again = stepzero("check", "--select=amp/unscaled-step", "--fix", "a.py")
    assert again.text == "No problems found in 1 file.\n"
    assert stepzero("check", "--select=amp/unscaled-step", "--diff", "a.py").text == ""


@needs("amp/unscaled-step")
@pytest.mark.skipif(shutil.which("patch") is None, reason="no patch")
def test_the_difference_is_what_fix_would_do(stepzero, write, tmp_path):
    path = write("a.py", STEP)
    difference = stepzero("check", "--diff", "a.py").out
    subprocess.run(["patch", "-p0"], input=difference, cwd=tmp_path, check=True, capture_output=True)
    patched = path.read_bytes()
    write("a.py", STEP)
    stepzero("check", "--fix", "a.py")
    assert path.read_bytes() == patched != STEP.encode()


@needs("amp/unscaled-step")
def test_fix_of_standard_input(stepzero, tmp_path):
    outcome = stepzero("check", "--select=amp/unscaled-step", "--fix", "-", stdin=STEP.encode())
    assert outcome.text == STEP.replace("optimizer.step()", "scaler.step(optimizer)")
    assert outcome.status == 0
    assert os.listdir(tmp_path) == []


def test_fix_of_standard_input_without_problems(stepzero):
    assert stepzero("check", "--fix", "-", stdin=b"x = 1\r\n").out == b"x = 1\r\n"


@needs("amp/unscaled-step")
def test_a_file_that_cannot_be_written_stays(stepzero, write):
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    path = write("a.py", STEP)
    path.chmod(0o444)
    outcome = stepzero("check", "--fix", "a.py")
    assert outcome.status == 2
    assert "a.py: not fixed: " in outcome.said
    assert "amp/unscaled-step" in outcome.text and "Fixed" not in outcome.text
    assert path.read_bytes() == STEP.encode()


@pytest.mark.parametrize("options", ["size=64k", "ro"])
def test_a_full_disk_and_one_that_is_only_read(write, tmp_path, options):
    """Each in a namespace of its own, where this system lets a test make one. Nothing is kept anywhere: a check needs no place to write."""
    path = write("a.py", STEP)
    inside = f"mount -t tmpfs -o {options.replace('ro', 'size=1m')} none disk && cp a.py disk && cd disk && "
    inside += "mount -o remount,ro $PWD" if options == "ro" else "{ head -c 1m /dev/zero > fill; true; } 2>/dev/null"
    folder = tmp_path / "disk"
    folder.mkdir()
    for command, said in (("check --fix a.py", "a.py: not fixed: "), ("check --write-baseline known.json a.py", "--write-baseline known.json: "),
                          ("report a.py -o page.html", "-o page.html: ")):
        script = f"{inside}; cmp a.py ../a.py || exit 9; HOME=$PWD TMPDIR=$PWD {PROGRAM} {command}; status=$?; cmp a.py ../a.py && [ $(ls | grep -vc fill) = 1 ] && exit $status; exit 8"
        done = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        if "unshare" in done.stderr or "mount" in done.stderr:
            pytest.skip("no namespaces here: " + done.stderr.strip().splitlines()[0])
        assert done.returncode == 2, done
        assert said in done.stderr
        if "--fix" in command:
            assert "amp/unscaled-step" in done.stdout and "Fixed" not in done.stdout
    assert path.read_bytes() == STEP.encode()


@needs_shapes
def test_shapes(stepzero, write):
    write("a.py", "import torch\n\nx = torch.zeros(2, 3)\ny = (x, x.long())\nn = 3\n")
    outcome = stepzero("shapes", "--format=json", "a.py")
    assert outcome.status == 0
    assert outcome.json["version"] == 1
    (entry,) = outcome.json["files"]
    assert entry["path"] == "a.py"
    places = {shape["name"]: shape for shape in entry["shapes"]}
    x = places["x"]
    assert (x["line"], x["column"], x["kind"], x["shape"], x["dtype"]) == (3, 1, "tensor", [2, 3], "float32")
    assert [item["dtype"] for item in places["y"]["items"]] == ["float32", "int64"]
    assert (places["n"]["kind"], places["n"]["value"]) == ("int", 3)
    text = stepzero("shapes", "a.py")
    assert text.status == 0
    assert "a.py:3:1: x: float32[2, 3]" in text.text


LAYERS = "import torch\n\n\ndef halve(x):\n    return x[:, : x.shape[1] // 2]\n"
USES = "import torch\nimport timm\n\nx = timm.halve(torch.zeros(2, 8))\n"


@pytest.mark.parametrize("setting, found", [("", False), ('library-folders = ["libraries"]\n', True), ('library-folders = ["environment"]\n', True)])
def test_library_folders(stepzero, write, setting, found):
    write("stepzero.toml", setting)
    write("libraries/timm/__init__.py", LAYERS)
    write("environment/lib/python3.11/site-packages/timm/__init__.py", LAYERS)
    write("program/a.py", USES)
    places = stepzero("shapes", "--format", "json", "program/a.py").json["files"][0]["shapes"]
    shapes = [place.get("shape") for place in places if place["name"] == "x"]
    assert shapes == ([[2, 4]] if found else [])


CAUSE = "import torch\n\n\ndef widen(x):\n    return torch.ones(2, 3) @ torch.ones(4, 5)\n"


def test_one_cause_is_one_finding(stepzero, write):
    """What files that use a function tell of it is left out where its own file tells it."""
    write("helper.py", CAUSE)
    for name in ("a", "b", "c"):
        write(f"{name}.py", "from helper import widen\n\nwiden(1)\n")
    found = stepzero("check", "--format", "json", ".").json["diagnostics"]
    assert [(finding["path"], finding["rule"]) for finding in found] == [("helper.py", "shape/matmul")]
    # A file by itself is told of what it leads to.
    found = stepzero("check", "--format", "json", "a.py").json["diagnostics"]
    assert [finding["path"] for finding in found] == ["a.py"]


def test_a_cause_that_its_own_file_cannot_prove_is_told_once(stepzero, write):
    write("helper.py", "import torch\n\n\ndef widen(x, weight):\n    return x @ weight\n")
    for name in ("a", "b"):
        write(f"{name}.py", "import torch\nfrom helper import widen\n\nwiden(torch.ones(2, 3), torch.ones(4, 5))\n")
    found = stepzero("check", "--format", "json", ".").json["diagnostics"]
    assert len(found) == 1 and found[0]["severity"] == "error", found
