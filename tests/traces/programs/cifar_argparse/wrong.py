"""Train a small CNN on fake CIFAR data.

    python train.py --epochs 2 --width 16
"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    parser = argparse.ArgumentParser(description="small CIFAR training")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--width", type=int, default=16, help="channels of the first stage")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=1e-3)
    return parser.parse_args()


def conv_bn_relu(in_channels, out_channels, stride=1):
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    )


class SmallNet(nn.Module):
    def __init__(self, width, num_classes, dropout):
        super().__init__()
        self.stem = conv_bn_relu(3, width)
        self.stage1 = conv_bn_relu(width, 2 * width, stride=2)
        self.stage2 = conv_bn_relu(width, 4 * width, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(4 * width, num_classes)

    def forward(self, x):
        x = self.stem(x)
        x = self.stage1(x)
        x = self.stage2(x)
        x = self.pool(x)
        x = x.view(x.size(0), -1)
        x = self.dropout(x)
        return self.classifier(x)


def make_loaders(args):
    train = TensorDataset(torch.rand(24, 3, 32, 32), torch.randint(args.classes, (24,)))
    test = TensorDataset(torch.rand(12, 3, 32, 32), torch.randint(args.classes, (12,)))
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test, batch_size=args.batch_size)
    return train_loader, test_loader


def train_one_epoch(model, loader, optimizer, device):
    model.train()
    total = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        total += loss.item() * x.size(0)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    hits = 0
    for x, y in loader:
        out = model(x.to(device))
        pred = out.argmax(1)
        hits += (pred == y.to(device)).sum().item()
    return hits / len(loader.dataset)


def main():
    args = get_args()
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SmallNet(args.width, args.classes, args.dropout).to(device)
    train_loader, test_loader = make_loaders(args)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = train_one_epoch(model, train_loader, optimizer, device)
        accuracy = evaluate(model, test_loader, device)
        print(f"epoch {epoch}: loss {loss:.3f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
