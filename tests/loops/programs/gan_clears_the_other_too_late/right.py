import torch
from torch import nn

policy, value = nn.Linear(6, 3), nn.Linear(6, 1)
opt_policy = torch.optim.Adam(policy.parameters(), lr=1e-3)
opt_value = torch.optim.Adam(value.parameters(), lr=1e-3)

for _ in range(8):
    state, ret = torch.randn(16, 6), torch.randn(16)
    baseline = value(state).squeeze(1)
    logp = policy(state).log_softmax(-1)[:, 0]
    loss_policy = -(logp * (ret - baseline).detach()).mean()
    loss_value = nn.functional.mse_loss(baseline, ret)
    opt_policy.zero_grad()
    opt_value.zero_grad()
    loss_policy.backward()
    loss_value.backward()
    opt_policy.step()
    opt_value.step()
