# Writes tests/data/diff/autograd.npz and detached.npz, and two checkpoints for tests/data/tensors: a Vision Transformer
# in PyTorch under Hugging Face's module names, with the weights of tests/data/oracle/tiny; hooks on its modules record
# outputs and, after logits[0, 2].backward(), their gradients as grad.NAME. In detached.npz no gradient goes back through
# the shares of attention: a mistake in the backward pass alone.
# /usr/bin/python3 tests/data/diff/autograd.py   (Debian: python3-torch)
import json, os, struct
import numpy as np
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
TINY = os.path.join(HERE, "..", "oracle", "tiny")


def read(path):
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        head, data = json.loads(f.read(n)), f.read()
    out = {}
    for name, t in head.items():
        if name != "__metadata__":
            raw = data[t["data_offsets"][0]:t["data_offsets"][1]]
            out[name] = torch.tensor(np.frombuffer(raw, "<f4").reshape(t["shape"]).copy())
    return out


CONFIG = json.load(open(os.path.join(TINY, "config.json")))
D, HEADS, LAYERS = CONFIG["hidden_size"], CONFIG["num_attention_heads"], CONFIG["num_hidden_layers"]
MLP, P, EPS = CONFIG["intermediate_size"], CONFIG["patch_size"], CONFIG["layer_norm_eps"]
detached = False


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (m(x).view(b, t, HEADS, D // HEADS).transpose(1, 2) for m in (self.query, self.key, self.value))
        shares = (q @ k.transpose(-1, -2) / (D // HEADS) ** 0.5).softmax(-1)
        if detached:
            shares = shares.detach()
        return (shares @ v).transpose(1, 2).reshape(b, t, D)


class Dense(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.dense = nn.Linear(inside, outside)

    def forward(self, x):
        return self.dense(x)


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.output = Attention(), Dense(D, D)

    def forward(self, x):
        return self.output(self.attention(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.intermediate, self.output = Outer(), Dense(D, MLP), Dense(MLP, D)
        self.layernorm_before, self.layernorm_after = nn.LayerNorm(D, EPS), nn.LayerNorm(D, EPS)

    def forward(self, x):
        h = self.attention(self.layernorm_before(x)) + x
        return self.output.dense(nn.functional.gelu(self.intermediate.dense(self.layernorm_after(h)))) + h


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ModuleList([Layer() for _ in range(LAYERS)])

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.projection = nn.Conv2d(3, D, P, P)

    def forward(self, x):
        return self.projection(x).flatten(2).transpose(1, 2)


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embeddings = Patches()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, D))
        self.position_embeddings = nn.Parameter(torch.zeros(1, 1 + (CONFIG["image_size"] // P) ** 2, D))

    def forward(self, x):
        return torch.cat([self.cls_token, self.patch_embeddings(x)], 1) + self.position_embeddings


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings, self.encoder, self.layernorm = Embeddings(), Encoder(), nn.LayerNorm(D, EPS)

    def forward(self, x):
        return self.layernorm(self.encoder(self.embeddings(x)))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.vit, self.classifier = Vit(), nn.Linear(D, 5)

    def forward(self, x):
        return self.classifier(self.vit(x)[:, 0])


model = Classifier().eval()
model.load_state_dict(read(os.path.join(TINY, "model.safetensors")))
pixels = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(5))
trace = {}


def record(name):
    def hook(module, arguments, output):
        trace[name] = output
        output.retain_grad()
    return hook


for name, module in model.named_modules():
    if name and not name.endswith(("output", "encoder", "layer")):
        module.register_forward_hook(record(name))
for detached, file in (False, "autograd.npz"), (True, "detached.npz"):
    trace.clear()
    model(pixels)[0, 2].backward()
    trace.update({"grad." + k: v.grad for k, v in trace.items() if v.grad is not None})
    trace["pixel_values"] = pixels
    np.savez_compressed(os.path.join(HERE, file), **{k: v.detach().numpy() for k, v in trace.items()})
torch.save({"w": torch.ones(2)}, os.path.join(HERE, "..", "tensors", "torch.pth"))
torch.save({"w": torch.ones(2)}, os.path.join(HERE, "..", "tensors", "legacy.pt"), _use_new_zipfile_serialization=False)
