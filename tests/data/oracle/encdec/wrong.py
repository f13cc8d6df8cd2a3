#!/usr/bin/python3
"""Writes wrong.safetensors beside it: the logits of this folder's model computed in float64, with mistakes in how the
decoder meets the memory. The right ones are first compared with expected.safetensors, which another program recorded.
Run in this folder; needs numpy."""
import json, math, struct
import numpy as np

HEADS, EPS = 4, 1e-5


def read(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    header.pop("__metadata__", None)
    kinds = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}
    return {name: np.frombuffer(data[t["data_offsets"][0]:t["data_offsets"][1]], kinds[t["dtype"]]).reshape(t["shape"])
            for name, t in header.items()}


W, EXPECTED = {k: v.astype(np.float64) for k, v in read("model.safetensors").items()}, read("expected.safetensors")
SIDE = W["src_embed.weight"].shape[1]


def norm(x, at):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPS) * W[at + ".weight"] + W[at + ".bias"]


def linear(x, at):
    return x @ W[at + ".weight"].T + W[at + ".bias"]


def attention(x, memory, at, causal=False):
    q, k, v = (y @ W[at + "in_proj_weight"][i * SIDE:(i + 1) * SIDE].T + W[at + "in_proj_bias"][i * SIDE:(i + 1) * SIDE]
               for i, y in enumerate((x, memory, memory)))
    q, k, v = (y.reshape(len(y), HEADS, -1).transpose(1, 0, 2) for y in (q, k, v))
    s = q @ k.transpose(0, 2, 1) / math.sqrt(SIDE / HEADS)
    if causal:
        s = np.where(np.tri(len(x)) > 0, s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    z = p / p.sum(-1, keepdims=True) @ v
    return linear(z.transpose(1, 0, 2).reshape(len(x), SIDE), at + "out_proj")


def embed(ids, table):
    at = np.arange(len(ids))[:, None] / 10000 ** (np.arange(0, SIDE, 2) / SIDE)
    places = np.stack([np.sin(at), np.cos(at)], -1).reshape(len(ids), SIDE)
    return W[table][ids] * math.sqrt(SIDE) + places


def mlp(x, at):
    return linear(np.maximum(linear(x, at + "linear1"), 0), at + "linear2")


def forward(wrong=None):
    x = embed(EXPECTED["src_ids"], "src_embed.weight")
    for i in range(2 - (wrong == "one block short")):
        at = f"transformer.encoder.layers.{i}."
        x = norm(x + attention(x, x, at + "self_attn."), at + "norm1")
        x = norm(x + mlp(x, at), at + "norm2")
    memory, x = norm(x, "transformer.encoder.norm"), embed(EXPECTED["tgt_ids"], "tgt_embed.weight")
    for i in range(2):
        at = f"transformer.decoder.layers.{i}."
        x = norm(x + attention(x, x, at + "self_attn.", True), at + "norm1")
        x = norm(x + attention(x, x if wrong == "own memory" else memory, at + "multihead_attn."), at + "norm2")
        x = norm(x + mlp(x, at), at + "norm3")
    return linear(norm(x, "transformer.decoder.norm"), "generator")


assert np.abs(forward() - EXPECTED["logits"]).max() < 1e-9
tensors = {name: np.ascontiguousarray(forward(name), "<f4") for name in ("own memory", "one block short")}
header, at = {}, 0
for name, a in tensors.items():
    header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
    at += a.nbytes
text = json.dumps(header, separators=(",", ":")).encode()
text += b" " * (-len(text) % 8)
with open("wrong.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + b"".join(a.tobytes() for a in tensors.values()))
