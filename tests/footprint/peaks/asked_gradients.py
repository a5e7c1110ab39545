# `torch.autograd.grad` frees what it goes through, a backward that retains its graph does not.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 1024), nn.Tanh(), nn.Linear(1024, 64), nn.Sigmoid())
critic = nn.Sequential(nn.Linear(64, 1024), nn.Sigmoid(), nn.Linear(1024, 1))
of_model, of_critic = torch.optim.SGD(model.parameters(), lr=0.1), torch.optim.SGD(critic.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(256, 64, requires_grad=True)
    scores = critic(x)
    (sensitivity,) = torch.autograd.grad(scores.sum(), x)
    made = model(x.detach())
    of_model.zero_grad()
    loss = (made - sensitivity).square().mean()
    loss.backward(retain_graph=True)
    of_model.step()
    of_critic.zero_grad()
    critic_loss = critic(made.detach()).square().mean()
    critic_loss.backward()
    of_critic.step()
