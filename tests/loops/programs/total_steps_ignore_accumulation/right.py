import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--accum", type=int, default=4)
    args = parser.parse_args()
    loader = DataLoader(TensorDataset(torch.randn(64, 5), torch.randn(64, 1)), batch_size=4)
    model = nn.Linear(5, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    total_steps = args.epochs * len(loader) // args.accum
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=total_steps)
    for epoch in range(args.epochs):
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.mse_loss(model(x), y) / args.accum
            loss.backward()
            if (i + 1) % args.accum == 0:
                optimizer.step()
                optimizer.zero_grad()
                scheduler.step()


if __name__ == "__main__":
    main()
