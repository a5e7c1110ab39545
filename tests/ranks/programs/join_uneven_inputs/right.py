"""Ranks have different numbers of batches; Join shadows the collectives of those that have ended."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP


def inputs_of(rank):
    return [torch.ones(4, 2) * (i + 1) for i in range(3 + 2 * rank)]


def worker():
    rank = dist.get_rank()
    model = DDP(nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    seen = 0
    with Join([model]):
        for batch in inputs_of(rank):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
            seen += 1
    print(rank, "saw", seen)


dist.init_process_group("gloo")
worker()
dist.barrier()
