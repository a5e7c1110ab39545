"""Mixture of experts: top-k routing with a loop over the experts, load-balancing loss."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class MoEConfig:
    hidden_size: int = 32
    intermediate_size: int = 48
    num_experts: int = 4
    top_k: int = 2
    num_layers: int = 2
    vocab_size: int = 60
    aux_coef: float = 0.01


class Expert(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.w1 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.w2 = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.w3 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoE(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_experts = config.num_experts
        self.top_k = config.top_k
        self.gate = nn.Linear(config.hidden_size, config.num_experts, bias=False)
        self.experts = nn.ModuleList([Expert(config) for _ in range(config.num_experts)])

    def forward(self, hidden_states):
        batch_size, sequence_length, hidden_dim = hidden_states.shape
        hidden_states = hidden_states.view(-1, hidden_dim)
        router_logits = self.gate(hidden_states)

        routing_weights = F.softmax(router_logits, dim=1, dtype=torch.float)
        routing_weights, selected_experts = torch.topk(routing_weights, self.top_k, dim=-1)
        routing_weights = routing_weights / routing_weights.sum(dim=-1, keepdim=True)
        routing_weights = routing_weights.to(hidden_states.dtype)

        final_hidden_states = torch.zeros((batch_size * sequence_length, hidden_dim), dtype=hidden_states.dtype)
        expert_mask = F.one_hot(selected_experts, num_classes=self.num_experts).permute(2, 1, 0)

        for expert_idx in range(self.num_experts):
            expert_layer = self.experts[expert_idx]
            idx, top_x = torch.where(expert_mask[expert_idx])
            if top_x.shape[0] == 0:
                continue
            current_state = hidden_states[top_x]
            current_hidden_states = expert_layer(current_state) * routing_weights[top_x, idx, None]
            final_hidden_states.index_add_(0, top_x, current_hidden_states)
        final_hidden_states = final_hidden_states.reshape(batch_size, sequence_length, hidden_dim)
        return final_hidden_states, router_logits


def load_balancing_loss(router_logits, num_experts, top_k):
    weights = F.softmax(router_logits, dim=-1)
    _, selected = torch.topk(weights, top_k, dim=-1)
    mask = F.one_hot(selected, num_experts).float()
    tokens_per_expert = mask.mean(dim=0)
    prob_per_expert = weights.mean(dim=0)
    return num_experts * torch.sum(tokens_per_expert * prob_per_expert.unsqueeze(0))


class MoEModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.norms = nn.ModuleList([nn.LayerNorm(config.hidden_size) for _ in range(config.num_layers)])
        self.blocks = nn.ModuleList([SparseMoE(config) for _ in range(config.num_layers)])
        self.head = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, ids):
        x = self.embed(ids)
        aux = x.new_zeros(())
        for norm, block in zip(self.norms, self.blocks):
            out, router_logits = block(norm(x))
            x = x + out
            aux = aux + load_balancing_loss(router_logits, self.config.num_experts, self.config.top_k)
        return self.head(x), aux


def main():
    torch.manual_seed(0)
    config = MoEConfig()
    model = MoEModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids = torch.randint(config.vocab_size, (2, 9))
    inputs, targets = ids[:, :-1], ids[:, 1:]
    logits, aux = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten()) + config.aux_coef * aux
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
