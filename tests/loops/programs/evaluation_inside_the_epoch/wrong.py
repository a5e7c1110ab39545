import torch
from torch import nn


@torch.no_grad()
def estimate_loss(model, batches):
    model.eval()
    losses = torch.stack([nn.functional.cross_entropy(model(x), y) for x, y in batches])
    return losses.mean().item()


def get_batches(count):
    return [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(count)]


model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
held_out = get_batches(3)
for iteration, (x, y) in enumerate(get_batches(12)):
    if iteration % 4 == 0:
        print(iteration, estimate_loss(model, held_out))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
