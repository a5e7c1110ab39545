import torch
from transformers import BertConfig, BertForSequenceClassification

config = BertConfig(hidden_size=128, intermediate_size=256, num_hidden_layers=3, num_attention_heads=4, vocab_size=2000, num_labels=5)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
ids = torch.randint(0, 1000, (4, 32))
mask = torch.ones(4, 32, dtype=torch.long)
labels = torch.randint(0, 5, (4,))
out = model(input_ids=ids, attention_mask=mask, labels=labels)
loss = out.loss
loss.backward()
optimizer.step()
