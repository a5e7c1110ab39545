import torch
from torch import nn

device = "cuda"
generator = nn.Linear(8, 16).to(device)
critic = nn.Linear(16, 1).to(device)
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-4)
for i in range(10):
    noise = torch.randn(32, 8).to(device)
    loss = -critic(generator(noise)).mean()
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()
