# A transformer of PyTorch's own layers with dropout and a padding mask, Adam.
import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, vocabulary=30000, width=512, classes=10):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        layer = nn.TransformerEncoderLayer(width, 8, 2048, dropout=0.1, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        padding = tokens == 0
        x = self.encoder(self.embed(tokens), src_key_padding_mask=padding)
        return self.head(x.mean(dim=1))


model = Classifier().cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
tokens = torch.randint(1, 30000, (32, 256)).cuda()
labels = torch.randint(0, 10, (32,)).cuda()
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(model(tokens), labels)
    loss.backward()
    optimizer.step()
