import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accumulation = 4
loader = DataLoader(TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,))), batch_size=4)
model = nn.Linear(8, 3).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
criterion = nn.CrossEntropyLoss()

optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    with torch.autocast("cuda"):
        loss = criterion(model(x.cuda()), y.cuda()) / accumulation
    scaler.scale(loss).backward()
    if (i + 1) % accumulation == 0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
