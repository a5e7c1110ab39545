import torch
from torch import nn
from torch.utils.data import DataLoader


class AverageMeter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def avg(self):
        return self.total / max(1, self.count)


class Trainer:
    def __init__(self, model, optimizer, scheduler, device, cfg):
        self.model = model.to(device)
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.device = device
        self.cfg = cfg
        self.scaler = torch.amp.GradScaler("cuda", enabled=cfg.amp)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def forward_loss(self, batch):
        images, labels = (t.to(self.device, non_blocking=True) for t in batch)
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.cfg.amp):
            return self.criterion(self.model(images), labels)

    def optimize(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        if self.cfg.max_norm:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.scheduler.step()

    def train_epoch(self, loader):
        self.model.train()
        meter = AverageMeter()
        for i, batch in enumerate(loader):
            loss = self.forward_loss(batch)
            self.optimize(loss)
            if i % self.cfg.log_every == 0:
                meter.update(loss.item())
        return meter.avg
