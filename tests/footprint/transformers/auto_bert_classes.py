import torch
from transformers import AutoModelForSequenceClassification, BertConfig
config = BertConfig(vocab_size=300, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, num_labels=3)
model = AutoModelForSequenceClassification.from_config(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randint(0, 300, (4, 16)); y = torch.randint(0, 3, (4,))
loss = model(input_ids=x, labels=y).loss
loss.backward()
optimizer.step()
