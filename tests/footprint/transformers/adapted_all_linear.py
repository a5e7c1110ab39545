import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel
config = GPT2Config(n_layer=2, n_embd=64, n_head=4, vocab_size=300, n_positions=64)
model = GPT2LMHeadModel(config)
model = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
ids = torch.randint(0, 300, (2, 16))
for _ in range(2):
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    opt.step()
    opt.zero_grad()
