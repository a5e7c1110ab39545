"""`stepzero schedule`: who communicates what, rank by rank. The tables are compared whole: what they look like is what is tested."""

import json

import pytest

GUARD = """\
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    loss = torch.zeros(2, 3)
    dist.all_reduce(loss)
    if dist.get_rank() == 0:
        dist.broadcast(loss, src=0)
    dist.barrier()


if __name__ == "__main__":
    main()
"""

BOTH_BRANCHES = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    print("reading")
    value = torch.ones(4)
    dist.broadcast(value, src=0)
else:
    value = torch.empty(4)
    dist.broadcast(value, src=0)
"""

RING = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mine, theirs = torch.ones(5), torch.empty(5)
for step in range(world - 1):
    if rank % 2 == 0:
        dist.send(mine, dst=(rank + 1) % world)
        dist.recv(theirs, src=(rank - 1) % world)
    else:
        dist.recv(theirs, src=(rank - 1) % world)
        dist.send(mine, dst=(rank + 1) % world)
"""

GROUPS = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
left, right = dist.new_group([0, 1]), dist.new_group([2, 3])
mine = left if rank < 2 else right
dist.all_reduce(torch.ones(3), group=mine)
dist.barrier()
"""

TRAINING = """\
import argparse
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, verbose):
    for batch in loader:
        loss = model(batch).sum()
        loss.backward()
        if verbose:
            dist.all_reduce(loss)


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--verbose", action="store_true")
args = parser.parse_args()
dist.init_process_group("gloo")
model = DDP(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))
for epoch in range(args.epochs):
    train(model, [torch.ones(2, 4) for _ in range(5)], args.verbose)
dist.barrier()
"""


@pytest.fixture
def schedule(stepzero, write):
    def run(program, *arguments):
        write("train.py", program)
        outcome = stepzero("schedule", *arguments, "train.py")
        assert (outcome.status, outcome.said) == (0, "")
        return outcome

    return run


def steps_of(nodes):
    """All steps, hangs included, in order."""
    for node in nodes:
        if node["kind"] in ("step", "hang", "unanswered"):
            yield node
        yield from steps_of(node.get("steps", ()))


def test_guard(schedule):
    assert schedule(GUARD).text == """\
train.py, 2 ranks, as it runs
  line  rank 0                              | rank 1
     8  all_reduce float32[2, 3]
    10  broadcast float32[2, 3] from rank 0 | barrier (line 11)
        >> hangs: rank 0 waits in broadcast (line 10); rank 1 waits in barrier (line 11)
        never reached:
    11    barrier                           | -
"""


def test_ranks_that_do_the_same_share_a_column(schedule):
    text = schedule(GUARD, "--world", "4").text
    assert "train.py, 4 ranks, as it runs" in text
    assert "  line  rank 0                              | ranks 1-3\n" in text
    assert "rank 0 waits in broadcast (line 10); ranks 1-3 wait in barrier (line 11)" in text


def test_guard_as_json(schedule):
    (file,) = schedule(GUARD, "--format", "json").json["files"]
    assert (file["path"], file["world"]) == ("train.py", 2)
    (run,) = file["schedules"]
    assert (run["function"], run["complete"], run["hangs"]) == (None, True, True)
    first, hang, _ = steps_of(run["steps"])
    (call,) = first["calls"]
    assert call == {
        "ranks": [0, 1], "kind": "collective", "name": "all_reduce", "line": 8, "group": [0, 1], "bytes": 24, "shape": [2, 3], "dtype": "float32",
        "callers": [{"function": "main", "called": {"line": 15}}],
    }
    assert (hang["kind"], hang["certain"], hang["ended"]) == ("hang", True, [])
    assert [(call["ranks"], call["name"], call["line"]) for call in hang["waiting"]] == [([0], "broadcast", 10), ([1], "barrier", 11)]
    assert hang["waiting"][0]["src"] == 0
    assert run["steps"][-1]["kind"] == "unreached"
    assert file["functions"] == [{"function": "main", "line": 5, "summary": "3 collectives, 1 only on rank 0"}]


def test_both_branches_meet_in_one_line(schedule):
    assert schedule(BOTH_BRANCHES).text == """\
train.py, 2 ranks, as it runs
  line  rank 0                           | rank 1
     8  broadcast float32[4] from rank 0 | broadcast float32[4] from rank 0 (line 11)
"""


def test_ring_of_messages(schedule):
    assert schedule(RING, "--world", "3").text == """\
train.py, 3 ranks, as it runs
  line  rank 0                      | rank 1                              | rank 2
     7  for step in range(world - 1):  (2 iterations alike)
     9    send float32[5] -> rank 1 | recv float32[5] <- rank 0 (line 12) | -
    10    recv float32[5] <- rank 2 | -                                   | send float32[5] -> rank 0 (line 9)
    13    -                         | send float32[5] -> rank 2           | recv float32[5] <- rank 1 (line 10)
"""


def test_groups_and_the_world_that_they_are_made_for(schedule):
    text = schedule(GROUPS).text
    assert text == """\
train.py, 4 ranks, as it runs
  line  ranks 0 and 1                      | ranks 2 and 3
     6  new_group [0, 1]
     6  new_group [2, 3]
     8  all_reduce float32[3] among [0, 1] | all_reduce float32[3] among [2, 3]
     9  barrier
