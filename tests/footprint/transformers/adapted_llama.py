import torch
from transformers import LlamaConfig, AutoModelForCausalLM
from peft import LoraConfig, get_peft_model
config = LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=128)
model = AutoModelForCausalLM.from_config(config)
peft_config = LoraConfig(r=8, lora_alpha=32, target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"], lora_dropout=0.05, bias="none", task_type="CAUSAL_LM")
model = get_peft_model(model, peft_config)
opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
ids = torch.randint(0, 128, (2, 16))
for _ in range(2):
    out = model(input_ids=ids, labels=ids)
    opt.zero_grad(); out.loss.backward(); opt.step()
