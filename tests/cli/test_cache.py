"""`.stepzero_cache`: what a second run takes over, and what it does not."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from test_engine import STEP

BUG = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
RIGHT = BUG.replace("4, 5", "3, 5")
HELPER = "WIDTH = 4\n"
USER = "import torch\n\nfrom sizes import WIDTH\n\nx = torch.zeros(2, 3) @ torch.zeros(WIDTH, 5)\n"


@pytest.fixture
def check(stepzero, tmp_path):
    def run(*arguments, **options):
        outcome = stepzero("check", "--format", "json", "--statistics", *arguments, ".", **options)
        outcome.cached = int(re.search(r"(\d+) from the cache", outcome.said).group(1))
        outcome.rules = sorted(d["rule"] for d in outcome.json["diagnostics"])
        return outcome

    return run


def entries(folder):
    return sorted(p for p in (folder / ".stepzero_cache").iterdir() if re.fullmatch("[0-9a-f]{16}", p.name))


def test_a_second_run_says_the_same_from_the_cache(check, write):
    write("a.py", BUG)
    write("b.py", RIGHT)
    first, second = check(), check()
    assert (first.cached, second.cached) == (0, 2)
    assert first.out == second.out
    assert first.status == second.status == 1
    assert first.rules == ["shape/matmul"]


def test_the_cache_says_what_it_is_and_git_does_not_see_it(check, write, tmp_path):
    write("a.py", BUG)
    check()
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    seen = subprocess.run(["git", "status", "--short", "-uall"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert seen.split() == ["??", "a.py"]
    assert (tmp_path / ".stepzero_cache/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_what_changed_is_checked_again(check, write):
    write("a.py", BUG)
    write("b.py", BUG)
    check()
    write("a.py", RIGHT)
    again = check()
    assert (again.cached, again.rules) == (1, ["shape/matmul"])


def test_a_file_is_checked_again_when_one_that_it_imports_changes(check, write):
    write("sizes.py", HELPER)
    write("train.py", USER)
    assert check().rules == ["shape/matmul"]
    write("sizes.py", HELPER.replace("4", "3"))
    again = check()
    assert (again.cached, again.rules) == (0, [])
    write("sizes.py", HELPER)
    assert check().rules == ["shape/matmul"]


def test_a_module_that_was_not_there_is_looked_for_again(check, write):
    write("train.py", USER)
    assert check().rules == []
    write("sizes.py", HELPER)
    assert check().rules == ["shape/matmul"]


def test_settings_are_part_of_what_an_entry_was_made_with(check, write):
    write("a.py", BUG)
    check()
    assert check("--ignore", "shape").rules == []
    assert check().rules == ["shape/matmul"]
    write("stepzero.toml", '[severity]\n"shape/matmul" = "hint"\n')
    assert check().json["diagnostics"][0]["severity"] == "hint"


def test_no_cache_takes_nothing_and_leaves_nothing(check, write, tmp_path):
    write("a.py", BUG)
    assert check("--no-cache").rules == ["shape/matmul"]
    assert not (tmp_path / ".stepzero_cache").exists()
    check()
    assert check("--no-cache").cached == 0


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[:-7], lambda b: b"x" * len(b), lambda b: b.replace(b"matmul", b"matmux"), lambda b: b + b"0"])
def test_a_damaged_entry_is_no_entry(check, write, tmp_path, damage):
    write("a.py", BUG)
    check()
    (entry,) = entries(tmp_path)
    entry.write_bytes(damage(entry.read_bytes()))
    again = check()
    assert (again.cached, again.rules) == (0, ["shape/matmul"])
    assert check().cached == 1


def test_where_nothing_can_be_written_files_are_checked_all_the_same(check, write, tmp_path):
    write("a.py", BUG)
    (tmp_path / ".stepzero_cache").write_text("a file where the folder would be")
    assert check().rules == check().rules == ["shape/matmul"]
    assert check().cached == 0


def test_a_folder_that_is_full_or_locked_does_no_harm(check, write, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    write("a.py", BUG)
    check()
    (tmp_path / ".stepzero_cache").chmod(0o500)
    write("a.py", RIGHT)
    assert check().rules == []


def test_runs_beside_each_other_share_a_cache(check, write):
    for i in range(12):
        write(f"f{i}.py", BUG.replace("2, 3", f"2, {i + 5}"))
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: check(), range(4)))
    assert len({outcome.out for outcome in outcomes}) == 1
    assert check().cached == 12


def test_fixes_are_made_of_files_as_they_are(stepzero, write, tmp_path):
    write("a.py", STEP)
    assert "unscaled-step" in stepzero("check", ".").text
    assert "Fixed 1 problem" in stepzero("check", "--fix", ".").text
    assert "scaler.step(optimizer)  # the step" in (tmp_path / "a.py").read_text()
    assert "unscaled-step" not in stepzero("check", ".").text


def test_statistics_name_the_slowest_files(stepzero, write):
    write("a.py", BUG)
    write("b.py", RIGHT)
    lines = stepzero("check", "--no-cache", "--statistics", ".").said.splitlines()
    assert lines[0].split() == ["reading", "ms", "runs", "ms", "steps", "units", "file"]
    assert lines[1].endswith("2 files, 0 from the cache")
    assert sorted(line.split()[-1] for line in lines if line.split()[-1] in ("a.py", "b.py")) == ["a.py", "b.py"]


def test_statistics_tell_what_took_the_time_in_a_slow_file(stepzero, write):
    write("helper.py", "def double(n):\n    return 2 * n\n")
    write("slow.py", "from helper import double\n\n\ndef many(n):\n    total = 0\n    for i in range(400):\n        total = double(total) + i\n    return total\n")
    said = stepzero("check", "--no-cache", "--statistics", "slow.py").said
    assert re.search(r"^ +(roots|statements|imports|rules|other) \d+\.\d ms", said, re.MULTILINE)
    steps = re.search(r"^ +steps: many (\d+)", said, re.MULTILINE)
    assert steps and int(steps.group(1)) > 400


def test_statistics_count_the_launches_of_scripts(stepzero, write):
    write("train.py", "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument(\"--lr\")\nargs = parser.parse_args()\n")
    write("run.sh", "torchrun --nproc_per_node 2 train.py --lr 0.1\ntorchrun --nproc_per_node $N train.py --lr 0.1\npython elsewhere.py\n")
    said = stepzero("check", "--no-cache", "--statistics", ".").said
    assert "launches: 1 of 3 resolved wholly; 1 with words that their scripts leave open, 1 of programs that are not here" in said
