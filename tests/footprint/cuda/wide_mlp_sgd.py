# The same with SGD that steps one parameter after the other.
import torch
import torch.nn as nn

model = nn.Sequential(*[part for _ in range(4) for part in (nn.Linear(4096, 4096), nn.ReLU())], nn.Linear(4096, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
x, y = torch.randn(64, 4096, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
