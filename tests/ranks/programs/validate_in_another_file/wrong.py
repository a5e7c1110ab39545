import torch
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

from tools import is_main_process, setup, validate


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))


def main():
    rank = setup()
    torch.manual_seed(rank)
    model = DistributedDataParallel(Net())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    held_out = [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(3)]
    for epoch in range(2):
        for _ in range(4):
            loss = nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if is_main_process():
            print(epoch, validate(model, held_out))


if __name__ == "__main__":
    main()
