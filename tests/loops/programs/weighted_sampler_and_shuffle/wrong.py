from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


@dataclass
class LoaderConfig:
    batch_size: int = 4
    shuffle: bool = True


def build_loader(labels, cfg):
    counts = torch.bincount(labels)
    weights = 1.0 / counts[labels].float()
    sampler = WeightedRandomSampler(weights, num_samples=len(labels))
    dataset = TensorDataset(torch.randn(len(labels), 3), labels)
    return DataLoader(dataset, cfg.batch_size, shuffle=cfg.shuffle, sampler=sampler)


for x, y in build_loader(torch.tensor([0, 0, 0, 1, 0, 1, 0, 0]), LoaderConfig()):
    print(y.tolist())
