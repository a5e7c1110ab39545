"""Train a tiny GPT on a repeated phrase: cosine schedule, gradient accumulation, evaluation of both splits."""
import math

import torch
import torch.nn.functional as F

from gpt_model import TinyGPT

# -----------------------------------------------------------------------------
batch_size = 4
block_size = 16
max_iters = 4
eval_interval = 2
eval_iters = 2
learning_rate = 3e-4
min_lr = 3e-5
warmup_iters = 1
gradient_accumulation_steps = 2
grad_clip = 1.0
device = "cpu"
# -----------------------------------------------------------------------------

torch.manual_seed(1337)

phrase = "to see a world in a grain of sand and a heaven in a wild flower "
text = phrase * 8
chars = sorted(list(set(text)))
vocab_size = len(chars)
stoi = {ch: i for i, ch in enumerate(chars)}


def encode(s):
    return [stoi[c] for c in s]


data = torch.tensor(encode(text), dtype=torch.long)
n = int(0.8 * len(data))
train_data = data[:n]
val_data = data[n:]


def get_batch(split):
    source = train_data if split == "train" else val_data
    ix = torch.randint(len(source) - block_size, (batch_size,))
    x = torch.stack([source[i:i + block_size] for i in ix])
    y = torch.stack([source[i + 1:i + block_size + 1] for i in ix])
    x, y = x.to(device), y.to(device)
    return x, y


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    decay_ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    coeff = 0.5 * (1.0 + math.cos(math.pi * decay_ratio))
    return min_lr + coeff * (learning_rate - min_lr)


def compute_loss(model, x, y):
    logits = model(x)
    B, T, C = logits.shape
    return F.cross_entropy(logits.view(B * T, C), y[:, 1:].reshape(-1))


@torch.no_grad()
def estimate_loss(model):
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y = get_batch(split)
            losses[k] = compute_loss(model, X, Y).item()
        out[split] = losses.mean()
    model.train()
    return out


model = TinyGPT(vocab_size, block_size).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.1)

for it in range(max_iters):
    for group in optimizer.param_groups:
        group["lr"] = get_lr(it)
    if it % eval_interval == 0:
        losses = estimate_loss(model)
        print(f"step {it}: train {losses['train']:.4f}, val {losses['val']:.4f}")
    optimizer.zero_grad(set_to_none=True)
    for micro_step in range(gradient_accumulation_steps):
        xb, yb = get_batch("train")
        loss = compute_loss(model, xb, yb) / gradient_accumulation_steps
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()

with torch.no_grad():
    context = val_data[:block_size].unsqueeze(0)
    next_logits = model(context)[:, -1]
    ranked = next_logits.sort(descending=True)
    best = ranked.indices[0, :3]
print(best)
