import torch
from transformers import GPT2Config, GPT2LMHeadModel
config = GPT2Config(n_layer=2, n_embd=64, n_head=4, vocab_size=300, n_positions=64)
model = GPT2LMHeadModel.from_pretrained(None, config=config, state_dict={}, ignore_mismatched_sizes=True)
model.train()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
ids = torch.randint(0, 300, (2, 16))
for _ in range(2):
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    opt.step()
    opt.zero_grad()
