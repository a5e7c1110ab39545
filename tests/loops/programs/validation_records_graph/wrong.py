import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(self, batches):
        self.model.train()
        for x, y in batches:
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def validate(self, batches):
        self.model.eval()
        losses = []
        for x, y in batches:
            logits = self.model(x)
            losses.append(nn.functional.cross_entropy(logits, y).item())
        return sum(losses) / len(losses)


batches = [(torch.randn(4, 5), torch.randint(0, 2, (4,))) for _ in range(3)]
held_out = [(torch.randn(4, 5), torch.randint(0, 2, (4,))) for _ in range(2)]
trainer = Trainer(nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.2), nn.Linear(8, 2)))
for epoch in range(2):
    trainer.train(batches)
    print(trainer.validate(held_out))
