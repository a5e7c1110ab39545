# Actions are drawn by reparametrization from a normal distribution; an entropy and a Bernoulli gate.
import torch
from torch import nn
from torch.distributions import Bernoulli, Normal

body = nn.Sequential(nn.Linear(11, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
mean, log_std, gate = nn.Linear(64, 3), nn.Linear(64, 3), nn.Linear(64, 3)
critic = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 1))
modules = nn.ModuleList([body, mean, log_std, gate, critic])
optimizer = torch.optim.Adam(modules.parameters(), lr=3e-4)
for _ in range(3):
    obs = torch.randn(32, 11)
    h = body(obs)
    dist = Normal(mean(h), log_std(h).clamp(-20, 2).exp())
    action = dist.rsample()
    log_prob = (dist.log_prob(action) - torch.log(1 - torch.tanh(action).pow(2) + 1e-6)).sum(-1, keepdim=True)
    on = Bernoulli(logits=gate(h))
    bits = on.sample()
    q = critic(torch.cat([obs, torch.tanh(action) * bits], dim=-1))
    loss = (0.2 * log_prob - q).mean() - (on.log_prob(bits) * q.detach()).mean() - 0.01 * (on.entropy().mean() + dist.entropy().mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
