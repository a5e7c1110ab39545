import torch
from torch.utils.data import DataLoader, Dataset, Subset


class Frames(Dataset):
    """Short clips [3, T, H, W] with a label."""

    def __init__(self, count, frames, size, classes):
        self.count, self.frames, self.size, self.classes = count, frames, size, classes

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        clip = torch.rand(3, self.frames, self.size, self.size, generator=generator)
        return clip, index % self.classes


def make_loaders(cfg):
    dataset = Frames(cfg.clips, cfg.frames, cfg.size, cfg.classes)
    cut = int(cfg.clips * 0.75)
    train = Subset(dataset, range(cut))
    valid = Subset(dataset, range(cut, cfg.clips))
    return (
        DataLoader(train, batch_size=cfg.batch_size, shuffle=True, drop_last=True),
        DataLoader(valid, batch_size=cfg.batch_size),
    )
