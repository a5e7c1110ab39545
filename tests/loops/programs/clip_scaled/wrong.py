import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class CharModel(nn.Module):
    def __init__(self, vocab=32, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.head(hidden)


def train_step(model, optimizer, scaler, tokens, targets):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    scaler.scale(loss).backward()
    clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


model = CharModel().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
for step in range(3):
    tokens = torch.randint(0, 32, (4, 9), device="cuda")
    train_step(model, optimizer, scaler, tokens[:, :-1], tokens[:, 1:])
