import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def evaluate(batches):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in batches:
            correct += (model(x).argmax(dim=1) == y).sum().item()
    return correct


train_set = [(torch.randn(8, 8), torch.randint(0, 3, (8,))) for _ in range(4)]
val_set = [(torch.randn(8, 8), torch.randint(0, 3, (8,))) for _ in range(2)]
for epoch in range(2):
    model.train()
    for x, y in train_set:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    print(evaluate(val_set))
