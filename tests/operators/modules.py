"""Calls of modules of torch.nn, for record.py: drawn at random (facts/modules.txt), and those of PyTorch's own database of modules.

A fact makes a module and calls it: `torch.nn.Conv2d(3, 8, 3)(torch.ones((2, 3, 8, 8)))`. The constructors' arguments and the
inputs are drawn at random, always the same; of each call that works some are bent: a size more, a dimension less, another dtype.
"""

import random
import re

import record
from writing import Unprintable, Writer

EACH = 22  # calls of a module that are drawn
BENT = 10  # wrong or nearly wrong ones besides


def size(*dims):
    return "(" + ", ".join(map(str, dims)) + ("," if len(dims) == 1 else "") + ")"


def ones(*dims, dtype=""):
    return f"torch.ones({size(*dims)}{', dtype=torch.' + dtype if dtype else ''})"


def zeros(*dims):
    return f"torch.zeros({size(*dims)}, dtype=torch.int64)"


class Draw:
    """Calls of one module: `draw()` gives (constructor's arguments, inputs)."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def one(self, *choices):
        return self.r.choice(choices)

    def some(self, low, high):
        return self.r.randint(low, high)

    def maybe(self, text, share=0.4):
        return [text] if self.r.random() < share else []

    def per_axis(self, n, low, high):
        """A number or one for each axis."""
        if self.r.random() < 0.7:
            return self.some(low, high)
        return size(*(self.some(low, high) for _ in range(n)))

    def leading(self, *dims):
        """With a batch, or without."""
        return ([self.some(1, 4)] if self.r.random() < 0.75 else []) + list(dims)

    # ------------------------------------------------------------ the families

    def conv(self, n, transposed=False):
        groups = self.one(1, 1, 1, 2)
        c, o = groups * self.some(1, 4), groups * self.some(1, 4)
        made = [str(c), str(o), str(self.per_axis(n, 1, 4))]
        made += self.maybe(f"stride={self.per_axis(n, 1, 3)}") + self.maybe(f"padding={self.per_axis(n, 0, 2)}")
        if not transposed:
            made += self.maybe("padding='same'", 0.1) if not any(word.startswith(("stride", "padding")) for word in made) else []
        made += self.maybe(f"dilation={self.per_axis(n, 1, 2)}", 0.2)
        if transposed:
            made += self.maybe(f"output_padding={self.some(0, 1)}", 0.3)
        if groups > 1:
            made.append(f"groups={groups}")
        made += self.maybe("bias=False", 0.2)
        return made, [ones(*self.leading(c, *(self.some(3, 9) for _ in range(n))))]

    def pool(self, n, kind):
        made = [str(self.per_axis(n, 1, 4))] + self.maybe(f"stride={self.per_axis(n, 1, 3)}", 0.6) + self.maybe(f"padding={self.some(0, 1)}")
        if kind == "max":
            made += self.maybe(f"dilation={self.some(1, 2)}", 0.2) + self.maybe("return_indices=True", 0.15)
        made += self.maybe("ceil_mode=True")
        if kind == "lp":
            made = ["2"] + [word for word in made if not word.startswith("padding")]
        return made, [ones(*self.leading(self.some(1, 4), *(self.some(4, 9) for _ in range(n))))]

    def adaptive(self, n, indices):
        parts = [self.one("None", str(self.some(1, 4))) for _ in range(n)]
        made = [self.one(str(self.some(1, 4)), "(" + ", ".join(parts) + ("," if n == 1 else "") + ")")]
        return made + (self.maybe("return_indices=True", 0.2) if indices else []), [ones(*self.leading(self.some(1, 4), *(self.some(4, 9) for _ in range(n))))]

    def batch_norm(self, n):
        c = self.some(1, 5)
        made = [str(c)] + self.maybe("affine=False", 0.2) + self.maybe("track_running_stats=False", 0.2)
        dims = [self.some(2, 4), c] + [self.some(2, 5) for _ in range(n)]
        if n == 1 and self.r.random() < 0.5:
            dims.pop()
        return made, [ones(*dims)]

    def instance_norm(self, n):
        c = self.some(1, 5)
        return [str(c)] + self.maybe("affine=True") + self.maybe("track_running_stats=True", 0.2), [ones(*self.leading(c, *(self.some(2, 5) for _ in range(n))))]

    def layer_norm(self):
        dims = [self.some(1, 5) for _ in range(self.some(1, 4))]
        last = dims[-self.some(1, min(2, len(dims))):]
        return [str(last[0]) if len(last) == 1 and self.r.random() < 0.7 else self.one(str(last), size(*last))] + self.maybe("elementwise_affine=False", 0.2), [ones(*dims)]

    def group_norm(self):
        groups = self.some(1, 3)
        c = groups * self.some(1, 3)
        return [str(groups), str(c)], [ones(self.some(2, 3), c, *(self.some(2, 4) for _ in range(self.some(0, 2))))]

    def linear(self):
        i, o = self.some(1, 6), self.some(1, 6)
        return [str(i), str(o)] + self.maybe("bias=False", 0.2), [ones(*(self.some(1, 4) for _ in range(self.some(0, 3))), i)]

    def bilinear(self):
        a, b, o = self.some(1, 4), self.some(1, 4), self.some(1, 4)
        lead = [self.some(1, 3) for _ in range(self.some(0, 2))]
        return [str(a), str(b), str(o)], [ones(*lead, a), ones(*lead, b)]

    def embedding(self):
        return [str(self.some(2, 9)), str(self.some(1, 5))] + self.maybe("padding_idx=0", 0.3), [zeros(*(self.some(1, 4) for _ in range(self.some(0, 3))))]

    def embedding_bag(self):
        made = [str(self.some(2, 9)), str(self.some(1, 5))] + self.maybe("mode='sum'")
        if self.r.random() < 0.5:
            return made, [zeros(self.some(1, 3), self.some(1, 4))]
        return made + self.maybe("include_last_offset=True", 0.3), [zeros(6), "torch.tensor([0, 2, 4])"]

    def same(self, *made):
        return list(made), [ones(*(self.some(1, 5) for _ in range(self.some(1, 4))))]

    def along(self):
        rank = self.some(1, 4)
        return [f"dim={self.some(-rank, rank - 1)}"], [ones(*(self.some(1, 4) * 2 for _ in range(rank)))]

    def flatten(self):
        rank = self.some(2, 5)
        start = self.some(0, rank - 1)
        made = self.maybe(f"start_dim={start}") or []
        return made + (self.maybe(f"end_dim={self.some(start, rank - 1)}") if made else []), [ones(*(self.some(1, 4) for _ in range(rank)))]

    def unflatten(self):
        a, b = self.some(1, 4), self.some(1, 4)
        dims = [self.some(1, 3) for _ in range(self.some(0, 2))] + [a * b] + [self.some(1, 3) for _ in range(self.some(0, 1))]
        at = self.r.choice([i for i, dim in enumerate(dims) if dim == a * b])
        return [str(at), self.one(size(a, b), size(a, -1), size(-1, b))], [ones(*dims)]

    def shuffle(self, back):
        f = self.some(1, 3)
        c, h, w = self.some(1, 3), self.some(1, 4), self.some(1, 4)
        dims = [c, h * f, w * f] if back else [c * f * f, h, w]
        return [str(f)], [ones(*self.leading(*dims))]

    def pad(self, n, mode):
        high = 2
        amount = self.one(str(self.some(0, high)), size(*(self.some(0, high) for _ in range(2 * n))))
        made = [amount] + (["0.5"] if mode == "Constant" else [])
        return made, [ones(*self.leading(self.some(1, 3), *(self.some(3, 6) for _ in range(n))))]

    def upsample(self):
        n = self.some(1, 3)
        mode = self.one("nearest", "nearest", {1: "linear", 2: "bilinear", 3: "trilinear"}[n])
        how = self.one(f"size={self.per_axis(n, 1, 7)}", f"scale_factor={self.one('2', '3', '2.0', '0.5', '1.5')}")
        return [how, f"mode='{mode}'"], [ones(self.some(1, 3), self.some(1, 3), *(self.some(2, 6) for _ in range(n)))]

    def unfold(self):
        made = [str(self.per_axis(2, 1, 3))] + self.maybe(f"dilation={self.some(1, 2)}", 0.3) + self.maybe(f"padding={self.some(0, 1)}") + self.maybe(f"stride={self.per_axis(2, 1, 2)}")
        return made, [ones(*self.leading(self.some(1, 3), self.some(4, 7), self.some(4, 7)))]

    def fold(self):
        h, w, k = self.some(4, 6), self.some(4, 6), self.some(1, 3)
        return [size(h, w), str(k)], [ones(*self.leading(self.some(1, 3) * k * k, (h - k + 1) * (w - k + 1)))]

    def recurrent(self, kind):
        i, h = self.some(1, 5), self.some(2, 5)
        n, t = self.some(1, 4), self.some(1, 5)
        made, first, layers, both = [str(i), str(h)], self.r.random() < 0.5, 1, self.r.random() < 0.4
        if self.r.random() < 0.4:
            layers = self.some(1, 3)
            made.append(f"num_layers={layers}")
        made += ["batch_first=True"] * first + ["bidirectional=True"] * both
        out = h
        if kind == "LSTM" and self.r.random() < 0.2:
            out = h - 1
            made.append(f"proj_size={out}")
        if self.r.random() < 0.2:
            inputs, state, cell = [ones(t, i)], [layers * (1 + both), out], [layers * (1 + both), h]
        else:
            inputs, state, cell = [ones(*((n, t) if first else (t, n)), i)], [layers * (1 + both), n, out], [layers * (1 + both), n, h]
        if self.r.random() < 0.4:
            inputs.append(f"({ones(*state)}, {ones(*cell)})" if kind == "LSTM" else ones(*state))
        return made, inputs

    def cell(self, kind):
        i, h = self.some(1, 5), self.some(1, 5)
        lead = self.leading()
        inputs = [ones(*lead, i)]
        if self.r.random() < 0.5:
            state = ones(*lead, h)
            inputs.append(f"({state}, {state})" if kind == "LSTMCell" else state)
        return [str(i), str(h)], inputs

    def attention(self):
        heads = self.some(1, 3)
        e = heads * self.some(1, 3)
        n, l, s = self.some(1, 3), self.some(1, 4), self.some(1, 4)
        made = [str(e), str(heads)]
        k = v = e
        if self.r.random() < 0.25:
            k, v = self.some(1, 4), self.some(1, 4)
            made += [f"kdim={k}", f"vdim={v}"]
        made += self.maybe("add_zero_attn=True", 0.15)
        first = self.r.random() < 0.5
        made += ["batch_first=True"] * first
        batched = self.r.random() < 0.8
        def of(length, width):
            return ones(length, width) if not batched else ones(*((n, length) if first else (length, n)), width)
        inputs = [of(l, e), of(s, k), of(s, v)]
        if batched and self.r.random() < 0.3:
            inputs.append(f"key_padding_mask=torch.zeros({size(n, s)}, dtype=torch.bool)")
        inputs += self.maybe("need_weights=False", 0.2) + self.maybe("average_attn_weights=False", 0.2)
        inputs += self.maybe(f"attn_mask=torch.zeros({size(l, s)})", 0.3)
        return made, inputs

    def transformer(self, kind):
        heads = self.some(1, 3)
        e = heads * self.some(1, 3) * 2
        n, l, s = self.some(1, 3), self.some(1, 4), self.some(1, 4)
        first = self.r.random() < 0.5
        def of(length):
            return ones(*((n, length) if first else (length, n)), e)
        layer = f"{e}, {heads}, dim_feedforward=8" + (", batch_first=True" if first else "")
        if kind == "EncoderLayer":
            return [layer], [of(l)] + self.maybe(f"src_mask=torch.zeros({size(l, l)})", 0.3)
        if kind == "DecoderLayer":
            return [layer], [of(l), of(s)] + self.maybe(f"tgt_mask=torch.zeros({size(l, l)})", 0.3)
        if kind == "Encoder":
            return [f"torch.nn.TransformerEncoderLayer({layer})", "2"], [of(l)] + self.maybe(f"src_key_padding_mask=torch.zeros({size(n, l)}, dtype=torch.bool)", 0.3)
        if kind == "Decoder":
            return [f"torch.nn.TransformerDecoderLayer({layer})", "2"], [of(l), of(s)]
        return [layer.replace("dim_feedforward=8", "num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=8")], [of(s), of(l)]

    def reduction(self):
        return self.one([], [], ["reduction='sum'"], ["reduction='none'"])

    def pointwise_loss(self, target="ones"):
        dims = [self.some(1, 4) for _ in range(self.some(0, 3))]
        a = ones(*dims)
        if target == "half":
            a = f"torch.full({size(*dims)}, 0.5)"
        return self.reduction(), [a, ones(*dims)]

    def classes(self):
        c, more = self.some(1, 5), [self.some(1, 4) for _ in range(self.some(0, 2))]
        if self.r.random() < 0.15 and not more:
            return self.reduction(), [ones(c), zeros()]
        n = self.some(1, 4)
        return self.reduction(), [ones(n, c, *more), zeros(n, *more)]

    def probabilities(self):
        if self.r.random() < 0.7:
            return self.classes()
        dims = [self.some(1, 4), self.some(1, 4)]
        return self.reduction(), [ones(*dims), ones(*dims)]

    def vectors(self, count):
        dims = [self.some(1, 4), self.some(1, 4)]
        return self.reduction(), [ones(*dims) for _ in range(count)]

    def with_sign(self, kind):
        n, d = self.some(1, 4), self.some(1, 4)
        if kind == "ranking":
            return self.reduction(), [ones(n), ones(n), ones(n)]
        return self.reduction(), [ones(n, d), ones(n, d), ones(n)]

    def ctc(self):
        t, n, c = self.some(5, 8), self.some(1, 3), self.some(3, 5)
        return self.reduction(), [ones(t, n, c), f"torch.ones({size(n, 2)}, dtype=torch.int64)", f"torch.full({size(n)}, {t})", f"torch.full({size(n)}, 2)"]

    def distance(self, made):
        dims = [self.some(1, 4), self.some(1, 4)] + [self.some(1, 3) for _ in range(self.some(0, 1))]
        return made, [ones(*dims), ones(*dims)]


def modules():
    """(name, seed → draw) of every module."""
    yield from ((f"Conv{n}d", lambda d, n=n: d.conv(n)) for n in (1, 2, 3))
    yield from ((f"ConvTranspose{n}d", lambda d, n=n: d.conv(n, True)) for n in (1, 2, 3))
    yield from ((f"MaxPool{n}d", lambda d, n=n: d.pool(n, "max")) for n in (1, 2, 3))
    yield from ((f"AvgPool{n}d", lambda d, n=n: d.pool(n, "avg")) for n in (1, 2, 3))
    yield from ((f"LPPool{n}d", lambda d, n=n: d.pool(n, "lp")) for n in (1, 2))
    yield from ((f"AdaptiveAvgPool{n}d", lambda d, n=n: d.adaptive(n, False)) for n in (1, 2, 3))
    yield from ((f"AdaptiveMaxPool{n}d", lambda d, n=n: d.adaptive(n, True)) for n in (1, 2, 3))
    yield from ((f"BatchNorm{n}d", lambda d, n=n: d.batch_norm(n)) for n in (1, 2, 3))
    yield from ((f"InstanceNorm{n}d", lambda d, n=n: d.instance_norm(n)) for n in (1, 2, 3))
    yield "LayerNorm", lambda d: d.layer_norm()
    yield "GroupNorm", lambda d: d.group_norm()
    yield "LocalResponseNorm", lambda d: ([str(d.some(1, 3))], [ones(*(d.some(1, 4) for _ in range(d.some(3, 4))))])
    yield "Linear", lambda d: d.linear()
    yield "Bilinear", lambda d: d.bilinear()
    yield "Embedding", lambda d: d.embedding()
    yield "EmbeddingBag", lambda d: d.embedding_bag()
    for name in ("ReLU", "ReLU6", "LeakyReLU", "ELU", "CELU", "SELU", "GELU", "SiLU", "Mish", "Tanh", "Sigmoid", "Hardtanh", "Hardswish", "Softplus", "Softsign",
                 "Dropout", "Identity"):
        yield name, lambda d: d.same()
    for name in ("Softmax", "LogSoftmax", "Softmin", "GLU"):
        yield name, lambda d: d.along()
    yield "Flatten", lambda d: d.flatten()
    yield "Unflatten", lambda d: d.unflatten()
    yield "PixelShuffle", lambda d: d.shuffle(False)
    yield "PixelUnshuffle", lambda d: d.shuffle(True)
    for n, mode in ((1, "Constant"), (2, "Constant"), (3, "Constant"), (1, "Reflection"), (2, "Reflection"), (1, "Replication"), (2, "Replication"), (3, "Replication")):
        yield f"{mode}Pad{n}d", lambda d, n=n, mode=mode: d.pad(n, mode)
    yield "ZeroPad2d", lambda d: d.pad(2, "Zero")
    yield "Upsample", lambda d: d.upsample()
    yield "Unfold", lambda d: d.unfold()
    yield "Fold", lambda d: d.fold()
    for kind in ("RNN", "LSTM", "GRU"):
        yield kind, lambda d, kind=kind: d.recurrent(kind)
        yield kind + "Cell", lambda d, kind=kind: d.cell(kind + "Cell")
    yield "MultiheadAttention", lambda d: d.attention()
    for kind in ("EncoderLayer", "DecoderLayer", "Encoder", "Decoder", ""):
        yield "Transformer" + kind, lambda d, kind=kind: d.transformer(kind)
    for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "KLDivLoss", "BCEWithLogitsLoss", "SoftMarginLoss", "PoissonNLLLoss"):
        yield name, lambda d: d.pointwise_loss()
    yield "BCELoss", lambda d: d.pointwise_loss("half")
    yield "CrossEntropyLoss", lambda d: d.probabilities()
    yield "NLLLoss", lambda d: d.classes()
    yield "TripletMarginLoss", lambda d: d.vectors(3)
    yield "MarginRankingLoss", lambda d: d.with_sign("ranking")
    yield "CosineEmbeddingLoss", lambda d: d.with_sign("cosine")
    yield "CTCLoss", lambda d: d.ctc()
    yield "CosineSimilarity", lambda d: d.distance(d.one([], ["dim=0"], ["dim=-1"]))
    yield "PairwiseDistance", lambda d: d.distance(d.one([], ["keepdim=True"]))


def text_of(name, made, inputs):
    return f"torch.nn.{name}({', '.join(made)})({', '.join(inputs)})"


def bend(r, made, inputs):
    """One thing is otherwise."""
    inputs = list(inputs)
    at = r.randrange(len(inputs))
    sizes = re.search(r"\((\d[\d, ]*)\)", inputs[at])
    how = r.choice(["more", "more", "less", "drop", "add", "dtype", "made"])
    if how == "made" and made:
        number = r.choice(range(len(made)))
        changed = list(made)
        changed[number] = re.sub(r"\d+", lambda m: str(int(m[0]) + r.choice([1, 2])), changed[number], count=1)
        return changed, inputs
    if how == "dtype":
        inputs[at] = re.sub(r"torch\.ones\((\([^()]*\))\)", r"torch.ones(\1, dtype=torch.int64)", inputs[at], count=1)
        return made, inputs
    if sizes:
        dims = [int(word) for word in sizes[1].replace(" ", "").split(",") if word]
        place = r.randrange(len(dims))
        if how == "drop" and len(dims) > 1:
            dims.pop(place)
        elif how == "add":
            dims.insert(place, 2)
        elif how == "less" and dims[place] > 1:
            dims[place] -= 1
        else:
            dims[place] += 1
        inputs[at] = inputs[at][:sizes.start()] + size(*dims) + inputs[at][sizes.end():]
    return made, inputs


def facts(torch):
    recorder = record.Recorder(torch)
    for name, draw in modules():
        d = Draw(name)
        for _ in range(EACH):
            recorder.note("nn." + name, [text_of(name, *draw(d))])
        for _ in range(BENT):
            made, inputs = bend(d.r, *draw(d))
            # PyTorch warns of targets that broadcast, and so does stepzero.
            if not (name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss") and inputs[0] != inputs[1]):
                recorder.note("nn." + name, [text_of(name, made, inputs)], may_fail=True)
    return record.lines_of(recorder.facts)


def call_of(torch, info, sample, floats, suffix=""):
    """A sample of the database as one expression."""
    write = Writer(torch, floats)
    made, given = sample.constructor_input, sample.forward_input
    keywords = {key: value for key, value in made.kwargs.items() if key != "device" and not (key == "dtype" and value == torch.float32)}
    inputs = given.args if given else ()
    return f"torch.nn.{info.module_cls.__name__}({write.arguments(made.args, keywords)}){suffix}({write.arguments(inputs, given.kwargs if given else {})})"


def facts_of_database(torch):
    """The modules of PyTorch's own database, in training and, where it differs, in evaluation; and its wrong calls."""
    from torch.testing._internal.common_modules import module_db
    recorder = record.Recorder(torch)
    for info in module_db:
        def texts(sample, suffix=""):
            made = []
            for floats in ("ones", "half", "rand"):
                try:
                    made.append(call_of(torch, info, sample, floats, suffix))
                except Unprintable:
                    pass
            return [text for text in made if len(text) <= record.LONGEST]
        samples = [sample for sample in info.module_inputs_func(info, "cpu", torch.float32, False, True) if sample.forward_input]
        step = max(1, len(samples) // record.SAMPLES)
        for sample in samples[::step]:
            recorder.note(info.name, texts(sample))
        for sample in samples[:6] if info.train_and_eval_differ else []:
            recorder.note(info.name, texts(sample, ".eval()"))
        wrong = info.module_error_inputs_func(info, "cpu", torch.float32, False, True) if info.module_error_inputs_func else []
        for error in wrong:
            recorder.note(info.name, texts(error.module_error_input)[:1], may_fail=True)
    record.print_dropped("modules", recorder)
    return record.lines_of(recorder.facts)
