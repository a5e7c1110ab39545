import torch
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(vocab_size=600, n_positions=48, n_embd=96, n_layer=4, n_head=6)
model = GPT2LMHeadModel(config)
model.gradient_checkpointing_enable()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
ids = torch.randint(0, 600, (3, 48))
loss = model(input_ids=ids, labels=ids).loss
loss.backward()
optimizer.step()
