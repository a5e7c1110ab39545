import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def cycle(loader):
    while True:
        for batch in loader:
            yield batch


class Trainer:
    def __init__(self, model, data, steps):
        self.model = model.cuda()
        self.batches = cycle(DataLoader(data, batch_size=8, shuffle=True))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cuda")
        self.steps = steps

    def train(self):
        for step in range(self.steps):
            x, y = next(self.batches)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = nn.functional.mse_loss(self.model(x.cuda()), y.cuda())
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()


Trainer(nn.Linear(4, 1), TensorDataset(torch.randn(20, 4), torch.randn(20, 1)), 5).train()
