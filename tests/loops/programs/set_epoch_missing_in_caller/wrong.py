import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def get_loader(rank, world_size):
    dataset = TensorDataset(torch.randn(24, 4), torch.randint(0, 2, (24,)))
    return DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset, world_size, rank))


def train_one_epoch(model, loader, optimizer):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(rank=0, world_size=2, epochs=3):
    loader = get_loader(rank, world_size)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        train_one_epoch(model, loader, optimizer)


if __name__ == "__main__":
    main()
