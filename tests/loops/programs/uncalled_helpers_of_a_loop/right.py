import torch


class GradientManager:
    def __init__(self, model, optimizer, scaler, max_norm):
        self.model, self.optimizer, self.scaler, self.max_norm = model, optimizer, scaler, max_norm

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def clip(self):
        return torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)

    def unscale(self):
        self.scaler.unscale_(self.optimizer)

    def step(self):
        self.scaler.step(self.optimizer)

    def update(self):
        self.scaler.update()

    def clear(self):
        self.optimizer.zero_grad()
