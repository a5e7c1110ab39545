"""Programs whose run is broken off by the budget of steps: their ranks are not compared, and what stands out in the text is told as a
warning. The literate cases take no such program."""

import pytest

HEAVY = """\
import torch
import torch.distributed as dist


def count(left):
    return 1 if left == 0 else count(left - 1) + count(left - 1) + count(left - 1)


def train(rank, x, batches, limit):
"""
CUT = "    count(9)\n" * 12
ENTERS_ALONE = """\
    if rank == 0:
        dist.all_reduce(x)
"""
LEAVES_ALONE = """\
    for step, batch in enumerate(batches):
        dist.all_reduce(batch)
        if step == limit:
            if rank == 0:
                print("done")
                return
"""
ALL_ENTER = """\
    dist.all_reduce(x)
    if rank == 0:
        print(x)
"""
BOTH_SIDES = """\
    if rank == 0:
        dist.broadcast(x, src=0)
    else:
        dist.broadcast(x, src=0)
"""
WORKERS = """\
    if rank != 0:
        for batch in batches:
            dist.broadcast(batch, src=0)
        return
    for batch in batches:
        dist.broadcast(batch, src=0)
"""
ONE_AFTER_THE_OTHER = """\
    if rank != 0:
        dist.barrier()
    print(x)
    if rank == 0:
        dist.barrier()
"""


def findings(stepzero, write, body):
    write("train.py", HEAVY + body + CUT + "    dist.barrier()\n")
    told = stepzero("check", "--no-cache", "--format=json", "train.py").json["diagnostics"]
    return [each for each in told if each["rule"].startswith("deadlock/")]


def test_one_rank_enters_alone(stepzero, write):
    (found,) = findings(stepzero, write, ENTERS_ALONE)
    assert (found["rule"], found["severity"]) == ("deadlock/rank-guarded-collective", "warning")
    assert found["message"].startswith("As far as is seen: Only rank 0 enters `all_reduce`")


def test_one_rank_leaves_alone(stepzero, write):
    (found,) = findings(stepzero, write, LEAVES_ALONE)
    assert (found["rule"], found["severity"]) == ("deadlock/early-exit", "warning")


@pytest.mark.parametrize("body", [ALL_ENTER, BOTH_SIDES, WORKERS, ONE_AFTER_THE_OTHER])
def test_right_programs(stepzero, write, body):
    assert findings(stepzero, write, body) == []
