import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)
x = torch.randn(32, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]])


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for _ in range(5):
    optimizer.step(closure)
