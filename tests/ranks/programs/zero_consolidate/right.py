import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP


def save(model, optimizer, rank):
    """The optimizer's state is spread over the ranks: all send theirs before one writes."""
    optimizer.consolidate_state_dict(to=0)
    if rank == 0:
        with tempfile.NamedTemporaryFile(suffix=".pt") as file:
            torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}, file)
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=1e-2)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
    save(model, optimizer, dist.get_rank())


if __name__ == "__main__":
    main()
