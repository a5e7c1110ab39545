import torch
from torch.utils.data import DataLoader, Dataset


class Lines(Dataset):
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().splitlines()

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        return torch.tensor([ord(c) for c in self.lines[i]][:64])


train_loader = DataLoader(Lines("corpus/train.txt"), batch_size=1, shuffle=True)
val_loader = DataLoader(Lines("corpus/val.txt"), batch_size=1)
