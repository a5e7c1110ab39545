import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.device = torch.device("cuda")
        self.model = model.to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cuda")

    def forward_loss(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16):
            return F.mse_loss(self.model(x), y)

    def _backward(self, loss):
        self.scaler.scale(loss).backward()

    def _apply(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)

    def fit(self, batches):
        self.model.train()
        for x, y in batches:
            loss = self.forward_loss(x.to(self.device), y.to(self.device))
            self._backward(loss)
            self._apply()


model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
Trainer(model).fit([(torch.randn(4, 8), torch.randn(4, 2)) for _ in range(3)])
