# The step that the Trainer of Lightning makes.
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Lit(L.LightningModule):
    def __init__(self, width=256, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))
    def forward(self, x):
        return self.net(x)
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)

loader = DataLoader(TensorDataset(torch.randn(128, 32), torch.randint(0, 4, (128,))), batch_size=64)
model = Lit()
trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(model, loader)
