import torch
from transformers import AutoModelForCausalLM, LlamaConfig
config = LlamaConfig(vocab_size=300, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128)
model = AutoModelForCausalLM.from_config(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randint(0, 300, (4, 16))
loss = model(input_ids=x, labels=x).loss
loss.backward()
optimizer.step()
