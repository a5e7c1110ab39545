import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def sync_context(model, rank, step, accumulate):
    if (step + 1) % accumulate == 0:
        return contextlib.nullcontext()
    if step % accumulate == 0 and accumulate > 1:
        return model.no_sync()
    return contextlib.nullcontext()


def main(accumulate=2):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        with sync_context(model, rank, step, accumulate):
            model(torch.ones(2, 3)).sum().backward()
        if (step + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    dist.barrier()


if __name__ == "__main__":
    main()
