import torch
from torch import nn

model = nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 4))
optimizer = torch.optim.Adam(model.parameters())
train_data = [(torch.randn(4, 1, 4, 4), torch.randint(0, 4, (4,))) for _ in range(4)]
test_data = [(torch.randn(4, 1, 4, 4), torch.randint(0, 4, (4,))) for _ in range(2)]

for epoch in range(2):
    model.train()
    for x, y in train_data:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

model.eval()
correct = total = 0
for x, y in test_data:
    predicted = model(x).argmax(dim=1)
    correct += (predicted == y).sum().item()
    total += y.numel()
print(correct / total)
