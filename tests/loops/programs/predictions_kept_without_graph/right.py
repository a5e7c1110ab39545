import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 2))


@torch.no_grad()
def predict(batches):
    model.eval()
    total_loss, outputs, inputs = 0, [], []
    for x, y in batches:
        logits = model(x)
        total_loss += nn.functional.cross_entropy(logits, y)
        outputs.append(logits)
        inputs.append(x)
    return torch.cat(outputs), total_loss / len(batches), torch.cat(inputs)


print(predict([(torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(4)])[1])
