import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, 1)

    def forward(self, x):
        total = 0
        for t in range(x.size(1)):
            total = total + torch.sigmoid(self.gate(x[:, t])) * x[:, t]
        return total


model = Pool(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(2, 9, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
