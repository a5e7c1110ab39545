import torch


def train(model, dataloader, lr=5e-5, accumulation_steps=4):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    model.train()
    for i, batch in enumerate(dataloader):
        outputs = model(**batch)
        loss = outputs.loss / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
