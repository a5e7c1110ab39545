import torch
from torch import nn

gradient_accumulation_steps = 4
max_iters = 5
model = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6))
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=1e-1)


def get_batch():
    return torch.randn(4, 6), torch.randint(0, 6, (4,))


iter_num = 0
X, Y = get_batch()
while True:
    for micro_step in range(gradient_accumulation_steps):
        loss = nn.functional.cross_entropy(model(X), Y)
        loss = loss / gradient_accumulation_steps
        X, Y = get_batch()
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > max_iters:
        break
