import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def build_loader(dataset, args):
    sampler = DistributedSampler(dataset, num_replicas=args.world_size, rank=0) if args.world_size > 1 else None
    return DataLoader(dataset, batch_size=4, shuffle=(sampler is None), sampler=sampler)


parser = argparse.ArgumentParser()
parser.add_argument("--world-size", type=int, default=2)
args = parser.parse_args()
loader = build_loader(TensorDataset(torch.randn(24, 4), torch.randn(24, 1)), args)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    if isinstance(loader.sampler, DistributedSampler):
        loader.sampler.set_epoch(epoch)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
