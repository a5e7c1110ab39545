import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

gradient_accumulation_steps = 8
loader = DataLoader(TensorDataset(torch.randn(128, 10), torch.randint(0, 5, (128,))), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(2):
    optimizer.zero_grad()
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        if (step + 1) % gradient_accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
