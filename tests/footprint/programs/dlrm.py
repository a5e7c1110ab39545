# Embeddings of categories beside numbers; BCE with logits.
import torch
import torch.nn as nn


class Recommender(nn.Module):
    def __init__(self, sizes=(100, 50, 20), width=16, dense=8):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(size, width) for size in sizes])
        self.bottom = nn.Sequential(nn.Linear(dense, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(width * 4, 64), nn.BatchNorm1d(64), nn.LeakyReLU(), nn.Dropout(0.5), nn.Linear(64, 1))

    def forward(self, dense, categories):
        parts = [self.bottom(dense)] + [table(categories[:, i]) for i, table in enumerate(self.tables)]
        return self.top(torch.cat(parts, dim=1)).squeeze(1)


model = Recommender()
optimizer = torch.optim.Adadelta(model.parameters())
criterion = nn.BCEWithLogitsLoss()
dense, categories, clicked = torch.randn(64, 8), torch.randint(0, 20, (64, 3)), torch.rand(64)
loss = criterion(model(dense, categories), clicked)
loss.backward()
optimizer.step()
