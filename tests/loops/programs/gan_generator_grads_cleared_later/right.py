import itertools

import torch
from torch import nn

a_to_b, b_to_a = nn.Linear(4, 4), nn.Linear(4, 4)
judge = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g = torch.optim.Adam(itertools.chain(a_to_b.parameters(), b_to_a.parameters()), lr=2e-4)
opt_d = torch.optim.Adam(judge.parameters(), lr=2e-4)
for _ in range(5):
    real_a, real_b = torch.randn(4, 4), torch.randn(4, 4)
    judge.requires_grad_(False)
    fake_b = a_to_b(real_a)
    loss_g = (judge(fake_b) - 1).pow(2).mean() + (b_to_a(fake_b) - real_a).abs().mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    judge.requires_grad_(True)
    loss_d = (judge(real_b) - 1).pow(2).mean() + judge(fake_b.detach()).pow(2).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
