import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
choices = {
    "sgd": torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4),
    "graph": torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4),
    "field": torch.optim.Adam(net.parameters(), lr=1e-2, betas=(0.9, 0.99), eps=1e-15),
    "adamw": torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=0.1),
    "noam": torch.optim.Adam(net.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9),
}
warmup = torch.optim.lr_scheduler.LambdaLR(choices["noam"], lambda s: 1e-4 * min(1.0, (s + 1) / 10))
for step in range(4):
    loss = nn.functional.cross_entropy(net(torch.randn(4, 4)), torch.randint(0, 2, (4,)))
    choices["noam"].zero_grad()
    loss.backward()
    choices["noam"].step()
    warmup.step()
