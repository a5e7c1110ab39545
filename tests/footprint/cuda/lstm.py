# A language model of LSTM layers, hidden state carried from batch to batch.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, vocabulary=20000, width=650, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, layers, dropout=0.5)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, tokens, state):
        x, state = self.lstm(self.drop(self.embed(tokens)), state)
        return self.out(self.drop(x)), state


model = Model().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=20.0)
tokens = torch.randint(0, 20000, (36, 20), device="cuda")
state = (torch.zeros(2, 20, 650, device="cuda"), torch.zeros(2, 20, 650, device="cuda"))
for step in range(3):
    state = tuple(each.detach() for each in state)
    logits, state = model(tokens[:-1], state)
    loss = F.cross_entropy(logits.view(-1, 20000), tokens[1:].view(-1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
