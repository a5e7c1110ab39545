import torch
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

class Texts(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        ids = torch.randint(0, 1000, (64,))
        return {"input_ids": ids, "labels": ids.clone()}

config = LlamaConfig(hidden_size=128, intermediate_size=344, num_hidden_layers=2, num_attention_heads=4, vocab_size=2000)
model = LlamaForCausalLM(config)
args = TrainingArguments("/tmp/out25", per_device_train_batch_size=4, max_steps=1, learning_rate=1e-4, report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=Texts())
trainer.train()
