"""The four translators as plain PyTorch modules: recurrent with three kinds of attention, and a Transformer.

Shapes: B sentences, S source tokens, T target tokens. Sources are packed by length; masks keep padding out of attention.

SPDX-License-Identifier: Apache-2.0
"""
import math

import torch
from torch import nn

UNKNOWN, START, STOP = 0, 1, 2  # ids of the target vocabulary; the source has UNKNOWN only
NOWHERE = -1e9
SKIPPED = 0.3  # of the sentences of a training step do without a Transformer encoder layer's self-attention: single words keep their meaning


class Scores(nn.Module):
    """Attention of one query a sentence [B, decoder] to keys [B, S, encoder]: weights [B, S] and what they gather [B, encoder].

    Products are written as multiply and sum: at these sizes a batched matrix product spends its time on calls.
    """

    def __init__(self, kind: str, encoder: int, decoder: int, width: int):
        super().__init__()
        self.kind = kind
        if kind != "dot":
            self.query = nn.Linear(decoder, width, bias=False)
            self.key = nn.Linear(encoder, width, bias=kind == "additive")
        if kind == "qkv":
            self.value = nn.Linear(encoder, encoder, bias=False)
        if kind == "additive":
            self.score = nn.Linear(width, 1, bias=False)

    def prepare(self, keys):
        if self.kind == "dot":
            return keys, keys
        return self.key(keys), self.value(keys) if self.kind == "qkv" else keys

    def forward(self, query, prepared, mask):
        keys, values = prepared
        if self.kind == "additive":
            scores = self.score(torch.tanh(self.query(query).unsqueeze(1) + keys)).squeeze(-1)
        elif self.kind == "qkv":
            scores = (self.query(query).unsqueeze(1) * keys).sum(-1) / math.sqrt(keys.shape[-1])
        else:
            scores = (query.unsqueeze(1) * keys).sum(-1)
        weights = scores.masked_fill(~mask, NOWHERE).softmax(-1)
        return weights, (weights.unsqueeze(-1) * values).sum(1)


