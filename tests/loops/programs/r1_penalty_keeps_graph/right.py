import torch
from torch import nn

critic = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.99))
for step in range(8):
    real = torch.randn(8, 4).requires_grad_(step % 4 == 0)
    score = critic(real)
    optimizer.zero_grad()
    nn.functional.softplus(-score).mean().backward(retain_graph=step % 4 == 0)
    if step % 4 == 0:
        gradient, = torch.autograd.grad(score.sum(), real, create_graph=True)
        (5.0 * gradient.pow(2).sum(1).mean()).backward()
    optimizer.step()
