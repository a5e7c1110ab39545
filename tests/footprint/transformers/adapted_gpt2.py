import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel
from peft import LoraConfig, TaskType, get_peft_model
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=64, n_head=4, vocab_size=200, n_positions=64))
model = get_peft_model(model, LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=16, lora_dropout=0.05))
model.print_trainable_parameters()
opt = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-3)
ids = torch.randint(0, 200, (2, 16))
for _ in range(2):
    loss = model(input_ids=ids, labels=ids).loss
    opt.zero_grad(); loss.backward(); opt.step()
