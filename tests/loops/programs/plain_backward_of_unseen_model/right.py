import torch


def main(cfg, model, loaders):
    scaler = torch.amp.GradScaler("cuda")
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(params, lr=cfg.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg.epochs)
    for epoch in range(cfg.epochs):
        for batch in loaders["train"]:
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                out = model(**batch)
                loss = out.loss
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        sched.step()
