import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(3, 1)
meta_optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for iteration in range(3):
    meta_optimizer.zero_grad()
    meta_loss = 0.0
    for task in range(4):
        fast = [p for p in model.parameters()]
        for _ in range(2):
            x, y = torch.randn(5, 3), torch.randn(5, 1)
            inner = F.mse_loss(F.linear(x, *fast), y)
            grads = torch.autograd.grad(inner, fast, create_graph=True)
            fast = [w - 0.1 * g for w, g in zip(fast, grads)]
        meta_loss += F.mse_loss(F.linear(torch.randn(5, 3), *fast), torch.randn(5, 1))
    (meta_loss / 4).backward()
    meta_optimizer.step()
