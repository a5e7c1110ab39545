# Large weights and a small batch: the optimizer's step is the peak.
import torch
import torch.nn as nn

model = nn.Sequential(*[part for _ in range(4) for part in (nn.Linear(4096, 4096), nn.ReLU())], nn.Linear(4096, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, amsgrad=True)
x, y = torch.randn(64, 4096, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
