import torch
from torch import nn


class Engine:
    def __init__(self, model, use_amp=True):
        self.model = model.cuda()
        self.use_amp = use_amp
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cuda")
        self.criterion = nn.CrossEntropyLoss()

    def optimize(self):
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def run_epoch(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", enabled=self.use_amp):
                loss = self.criterion(self.model(x.cuda()), y.cuda())
            self.scaler.scale(loss).backward()
            self.optimize()


batches = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(4)]
engine = Engine(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3)))
for epoch in range(2):
    engine.run_epoch(batches)
