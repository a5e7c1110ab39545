import torch
from torch import nn

layer = nn.TransformerEncoderLayer(16, nhead=2, dim_feedforward=32, batch_first=True)
model = nn.Sequential(nn.Embedding(30, 16), nn.TransformerEncoder(layer, 2), nn.Linear(16, 30))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
for step in range(3):
    tokens = torch.randint(0, 30, (2, 8))
    loss = nn.functional.cross_entropy(model(tokens).transpose(1, 2), tokens)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
