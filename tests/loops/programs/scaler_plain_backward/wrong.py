import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
scaler = torch.amp.GradScaler("cuda")

inputs = torch.randn(64, 16)
labels = torch.randint(0, 4, (64,))

for epoch in range(2):
    for start in range(0, 64, 16):
        x = inputs[start:start + 16].to(device)
        y = labels[start:start + 16].to(device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(x), y)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
