# A critic whose loss has a penalty on its gradient by points between both kinds of data.
import torch
from torch import nn

critic = nn.Sequential(nn.Linear(48, 96), nn.LeakyReLU(0.2, inplace=True), nn.Linear(96, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(critic.parameters())


def penalty(real, made):
    share = torch.rand(real.size(0), 1)
    between = (share * real + (1 - share) * made).requires_grad_(True)
    scores = critic(between)
    (gradient,) = torch.autograd.grad(scores, between, torch.ones_like(scores), create_graph=True, retain_graph=True)
    return ((gradient.view(gradient.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


real, made = torch.rand(16, 48), torch.rand(16, 48)
loss = critic(made).mean() - critic(real).mean() + 10 * penalty(real, made)
loss.backward()
optimizer.step()
