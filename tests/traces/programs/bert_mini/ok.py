"""BERT-like encoder with masked-token and sentence heads."""
import math
from types import SimpleNamespace

import torch
from torch import nn


class BertEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=1e-12)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings).expand((1, -1)))

    def forward(self, input_ids, token_type_ids):
        seq_length = input_ids.size()[1]
        position_ids = self.position_ids[:, :seq_length]
        embeddings = self.word_embeddings(input_ids)
        embeddings = embeddings + self.position_embeddings(position_ids)
        embeddings = embeddings + self.token_type_embeddings(token_type_ids)
        return self.dropout(self.LayerNorm(embeddings))


class BertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = int(config.hidden_size / config.num_attention_heads)
        self.all_head_size = self.num_attention_heads * self.attention_head_size
        self.query = nn.Linear(config.hidden_size, self.all_head_size)
        self.key = nn.Linear(config.hidden_size, self.all_head_size)
        self.value = nn.Linear(config.hidden_size, self.all_head_size)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_attention_heads, self.attention_head_size)
        x = x.view(new_x_shape)
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        attention_scores = attention_scores + attention_mask
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        new_context_layer_shape = context_layer.size()[:-2] + (self.all_head_size,)
        context_layer = context_layer.view(new_context_layer_shape)
        return self.dense(context_layer)


class BertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = BertSelfAttention(config)
        self.norm1 = nn.LayerNorm(config.hidden_size)
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        self.output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.norm2 = nn.LayerNorm(config.hidden_size)

    def forward(self, hidden_states, attention_mask):
        hidden_states = self.norm1(hidden_states + self.attention(hidden_states, attention_mask))
        intermediate = nn.functional.gelu(self.intermediate(hidden_states))
        return self.norm2(hidden_states + self.output(intermediate))


class BertForPreTraining(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = BertEmbeddings(config)
        self.layer = nn.ModuleList([BertLayer(config) for _ in range(config.num_hidden_layers)])
        self.pooler = nn.Sequential(nn.Linear(config.hidden_size, config.hidden_size), nn.Tanh())
        self.predictions = nn.Linear(config.hidden_size, config.vocab_size)
        self.seq_relationship = nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        extended_attention_mask = attention_mask.unsqueeze(1).unsqueeze(2)
        extended_attention_mask = (1.0 - extended_attention_mask) * -10000.0
        hidden = self.embeddings(input_ids, token_type_ids)
        for layer_module in self.layer:
            hidden = layer_module(hidden, extended_attention_mask)
        first_token = hidden[:, 0]
        pooled = self.pooler(first_token)
        return self.predictions(hidden), self.seq_relationship(pooled)


config = SimpleNamespace(
    vocab_size=100, hidden_size=36, num_hidden_layers=2, num_attention_heads=6, intermediate_size=72,
    hidden_dropout_prob=0.1, max_position_embeddings=40, type_vocab_size=2,
)
torch.manual_seed(0)
model = BertForPreTraining(config)
input_ids = torch.randint(1, config.vocab_size, (3, 15))
lengths = torch.tensor([15, 11, 7])
attention_mask = (torch.arange(15)[None, :] < lengths[:, None]).long()
masked_labels = torch.where(torch.rand(3, 15) < 0.3, input_ids, torch.full_like(input_ids, -100))
next_sentence = torch.tensor([0, 1, 1])
scores, relation = model(input_ids, attention_mask)
mlm_loss = nn.functional.cross_entropy(scores.view(-1, config.vocab_size), masked_labels.view(-1))
nsp_loss = nn.functional.cross_entropy(relation, next_sentence)
total = mlm_loss + nsp_loss
total.backward()
print(total.item())
