import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset


def loaders(dataset, rank, world_size):
    length = len(dataset) // world_size * world_size
    indices = list(range(rank, length, world_size))
    return DataLoader(Subset(dataset, indices), batch_size=1)


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    dataset = TensorDataset(torch.randn(13, 3), torch.randn(13, 1))
    model = DDP(nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loaders(dataset, rank, world_size):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    dist.barrier()


if __name__ == "__main__":
    main()
