"""Each rank reads every n-th sample, and all leave out the last batch, which the first rank has alone."""
import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset, TensorDataset


def loader_of(rank, world_size, batch_size):
    data = TensorDataset(torch.arange(25.0).view(25, 1), torch.zeros(25))
    mine = Subset(data, list(range(rank, len(data), world_size)))
    return DataLoader(mine, batch_size=batch_size, drop_last=True)


class Trainer:
    def __init__(self, model, rank, world_size):
        self.model = model
        self.rank = rank
        self.world_size = world_size

    def average(self):
        for p in self.model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= self.world_size

    def fit(self, loader, epochs):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)
        for epoch in range(epochs):
            for x, y in loader:
                optimizer.zero_grad()
                loss = (self.model(x).squeeze(1) - y).pow(2).mean()
                loss.backward()
                self.average()
                optimizer.step()
            if self.rank == 0:
                print(epoch, loss.item())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    loader = loader_of(rank, world_size, batch_size=2)
    Trainer(torch.nn.Linear(1, 1), rank, world_size).fit(loader, args.epochs)
    dist.barrier()


if __name__ == "__main__":
    main()
