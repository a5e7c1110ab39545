import torch
from torch import nn


def apply_gradients(scaler, optimizer, parameters, max_norm):
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(parameters, max_norm)
    scaler.step(optimizer)
    optimizer.zero_grad(set_to_none=True)


class Loop:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda")

    def after_step(self):
        self.scaler.update()

    def run(self, steps):
        for _ in range(steps):
            with torch.autocast("cuda"):
                loss = self.model(torch.randn(4, 5, device="cuda")).square().mean()
            self.scaler.scale(loss).backward()
            apply_gradients(self.scaler, self.optimizer, self.model.parameters(), 1.0)
            self.after_step()


Loop(nn.Linear(5, 5).cuda()).run(3)
