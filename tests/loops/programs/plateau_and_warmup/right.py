import torch
from torch import nn

epochs = 4
batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)]
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=len(batches))
for epoch in range(epochs):
    total = 0.0
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch == 0:
            warmup.step()
        total += loss.item()
    plateau.step(total)
