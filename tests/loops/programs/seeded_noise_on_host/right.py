import torch
from torch import nn

device = torch.device("cuda")
rng = torch.Generator().manual_seed(0)
model = nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(5):
    noise = torch.randn(8, 4, generator=rng).to(device)
    loss = (model(noise) - noise).pow(2).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
