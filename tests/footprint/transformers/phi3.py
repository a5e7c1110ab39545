import torch
from transformers import Phi3Config, Phi3ForCausalLM

config = Phi3Config(hidden_size=128, intermediate_size=344, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=2000, pad_token_id=0)
model = Phi3ForCausalLM(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
ids = torch.randint(0, 1000, (2, 64))
out = model(input_ids=ids, labels=ids)
loss = out.loss
loss.backward()
optimizer.step()
