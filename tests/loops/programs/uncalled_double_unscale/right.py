import torch
from torch.amp import GradScaler


def finish(scaler, optimizer, model, max_norm):
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()


def fit(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scaler = GradScaler("cuda")
    for epoch in range(epochs):
        for batch in loader:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda"):
                loss = model(batch)
            scaler.scale(loss).backward()
            finish(scaler, optimizer, model, 1.0)
