import lightning as L
import torch
from torch import nn


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator, self.critic = nn.Linear(4, 8), nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        opt_g, opt_c = self.optimizers()
        fake = self.generator(torch.randn(batch.size(0), 4, device=self.device))
        loss_c = self.critic(fake.detach()).mean() - self.critic(batch).mean()
        opt_c.zero_grad()
        self.manual_backward(loss_c)
        self.clip_gradients(opt_c, gradient_clip_val=1.0)
        opt_c.step()
        opt_g.zero_grad()
        self.manual_backward(-self.critic(fake).mean())
        opt_g.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.generator.parameters()), torch.optim.Adam(self.critic.parameters())
