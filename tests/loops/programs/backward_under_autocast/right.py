import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

train_loader = DataLoader(TensorDataset(torch.randn(48, 8), torch.randn(48, 1)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 1)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
scaler = torch.amp.GradScaler("cuda")

for epoch in range(2):
    for x, y in train_loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            pred = model(x.cuda())
            loss = nn.functional.mse_loss(pred, y.cuda())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
