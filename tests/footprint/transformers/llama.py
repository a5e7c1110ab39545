import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=128, intermediate_size=344, num_hidden_layers=3, num_attention_heads=4, vocab_size=2000)
model = LlamaForCausalLM(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
ids = torch.randint(0, 1000, (2, 64))
out = model(input_ids=ids, labels=ids)
loss = out.loss
loss.backward()
optimizer.step()
