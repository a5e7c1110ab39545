import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train = DataLoader(TensorDataset(torch.randn(70, 8), torch.randint(0, 3, (70,))), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(torch.randn(17, 8)), batch_size=16)
model.train()
for x, y in train:
    x = x.view(x.size(0), -1)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    print(sum(model(x.view(len(x), 8)).argmax(1).sum().item() for (x,) in test))
