import torch
from torch import nn


class Sam:
    def __init__(self, params, base, rho=0.05):
        self.params, self.base, self.rho = list(params), base, rho
        self.moves = []

    @torch.no_grad()
    def first_step(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        self.moves = [p.grad * (self.rho / norm) for p in self.params]
        for p, move in zip(self.params, self.moves):
            p.add_(move)
        self.base.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for p, move in zip(self.params, self.moves):
            p.sub_(move)
        self.base.step()
        self.base.zero_grad()


model = nn.Linear(5, 2)
sam = Sam(model.parameters(), torch.optim.SGD(model.parameters(), lr=0.1))
for _ in range(4):
    x, y = torch.randn(8, 5), torch.randint(0, 2, (8,))
    nn.functional.cross_entropy(model(x), y).backward()
    sam.first_step()
    nn.functional.cross_entropy(model(x), y).backward()
    sam.second_step()
