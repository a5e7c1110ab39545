import torch
from torch import nn


def finish_window(optimizer, parameters, max_norm):
    torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


model = nn.Linear(10, 2)
params = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(params, lr=2e-4)
window = 2
for i in range(8):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 10)), torch.randint(0, 2, (4,))) / window
    loss.backward()
    if (i + 1) % window == 0:
        finish_window(optimizer, params, 1.0)
