import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
for _ in range(4):
    out = model(torch.randn(6, 4))
    norms = []
    for column in range(out.size(1)):
        model.zero_grad()
        out[:, column].sum().backward(retain_graph=column + 1 < out.size(1))
        norms.append(sum(p.grad.norm().item() for p in model.parameters()))
    loss = out.detach().pow(2).mean()
    print(loss.item(), norms)
