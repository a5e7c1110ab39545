import torch
from transformers import ViTConfig, ViTForImageClassification

config = ViTConfig(hidden_size=96, intermediate_size=192, num_hidden_layers=3, num_attention_heads=4, image_size=64, patch_size=8, num_labels=10)
model = ViTForImageClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
pixels = torch.randn(4, 3, 64, 64)
labels = torch.randint(0, 10, (4,))
out = model(pixel_values=pixels, labels=labels)
loss = out.loss
loss.backward()
optimizer.step()
