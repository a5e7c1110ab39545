"""DDP without buffers sends nothing in a forward without backward: rank 0 may evaluate alone."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1)))
    for epoch in range(2):
        model(torch.randn(3, 2)).mean().backward()
        model.zero_grad()
        if rank == 0:
            model.eval()
            with torch.no_grad():
                print(epoch, model(torch.ones(1, 2)).item())
            model.train()
        dist.barrier()


if __name__ == "__main__":
    main()
