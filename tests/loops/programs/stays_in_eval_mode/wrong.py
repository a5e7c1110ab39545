import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(4 * 36, 2)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.fc(self.drop(x.flatten(1)))


@torch.no_grad()
def validate(model, batches):
    model.eval()
    return sum(nn.functional.cross_entropy(model(x), y).item() for x, y in batches) / len(batches)


def train(model, batches, val_batches, epochs=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.train()
    for epoch in range(epochs):
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(validate(model, val_batches))


batches = [(torch.randn(4, 1, 6, 6), torch.randint(0, 2, (4,))) for _ in range(3)]
val_batches = [(torch.randn(4, 1, 6, 6), torch.randint(0, 2, (4,)))]
train(Net(), batches, val_batches)