class Recurrent(nn.Module):
    """A bidirectional GRU reads; a GRU writes. "additive" attends before its cell (Bahdanau), "dot" and "qkv" after it, with input feeding (Luong)."""

    def __init__(self, config: dict):
        super().__init__()
        self.kind = config["attention"]
        embedding, hidden = config["embedding"], config["hidden"]
        encoder = 2 * config["encoder_hidden"]
        self.source_embedding = nn.Embedding(config["source_words"], embedding)
        self.target_embedding = nn.Embedding(config["target_words"], embedding)
        self.encoder = nn.GRU(embedding, config["encoder_hidden"], batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(encoder, hidden)
        fed = encoder if self.kind == "additive" else hidden
        self.decoder = nn.GRU(embedding + fed, hidden, batch_first=True)
        self.attention = Scores(self.kind, encoder, hidden, config["attention_width"])
        combined = hidden + encoder + embedding if self.kind == "additive" else hidden + encoder
        self.combine = nn.Linear(combined, hidden)
        self.narrow = nn.Linear(hidden, embedding)  # the output weights are the target embedding's
        self.output_bias = nn.Parameter(torch.zeros(config["target_words"]))
        for table in (self.source_embedding, self.target_embedding):
            nn.init.normal_(table.weight, std=embedding ** -0.5)

    def encode(self, source, lengths):
        """rows [B, S, encoder], mask [B, S], first decoder state [B, hidden] from the two last states."""
        rows = self.source_embedding(source)
        packed = nn.utils.rnn.pack_padded_sequence(rows, lengths, batch_first=True, enforce_sorted=False)
        packed, last = self.encoder(packed)
        rows, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=source.shape[1])
        mask = torch.arange(source.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        return self.attention.prepare(rows), mask, torch.tanh(self.bridge(torch.cat([last[0], last[1]], -1)))

    def start(self, source, lengths):
        prepared, mask, hidden = self.encode(source, lengths)
        fed = torch.zeros(source.shape[0], hidden.shape[-1])
        return {"prepared": prepared, "mask": mask, "hidden": hidden, "fed": fed}

    def from_tokens(self, rows):
        """What the token rows [..., embedding] add to the gates of the decoder's GRU: of all steps at once, which is faster."""
        gru = self.decoder
        return nn.functional.linear(rows, gru.weight_ih_l0[:, :rows.shape[-1]], gru.bias_ih_l0)

    def cell(self, from_token, fed, hidden):
        """One step of the decoder's GRU on [token row, fed]."""
        gru = self.decoder
        inputs = torch.addmm(from_token, fed, gru.weight_ih_l0[:, -fed.shape[-1]:].t())
        before = nn.functional.linear(hidden, gru.weight_hh_l0, gru.bias_hh_l0)
        width = 2 * hidden.shape[-1]
        reset, update = torch.sigmoid(inputs[:, :width] + before[:, :width]).chunk(2, -1)
        fresh = torch.tanh(inputs[:, width:] + reset * before[:, width:])
        return fresh + update * (hidden - fresh)

    def step(self, state, from_token):
        """One output: its hidden row [B, hidden], the context [B, encoder] and the weights [B, S]."""
        if self.kind == "additive":
            weights, context = self.attention(state["hidden"], state["prepared"], state["mask"])
            hidden = self.cell(from_token, context, state["hidden"])
        else:
            hidden = self.cell(from_token, state["fed"], state["hidden"])
            weights, context = self.attention(hidden, state["prepared"], state["mask"])
            state["fed"] = torch.tanh(self.combine(torch.cat([hidden, context], -1)))
        state["hidden"] = hidden
        return (hidden if self.kind == "additive" else state["fed"]), context, weights

    def combined(self, rows, contexts, tokens):
        return torch.tanh(self.combine(torch.cat([rows, contexts, tokens], -1))) if self.kind == "additive" else rows

    def logits(self, rows):
        return self.narrow(rows) @ self.target_embedding.weight.t() + self.output_bias

    def forward(self, source, lengths, target):
        """target [B, T] begins with START: logits [B, T, words] and weights [B, T, S]."""
        state = self.start(source, lengths)
        tokens = self.target_embedding(target)
        inputs = self.from_tokens(tokens)
        rows, contexts, weights = zip(*(self.step(state, row) for row in inputs.unbind(1)))
        rows = self.combined(torch.stack(rows, 1), torch.stack(contexts, 1) if self.kind == "additive" else None, tokens)
        return self.logits(rows), torch.stack(weights, 1)

    def next(self, state, token):
        """Greedy decoding: token [B] in, logits [B, words] and weights [B, S] out."""
        tokens = self.target_embedding(token)
        rows, context, weights = self.step(state, self.from_tokens(tokens))
        return self.logits(self.combined(rows, context, tokens)), weights


def positions(count: int, width: int):
    """Sinusoidal: sines in the even places, cosines in the odd ones."""
    place = torch.arange(count, dtype=torch.float64).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    table = torch.zeros(count, width, dtype=torch.float64)
    table[:, 0::2], table[:, 1::2] = torch.sin(place * frequency), torch.cos(place * frequency)
    return table.float()


class Attention(nn.Module):
    """Multi-head scaled dot-product attention with its four projections."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def split(self, rows):
        return rows.view(rows.shape[0], rows.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, rows, memory, mask):
        query, key, value = self.split(self.query(rows)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~mask, NOWHERE).softmax(-1)
        gathered = (weights @ value).transpose(1, 2).reshape(rows.shape)
        return self.output(gathered), weights


class Layer(nn.Module):
    """Pre-norm: x + attention(norm(x)), in the decoder x + cross(norm(x)), x + feed_forward(norm(x))."""

    def __init__(self, width: int, heads: int, inner: int, cross: bool):
        super().__init__()
        self.self_attention_norm, self.self_attention = nn.LayerNorm(width), Attention(width, heads)
        if cross:
            self.cross_attention_norm, self.cross_attention = nn.LayerNorm(width), Attention(width, heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward_in, self.feed_forward_out = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, rows, mask, memory=None, memory_mask=None):
        normed = self.self_attention_norm(rows)
        mixed, weights = self.self_attention(normed, normed, mask)[0], None
        if self.training and memory is None:
            mixed = mixed * (torch.rand(len(rows), 1, 1) >= SKIPPED)
        rows = rows + mixed
        if memory is not None:
            gathered, weights = self.cross_attention(self.cross_attention_norm(rows), memory, memory_mask)
            rows = rows + gathered
        inner = torch.relu(self.feed_forward_in(self.feed_forward_norm(rows)))
        return rows + self.feed_forward_out(inner), weights


class Transformer(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        width, heads, inner = config["width"], config["heads"], config["inner"]
        self.scale = math.sqrt(width)
        self.source_embedding = nn.Embedding(config["source_words"], width)
        self.target_embedding = nn.Embedding(config["target_words"], width)
        for table in (self.source_embedding, self.target_embedding):
            nn.init.normal_(table.weight, std=width ** -0.5)
        self.encoder = nn.ModuleList(Layer(width, heads, inner, False) for _ in range(config["layers"]))
        self.encoder_norm = nn.LayerNorm(width)
        self.decoder = nn.ModuleList(Layer(width, heads, inner, True) for _ in range(config["layers"]))
        self.decoder_norm = nn.LayerNorm(width)
        self.output_bias = nn.Parameter(torch.zeros(config["target_words"]))  # the output weights are the target embedding's
        self.register_buffer("table", positions(config["longest"], width), persistent=False)

    def embed(self, table, tokens):
        return table(tokens) * self.scale + self.table[:tokens.shape[1]]

    def start(self, source, lengths):
        mask = (torch.arange(source.shape[1]).unsqueeze(0) < lengths.unsqueeze(1))[:, None, None]
        rows = self.embed(self.source_embedding, source)
        for layer in self.encoder:
            rows, _ = layer(rows, mask)
        return {"memory": self.encoder_norm(rows), "mask": mask, "tokens": torch.zeros(source.shape[0], 0, dtype=torch.long)}

    def decode(self, state, target):
        causal = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()[None, None]
        rows = self.embed(self.target_embedding, target)
        for layer in self.decoder:
            rows, weights = layer(rows, causal, state["memory"], state["mask"])
        return self.decoder_norm(rows) @ self.target_embedding.weight.t() + self.output_bias, weights

    def forward(self, source, lengths, target):
        logits, weights = self.decode(self.start(source, lengths), target)
        return logits, weights.mean(1)

    def next(self, state, token):
        state["tokens"] = torch.cat([state["tokens"], token.unsqueeze(1)], 1)
        logits, weights = self.decode(state, state["tokens"])
        return logits[:, -1], weights[:, :, -1].mean(1)


RECURRENT = {"embedding": 64, "encoder_hidden": 80, "hidden": 160, "attention_width": 96}
CONFIGS = {
    "dot": {**RECURRENT, "attention": "dot"},
    "qkv": {**RECURRENT, "attention": "qkv"},
    "additive": {**RECURRENT, "attention": "additive"},
    "transformer": {"attention": "transformer", "width": 96, "heads": 4, "inner": 256, "layers": 2, "longest": 64}}


def build(config: dict) -> nn.Module:
    model = Transformer(config) if config["attention"] == "transformer" else Recurrent(config)
    model.config = config
    return model


@torch.no_grad()
def translate(model: nn.Module, sources: list, longest: int = 60):
    """Greedy. sources: lists of ids; returns lists of ids and, for each, the rows of attention weights."""
    model.eval()
    lengths = torch.tensor([len(source) for source in sources])
    padded = nn.utils.rnn.pad_sequence([torch.tensor(source) for source in sources], batch_first=True)
    state, token = model.start(padded, lengths), torch.full((len(sources),), START)
    found, looked, going = [[] for _ in sources], [[] for _ in sources], [True] * len(sources)
    for _ in range(longest):
        logits, weights = model.next(state, token)
        logits[:, START] = NOWHERE
        token = logits.argmax(-1)
        for index, chosen in enumerate(token.tolist()):
            going[index] = going[index] and chosen != STOP
            if going[index]:
                found[index].append(chosen)
                looked[index].append(weights[index, :lengths[index]].tolist())
        if not any(going):
            break
    return found, looked
