import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

dataset = TensorDataset(torch.randn(100, 6), torch.randint(0, 2, (100,)))
train_set, val_set, test_set = random_split(dataset, [70, 15, 15], generator=torch.Generator().manual_seed(0))
mean = torch.stack([x for x, _ in train_set]).mean(0)
loaders = [DataLoader(part, batch_size=10, shuffle=part is train_set) for part in (train_set, val_set, test_set)]
for loader in loaders:
    for x, y in loader:
        (x - mean).square().mean()
