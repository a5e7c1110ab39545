import torch
from torch import nn


class AutoEncoder:
    def __init__(self):
        self.encoder, self.decoder = nn.Linear(8, 2), nn.Linear(2, 8)
        self.probe = nn.Linear(2, 3)
        parameters = list(self.encoder.parameters()) + list(self.decoder.parameters())
        self.optimizer = torch.optim.Adam(parameters, lr=1e-3)
        self.probe_optimizer = torch.optim.SGD(self.probe.parameters(), lr=0.1)

    def train_step(self, x, y):
        code = self.encoder(x)
        loss = nn.functional.mse_loss(self.decoder(code), x)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        probe_loss = nn.functional.cross_entropy(self.probe(code.detach()), y)
        self.probe_optimizer.zero_grad()
        self.probe_optimizer.step()
        return loss.item(), probe_loss.item()


trainer = AutoEncoder()
for _ in range(6):
    trainer.train_step(torch.randn(4, 8), torch.randint(0, 3, (4,)))
