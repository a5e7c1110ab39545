import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model = model.to(device)
if torch.cuda.device_count() > 1:
    model = nn.DataParallel(model)
initial = {name: p.detach().clone() for name, p in model.named_parameters()}
model.load_state_dict(initial)
for _ in range(4):
    x, y = torch.randn(4, 4, device=device), torch.randint(0, 2, (4,), device=device)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
