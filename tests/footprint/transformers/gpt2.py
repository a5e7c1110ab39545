import torch
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(n_embd=128, n_layer=3, n_head=4, vocab_size=2000)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
ids = torch.randint(0, 1000, (2, 64))
out = model(input_ids=ids, labels=ids)
loss = out.loss
loss.backward()
optimizer.step()
