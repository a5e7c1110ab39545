import torch
from torch import nn


class PPO:
    def __init__(self, actor, critic, clip=0.2, epochs=4, minibatch=64):
        self.actor, self.critic = actor, critic
        self.clip, self.epochs, self.minibatch = clip, epochs, minibatch
        self.opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=2.5e-4, eps=1e-5)

    def learn(self, buffer):
        with torch.no_grad():
            old = self.actor(buffer.obs).log_prob(buffer.actions)
            adv = buffer.returns - self.critic(buffer.obs).squeeze(-1)
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        n = buffer.obs.shape[0]
        for _ in range(self.epochs):
            for idx in torch.randperm(n).split(self.minibatch):
                dist = self.actor(buffer.obs[idx])
                ratio = (dist.log_prob(buffer.actions[idx]) - old[idx]).exp()
                pg = -torch.min(ratio * adv[idx], ratio.clamp(1 - self.clip, 1 + self.clip) * adv[idx]).mean()
                v = (self.critic(buffer.obs[idx]).squeeze(-1) - buffer.returns[idx]).pow(2).mean()
                loss = pg + 0.5 * v - 0.01 * dist.entropy().mean()
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.actor.parameters(), 0.5)
                self.opt.step()
