import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=9)
    args = parser.parse_args()
    batches = [(torch.randn(4, 5), torch.randn(4, 1)) for _ in range(10)]
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    milestones = [args.epochs // 2, args.epochs * 3 // 4]
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=milestones, gamma=0.1)
    for epoch in range(args.epochs):
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        scheduler.step()


if __name__ == "__main__":
    main()
