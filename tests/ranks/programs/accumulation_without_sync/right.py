import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(accumulate=2):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        boundary = (step + 1) % accumulate == 0
        with contextlib.nullcontext() if boundary else model.no_sync():
            loss = model(torch.randn(4, 3)).pow(2).mean() / accumulate
            loss.backward()
        if boundary:
            optimizer.step()
            optimizer.zero_grad()
        if rank == 0 and boundary:
            print(step, loss.item())


if __name__ == "__main__":
    main()
