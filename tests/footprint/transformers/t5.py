import torch
from transformers import T5Config, T5ForConditionalGeneration

config = T5Config(d_model=128, d_kv=32, d_ff=256, num_layers=2, num_heads=4, vocab_size=2000, decoder_start_token_id=0)
model = T5ForConditionalGeneration(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
ids = torch.randint(0, 1000, (2, 64))
out = model(input_ids=ids, labels=ids)
loss = out.loss
loss.backward()
optimizer.step()
