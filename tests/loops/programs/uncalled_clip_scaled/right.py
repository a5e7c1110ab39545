import torch


class MixedPrecisionTrainer:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        self.scaler = torch.amp.GradScaler("cuda")

    def _unscale(self):
        self.scaler.unscale_(self.optimizer)

    def train_step(self, batch, step):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = self.model(batch) / self.config.accumulation
        self.scaler.scale(loss).backward()
        if (step + 1) % self.config.accumulation == 0:
            self._unscale()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_norm)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
        return loss.detach()
