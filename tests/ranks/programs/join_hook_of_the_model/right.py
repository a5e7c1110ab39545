import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def batches(rank):
    for number in range(4 if rank == 0 else 6):
        yield torch.full((2, 3), float(number))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with model.join():
        for batch in batches(rank):
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
    dist.barrier()
    if rank == 0:
        print("joined")


if __name__ == "__main__":
    main()
