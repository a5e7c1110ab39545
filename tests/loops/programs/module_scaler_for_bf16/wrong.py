import torch

AMP_DTYPE = torch.bfloat16
scaler = torch.amp.GradScaler("cuda")


def step(model, optimizer, x, y):
    with torch.autocast("cuda", AMP_DTYPE):
        loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def train(model, loader):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for x, y in loader:
        step(model, optimizer, x.cuda(), y.cuda())
