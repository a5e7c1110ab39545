import torch
from torch import nn

actor = nn.Linear(4, 2).cuda()
critic = nn.Linear(4, 1).cuda()
opt_actor = torch.optim.Adam(actor.parameters(), lr=3e-4)
opt_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")

for step in range(4):
    state = torch.randn(16, 4, device="cuda")
    returns = torch.randn(16, 1, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        value = critic(state)
        advantage = (returns - value).detach()
        policy = actor(state).log_softmax(dim=-1)
        loss_actor = -(policy[:, :1] * advantage).mean()
        loss_critic = (returns - value).pow(2).mean()
    opt_actor.zero_grad()
    opt_critic.zero_grad()
    scaler.scale(loss_actor).backward()
    scaler.scale(loss_critic).backward()
    scaler.step(opt_actor)
    scaler.step(opt_critic)
    scaler.update()
