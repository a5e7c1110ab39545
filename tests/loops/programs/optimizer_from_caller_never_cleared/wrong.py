import torch
from torch import nn


def train_epoch(model, loader, optimizer, criterion, device):
    model.train()
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(6, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = [(torch.randn(4, 6), torch.randint(0, 2, (4,))) for _ in range(3)]
    for epoch in range(2):
        train_epoch(model, loader, optimizer, nn.CrossEntropyLoss(), device)


if __name__ == "__main__":
    main()
