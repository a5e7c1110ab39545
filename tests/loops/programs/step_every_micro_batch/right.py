import torch
from torch import nn


def train(model, batches, accumulation=4):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for i, (x, y) in enumerate(batches):
        loss = nn.functional.mse_loss(model(x), y) / accumulation
        loss.backward()
        if (i + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()


train(nn.Linear(3, 1), [(torch.randn(2, 3), torch.randn(2, 1)) for _ in range(12)])
