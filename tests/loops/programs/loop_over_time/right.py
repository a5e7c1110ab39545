import torch
from torch import nn

embed, head = nn.Linear(4, 8), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=1e-3)
for _ in range(3):
    frames, labels = torch.randn(3, 10, 4), torch.randint(0, 2, (3, 10))
    logits = head(torch.relu(embed(frames)))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