"""
    (file,) = schedule(GROUPS, "--format", "json").json["files"]
    made, _, reduced, _ = steps_of(file["schedules"][0]["steps"])
    assert made["calls"][0]["makes"] == [0, 1]
    assert [(call["ranks"], call["group"]) for call in reduced["calls"]] == [([0, 1], [0, 1]), ([2, 3], [2, 3])]


def test_loops_and_conditions_stand_around_what_is_in_them(schedule):
    text = schedule(TRAINING).text
    assert "for epoch in range(args.epochs):  (each iteration)" in text
    assert "for batch in loader:  (5 iterations alike)" in text
    assert "if verbose:" in text
    (file,) = schedule(TRAINING, "--format", "json").json["files"]
    loop = next(node for node in file["schedules"][0]["steps"] if node["kind"] == "loop")
    assert (loop["text"], loop["line"], loop["rounds"]) == ("for epoch in range(args.epochs)", 22, None)
    condition = next(node for node in loop["steps"][0]["steps"] if node["kind"] == "if")
    assert (condition["text"], condition["holds"], condition["uniform"]) == ("verbose", True, True)


def test_a_function_that_nobody_calls(schedule):
    program = "import torch\nimport torch.distributed as dist\n\n\ndef reduce(grads):\n    for grad in grads:\n        dist.all_reduce(grad)\n"
    assert schedule(program).text == """\
train.py, 2 ranks, reduce (line 5), which nobody here calls
  line  every rank
     6  for grad in grads:  (each iteration)
     7    all_reduce
"""


def test_no_communication(schedule, stepzero, write):
    assert schedule("x = 1\n").text == "train.py: no communication\n"
    assert schedule("x = 1\n", "--format", "json").json["files"] == [{"path": "train.py", "world": 2, "schedules": [], "functions": []}]
    write("other.py")
    assert stepzero("schedule", ".").text == "no communication in 2 files\n"


def test_of_a_folder_what_communicates_is_told(stepzero, write):
    write("quiet.py")
    write("train.py", BOTH_BRANCHES)
    outcome = stepzero("schedule", ".")
    assert outcome.text.startswith("train.py, 2 ranks") and "quiet" not in outcome.text
    files = stepzero("schedule", "--format", "json", ".").json["files"]
    assert [file["path"] for file in files] == ["train.py"]


def test_standard_input(stepzero):
    outcome = stepzero("schedule", "--stdin-filename", "new.py", "-", stdin=BOTH_BRANCHES.encode())
    assert outcome.text.startswith("new.py, 2 ranks, as it runs\n")


def test_bad_input(stepzero, write):
    outcome = stepzero("schedule", "absent.py")
    assert outcome.status == 2 and outcome.text == ""
    assert outcome.said.startswith("stepzero: absent.py: ") and outcome.said.count("\n") == 1
    write("broken.py", "import torch.distributed as dist\ndist.barrier(\nif x\n" + GUARD)
    assert stepzero("schedule", "broken.py").status == 0
    write("binary.py", b"\0\xff\xfe" * 100)
    assert stepzero("schedule", "binary.py").status in (0, 2)


def test_the_output_is_the_same_each_time(schedule):
    first = schedule(TRAINING, "--format", "json").out
    assert all(schedule(TRAINING, "--format", "json").out == first for _ in range(3))
    json.loads(first)


LAUNCHED = """\
import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=1)
args = parser.parse_args()
dist.init_process_group("gloo")
for _ in range(args.rounds):
    dist.all_reduce(torch.zeros(3))
"""


def test_each_launch_that_communicates_in_another_way_is_a_job(write, stepzero):
    write("train.py", LAUNCHED)
    write("run.sh", "torchrun --nproc_per_node 3 train.py --rounds 2\n")
    files = stepzero("schedule", "--format", "json", "train.py").json["files"]
    assert [file.get("launch") for file in files] == [None, "run.sh:1"]
    assert files[1]["world"] == 3
    assert "train.py, as launched by run.sh:1, 3 ranks" in stepzero("schedule", "train.py").text


OF_SIXTEEN = """\
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    x = torch.zeros(1)
    for step in range(6):
        dist.all_reduce(x)
    if rank == 9:
        dist.all_reduce(x)


if __name__ == "__main__":
    mp.spawn(work, args=(16,), nprocs=16)
"""

OF_THREE = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.zeros(1)
if dist.get_rank() == 2:
    dist.barrier()
dist.broadcast(x, 0)
"""


def test_as_many_ranks_as_the_program_asks_for(schedule):
    assert schedule(OF_SIXTEEN).text == """\
train.py, 16 ranks, as it runs
  line  ranks 0-8 and 10-15 | rank 9
     9  for step in range(6):  (6 iterations alike)
    10    all_reduce float32[1]
    12  -                   | all_reduce float32[1]
        >> hangs: rank 9 waits in all_reduce (line 12); ranks 0-8 and 10-15 have ended or gone on without it
"""


def test_a_hang_of_larger_jobs_is_shown_in_one(schedule):
    text = schedule(OF_THREE).text
    assert "train.py, 3 ranks, as it runs" in text
    assert ">> hangs: ranks 0 and 1 wait in broadcast (line 8); rank 2 waits in barrier (line 7)" in text
    assert "hangs" not in schedule(OF_THREE, "--world", "2").text
