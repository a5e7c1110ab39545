import os
from types import SimpleNamespace

import torch
import torch.distributed as dist


def load(cfg, state):
    if cfg.rank == 0:
        state["step"] = torch.tensor([120])
        print("resuming")
        dist.barrier()
        dist.broadcast(state["step"], src=0)
    else:
        state["step"] = torch.zeros(1, dtype=torch.int64)
        dist.barrier()
        dist.broadcast(state["step"], src=0)
    return int(state["step"])


def main():
    cfg = SimpleNamespace(rank=int(os.environ["RANK"]), world=int(os.environ["WORLD_SIZE"]))
    dist.init_process_group("gloo", rank=cfg.rank, world_size=cfg.world)
    start = load(cfg, {})
    for step in range(start, start + 2):
        loss = torch.ones(1)
        dist.all_reduce(loss)


main()
