import torch
from torch import nn

backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
head = nn.Linear(16, 2)
model = nn.Sequential(backbone, head)
for p in backbone.parameters():
    p.requires_grad = False
optimizer = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-3)

for epoch in range(6):
    if epoch == 3:
        for p in backbone.parameters():
            p.requires_grad = True
        optimizer.add_param_group({"params": backbone.parameters(), "lr": 1e-4})
    x, y = torch.randn(8, 8), torch.randint(0, 2, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
