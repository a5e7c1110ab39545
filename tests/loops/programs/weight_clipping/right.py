import torch
from torch import nn

critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
generator = nn.Linear(2, 4)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
opt_g = torch.optim.RMSprop(generator.parameters(), lr=5e-5)

for it in range(10):
    opt_c.zero_grad()
    fake = generator(torch.randn(8, 2)).detach()
    loss = critic(fake).mean() - critic(torch.randn(8, 4)).mean()
    loss.backward()
    opt_c.step()
    for p in critic.parameters():
        p.data.clamp_(-0.01, 0.01)
    if it % 5 == 0:
        opt_g.zero_grad()
        (-critic(generator(torch.randn(8, 2))).mean()).backward()
        opt_g.step()
