import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.inference_mode()
def evaluate():
    model.eval()
    with torch.autocast("cuda", dtype=torch.float16):
        return model(torch.randn(16, 8, device="cuda")).float().softmax(1)


for epoch in range(2):
    model.train()
    for _ in range(3):
        x, y = torch.randn(8, 8, device="cuda"), torch.randint(0, 2, (8,), device="cuda")
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(evaluate().mean(0))
