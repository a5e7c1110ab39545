"""DDPM: noise schedule, forward process, training step and ancestral sampling with a small conditional MLP-CNN."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def cosine_beta_schedule(timesteps, s=0.008):
    x = torch.linspace(0, timesteps, timesteps + 1)
    alphas_cumprod = torch.cos(((x / timesteps) + s) / (1 + s) * torch.pi * 0.5) ** 2
    alphas_cumprod = alphas_cumprod / alphas_cumprod[0]
    betas = 1 - (alphas_cumprod[1:] / alphas_cumprod[:-1])
    return torch.clip(betas, 0.0001, 0.9999)


def extract(a, t, x_shape):
    batch_size = t.shape[0]
    out = a.gather(-1, t)
    return out.reshape(batch_size, *((1,) * (len(x_shape) - 1)))


class TinyDenoiser(nn.Module):
    def __init__(self, channels=1, width=16, timesteps=20):
        super().__init__()
        self.time = nn.Embedding(timesteps, width)
        self.inp = nn.Conv2d(channels, width, 3, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, x, t):
        h = F.relu(self.inp(x))
        emb = self.time(t).unsqueeze(-1).unsqueeze(-1)
        h = F.relu(self.mid(h + emb))
        return self.out(h)


class Diffusion:
    def __init__(self, model, timesteps=20):
        self.model = model
        self.timesteps = timesteps
        self.betas = cosine_beta_schedule(timesteps)
        alphas = 1.0 - self.betas
        self.alphas_cumprod = torch.cumprod(alphas, dim=0)
        self.alphas_cumprod_prev = F.pad(self.alphas_cumprod[:-1], (1, 0), value=1.0)
        self.sqrt_recip_alphas = torch.sqrt(1.0 / alphas)
        self.sqrt_alphas_cumprod = torch.sqrt(self.alphas_cumprod)
        self.sqrt_one_minus_alphas_cumprod = torch.sqrt(1.0 - self.alphas_cumprod)
        self.posterior_variance = self.betas * (1.0 - self.alphas_cumprod_prev) / (1.0 - self.alphas_cumprod)

    def q_sample(self, x_start, t, noise=None):
        if noise is None:
            noise = torch.randn_like(x_start)
        a = extract(self.sqrt_alphas_cumprod, t, x_start.shape)
        b = extract(self.sqrt_one_minus_alphas_cumprod, t, x_start.shape)
        return a * x_start + b * noise

    def p_losses(self, x_start, t):
        noise = torch.randn_like(x_start)
        x_noisy = self.q_sample(x_start, t, noise)
        predicted_noise = self.model(x_noisy, t)
        return F.mse_loss(predicted_noise, noise)

    @torch.no_grad()
    def p_sample(self, x, t, t_index):
        betas_t = extract(self.betas, t, x.shape)
        scale_t = extract(self.sqrt_one_minus_alphas_cumprod, t, x.shape)
        recip_t = extract(self.sqrt_recip_alphas, t, x.shape)
        model_mean = recip_t * (x - betas_t * self.model(x, t) / scale_t)
        if t_index == 0:
            return model_mean
        variance = extract(self.posterior_variance, t, x.shape)
        return model_mean + torch.sqrt(variance) * torch.randn_like(x)

    @torch.no_grad()
    def sample(self, shape):
        img = torch.randn(shape)
        for i in reversed(range(0, self.timesteps)):
            t = torch.full((shape[0],), i, dtype=torch.long)
            img = self.p_sample(img, t, i)
        return img


torch.manual_seed(0)
model = TinyDenoiser()
diffusion = Diffusion(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data = torch.rand(12, 1, 16, 16) * 2 - 1
for epoch in range(2):
    for batch in data.split(4):
        t = torch.randint(0, diffusion.timesteps, (batch.shape[0],)).long()
        loss = diffusion.p_losses(batch, t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.eval()
samples = diffusion.sample((3, 1, 16, 16))
print(loss.item(), samples.shape)
