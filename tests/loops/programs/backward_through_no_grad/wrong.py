import torch
from torch import nn

encoder, head = nn.Linear(8, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD(list(encoder.parameters()) + list(head.parameters()), lr=0.1)


def forward(x):
    with torch.no_grad():
        logits = head(encoder(x))
    return logits


for _ in range(3):
    x, y = torch.randn(4, 8), torch.randint(0, 2, (4,))
    loss = nn.functional.cross_entropy(forward(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
