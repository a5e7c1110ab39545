import torch


def train_one_epoch(model, criterion, loader, optimizer, scaler, device, accum_iter, max_norm):
    model.train(True)
    optimizer.zero_grad()
    for step, (samples, targets) in enumerate(loader):
        samples, targets = samples.to(device, non_blocking=True), targets.to(device, non_blocking=True)
        with torch.autocast("cuda"):
            loss = criterion(model(samples), targets) / accum_iter
        scaler.scale(loss).backward()
        if (step + 1) % accum_iter == 0:
            scaler.unscale_(optimizer)
            grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            if not torch.isfinite(grad_norm):
                print("gradients are not finite")
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
