import torch
from transformers import AutoModelForCausalLM, GPT2Config
config = GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=500, n_positions=128)
model = AutoModelForCausalLM.from_config(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randint(0, 500, (2, 32))
loss = model(input_ids=x, labels=x).loss
loss.backward()
optimizer.step()
