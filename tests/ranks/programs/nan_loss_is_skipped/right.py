import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def batches(rank):
    generator = torch.Generator().manual_seed(rank)
    for step in range(4):
        x = torch.randn(4, 3, generator=generator)
        if rank == 1 and step == 2:
            x[0, 0] = float("nan")
        yield x, x.sum(1, keepdim=True)


def train(model, optimizer, loader):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        bad = torch.isnan(loss).float()
        dist.all_reduce(bad, op=dist.ReduceOp.MAX)
        if bad.item() > 0:
            print("nan, next batch")
            optimizer.zero_grad()
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(3, 1))
    train(model, torch.optim.SGD(model.parameters(), lr=0.01), batches(dist.get_rank()))
    dist.barrier()
