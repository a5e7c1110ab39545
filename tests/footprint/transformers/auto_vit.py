import torch
from transformers import AutoModelForImageClassification, ViTConfig
config = ViTConfig(hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=32, patch_size=8, num_labels=5)
model = AutoModelForImageClassification.from_config(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(4, 3, 32, 32); y = torch.randint(0, 5, (4,))
loss = model(pixel_values=x, labels=y).loss
loss.backward()
optimizer.step()
