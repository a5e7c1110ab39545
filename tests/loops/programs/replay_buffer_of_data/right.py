import random
from collections import deque

import torch
from torch import nn

q_net = nn.Linear(4, 2)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
memory = deque(maxlen=64)
recent = deque(maxlen=10)
state = torch.randn(4)
for step in range(40):
    with torch.no_grad():
        action = q_net(state).argmax()
    next_state = torch.randn(4)
    memory.append((state, action, next_state, torch.randn(())))
    state = next_state
    if len(memory) < 8:
        continue
    s, a, s2, r = (torch.stack(each) for each in zip(*random.sample(list(memory), 8)))
    loss = (q_net(s).gather(1, a[:, None]).squeeze(1) - r).pow(2).mean()
    recent.append(loss.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
