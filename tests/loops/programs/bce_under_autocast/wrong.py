import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(20, 40), nn.ReLU())
        self.score = nn.Linear(40, 1)

    def forward(self, x):
        return torch.sigmoid(self.score(self.features(x)))


model = Detector().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
criterion = nn.BCELoss()

for step in range(3):
    x = torch.randn(8, 20, device="cuda")
    y = torch.randint(0, 2, (8, 1), device="cuda").float()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
