import torch
from torch import nn

model = nn.GRU(3, 5, batch_first=True)
head = nn.Linear(5, 1)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-3)
hidden = torch.zeros(1, 2, 5)
smooth = None
for chunk in torch.randn(2, 24, 3).split(6, dim=1):
    hidden = hidden.detach()
    out, hidden = model(chunk, hidden)
    loss = head(out).pow(2).mean()
    value = loss.detach()
    smooth = value if smooth is None else smooth * 0.9 + value * 0.1
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print(smooth.item())
