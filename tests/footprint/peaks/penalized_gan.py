# A GAN whose critic has a penalty on its gradient: the graph of a graph is there when its backward begins.
import torch
from torch import nn

generator = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 768), nn.Tanh())
critic = nn.Sequential(nn.Linear(768, 512), nn.LeakyReLU(0.2, inplace=True), nn.Linear(512, 256), nn.LeakyReLU(0.2, inplace=True), nn.Linear(256, 1))
of_generator, of_critic = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())


def penalty(real, made):
    share = torch.rand(real.size(0), 1)
    between = (share * real + (1 - share) * made).requires_grad_(True)
    scores = critic(between)
    gradient = torch.autograd.grad(outputs=scores, inputs=between, grad_outputs=torch.ones(real.size(0), 1), create_graph=True, retain_graph=True)[0]
    return ((gradient.view(gradient.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


for step in range(4):
    real, z = torch.rand(128, 768), torch.randn(128, 32)
    of_critic.zero_grad()
    made = generator(z)
    critic_loss = critic(made.detach()).mean() - critic(real).mean() + 10 * penalty(real, made.detach())
    critic_loss.backward()
    of_critic.step()
    of_generator.zero_grad()
    loss = -critic(generator(z)).mean()
    loss.backward()
    of_generator.step()
