import torch
from torch import nn

model = nn.GRU(3, 5, batch_first=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(6):
    out, _ = model(torch.randn(2, 7, 3))
    optimizer.zero_grad()
    out.pow(2).mean().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 3 == 0:
        norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        print(step, float(norm))
