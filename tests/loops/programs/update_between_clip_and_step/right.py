import torch
from torch import nn


def optimize(loss, model, optimizer, scaler, clip=1.0):
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    scaler.step(optimizer)
    scaler.update()


def main():
    device = "cuda"
    model = nn.Linear(6, 6).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device)
    for step in range(4):
        x = torch.randn(5, 6, device=device)
        with torch.autocast(device, dtype=torch.float16):
            loss = (model(x) - x).pow(2).mean()
        optimize(loss, model, optimizer, scaler)


if __name__ == "__main__":
    main()
