# PPO: a policy and its value, a categorical distribution over actions.
import torch, torch.nn as nn
from torch.distributions import Categorical
class AC(nn.Module):
    def __init__(self, o=8, a=4, h=64):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(o, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, a)); self.v = nn.Sequential(nn.Linear(o, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, 1))
    def act(self, obs):
        d = Categorical(logits=self.pi(obs)); a = d.sample()
        return a, d.log_prob(a), self.v(obs).squeeze(-1)
    def evaluate(self, obs, act):
        d = Categorical(logits=self.pi(obs))
        return d.log_prob(act), d.entropy(), self.v(obs).squeeze(-1)
net = AC(); opt = torch.optim.Adam(net.parameters(), lr=3e-4, eps=1e-5)
for update in range(2):
    obs = torch.randn(64, 8)
    with torch.no_grad(): act, old, val = net.act(obs)
    ret = torch.randn(64); adv = ret - val; adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for epoch in range(2):
        for idx in torch.randperm(64).split(32):
            lp, ent, v = net.evaluate(obs[idx], act[idx])
            ratio = (lp - old[idx]).exp()
            s1, s2 = ratio * adv[idx], torch.clamp(ratio, 0.8, 1.2) * adv[idx]
            loss = -torch.min(s1, s2).mean() + 0.5 * (v - ret[idx]).pow(2).mean() - 0.01 * ent.mean()
            opt.zero_grad(); loss.backward(); nn.utils.clip_grad_norm_(net.parameters(), 0.5); opt.step()
