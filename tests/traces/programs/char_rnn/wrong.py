# Character-level language model with a vanilla RNN, trained on one short text.
import torch
import torch.nn as nn

text = "the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. " * 3
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)
vocab_size = len(chars)

seq_len = 20
batch_size = 4
hidden_size = 48

torch.manual_seed(42)


class CharRNN(nn.Module):
    def __init__(self, vocab_size, hidden_size, num_layers=2):
        super().__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.embed = nn.Embedding(vocab_size, hidden_size)
        self.rnn = nn.RNN(hidden_size, hidden_size, num_layers, batch_first=True, nonlinearity="tanh")
        self.out = nn.Linear(hidden_size, vocab_size)

    def forward(self, tokens, hidden=None):
        emb = self.embed(tokens)
        states, hidden = self.rnn(emb, hidden)
        logits = self.out(states)
        return logits, hidden

    def init_hidden(self, batch):
        return torch.zeros(self.num_layers, batch, self.hidden_size)


def get_batch():
    starts = torch.randint(0, len(data) - seq_len - 1, (batch_size,))
    x = torch.stack([data[s:s + seq_len] for s in starts])
    y = torch.stack([data[s + 1:s + seq_len + 1] for s in starts])
    return x, y


def sample(model, prompt, length=10):
    model.eval()
    tokens = torch.tensor([[stoi[c] for c in prompt]])
    hidden = model.init_hidden(1)
    result = prompt
    with torch.no_grad():
        for _ in range(length):
            logits, hidden = model(tokens, hidden)
            last = logits[:, -1]
            probs = torch.softmax(last, dim=-1)
            tokens = torch.multinomial(probs, 1)
            result += itos[tokens.item()]
    model.train()
    return result


model = CharRNN(vocab_size, hidden_size)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(5):
    x, y = get_batch()
    hidden = model.init_hidden(batch_size)
    logits, hidden = model(x, hidden)
    loss = criterion(logits, y)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 2 == 0:
        print(step, loss.item())

print(sample(model, "the "))
