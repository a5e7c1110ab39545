import torch
from torch import nn

model = nn.LSTM(3, 6, batch_first=True)
for p in model.parameters():
    p.register_hook(lambda grad: grad.clamp(-1.0, 1.0))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    out, _ = model(torch.randn(2, 5, 3))
    out.mean().backward()
    optimizer.step()
