import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class DataModule:
    def __init__(self, rank, world_size):
        train = TensorDataset(torch.randn(24, 4), torch.randn(24, 1))
        val = TensorDataset(torch.randn(8, 4), torch.randn(8, 1))
        self.train_sampler = DistributedSampler(train, num_replicas=world_size, rank=rank, shuffle=True)
        self.val_sampler = DistributedSampler(val, num_replicas=world_size, rank=rank, shuffle=False)
        self.train_loader = DataLoader(train, batch_size=4, sampler=self.train_sampler)
        self.val_loader = DataLoader(val, batch_size=4, sampler=self.val_sampler)


def fit(data, epochs=2):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(epochs):
        data.train_sampler.set_epoch(epoch)
        for x, y in data.train_loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


fit(DataModule(rank=0, world_size=2))
