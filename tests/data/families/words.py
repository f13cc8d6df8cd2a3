#!/usr/bin/python3
"""Writes models of words and recordings beside it: every family of decoders, of encoders and of decoders with experts once, tiny, with weights from a seed under
the names of its own program, and what that program computes for two or three lengths of text, here in float64 and written from
its published source. Run in this folder; needs numpy. Recordings are named after Vitrine's nodes and kept as float32;
wrong.* are the logits of the mistakes that are made most often: a test must be able to tell them apart."""
import json, math, os, re, struct, zlib
from functools import partial
import numpy as np

D, V, M = 16, 19, 24
rng = np.random.default_rng(28)


def safetensors(path, tensors):
    header, at, blobs = {}, 0, []
    for name, a in tensors.items():
        a = np.asarray(a)
        whole = a.dtype == np.int64
        a = np.ascontiguousarray(a, "<i8" if whole else "<f4")
        header[name] = {"dtype": "I64" if whole else "F32", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
        blobs.append(a.tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


ACT = {
    "gelu": lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Weights(dict):
    """Weights by name, drawn where they are first named and rounded to float32 as the file has them."""

    def get_(self, name, *shape, mean=0.0, spread=0.1):
        if name not in self:
            self[name] = (mean + spread * rng.standard_normal(shape)).astype(np.float32)
        return self[name].astype(np.float64)

    def matrix(self, name, rows, cols, sharp=1.0):
        return self.get_(name, rows, cols, spread=sharp / math.sqrt(cols))

    def vector(self, name, n, mean=0.0):
        return self.get_(name, n, mean=mean, spread=0.2)


def as_float16(w):
    out = Weights()
    out.update({k: x.astype(np.float16).astype(np.float32) for k, x in w.items()})
    return out


class Record(dict):
    """Values by node. Off: a mistake is being made, nothing is kept; of modules alone: what only stands between them is not
    kept either; inside: the steps inside of norms, softmax, rotations and experts are, too."""
    on, modules, inside = True, False, False

    def put(self, name, x):
        if self.on:
            self[name] = np.asarray(x, np.float64)
        return x

    def also(self, name, x):
        return x if self.modules else self.put(name, x)

    def step(self, name, x):
        return self.put(name, x) if self.inside else x


def norm_steps(r, node, x, eps, centre, gamma=None):
    """What a norm goes through up to its γ: sums, then their means, one over the root, and its product. r: a Record that keeps it."""
    at, n = node + ".", x.shape[-1]
    if centre:
        r.step(at + "sum", x.sum(-1))
        r.step(at + "mean", x.mean(-1))
        x = r.step(at + "centered", x - x.mean(-1, keepdims=True))
    r.step(at + "sq", x ** 2)
    r.step(at + "sumsq", (x ** 2).sum(-1))
    spread = r.step(at + ("var" if centre else "meansq"), (x ** 2).sum(-1) / n)
    r.step(at + ("var_eps" if centre else "meansq_eps"), spread + eps)
    one_over = r.step(at + ("rstd" if centre else "rrms"), 1 / np.sqrt(spread + eps))
    normed = r.step(at + "normalized", x * one_over[..., None])
    if gamma is not None:
        r.step(at + "scaled", normed * gamma)


def softmax_steps(r, names, x):
    top = x.max(-1, keepdims=True)
    for name, step in zip(names, (top[..., 0], x - top, np.exp(x - top), np.exp(x - top).sum(-1))):
        r.step(name, step)


# --- parts, as the programs have them ---

def drop(x, wrong, where, name):
    """Dropout of a tenth, left on in every place or in that one; each place has masks of its own."""
    if wrong not in ("dropout", "dropout " + where):
        return x
    keep = np.random.default_rng(zlib.crc32(name.encode())).random(x.shape) >= 0.1
    return np.where(keep, x / 0.9, 0)


def layer_norm(w, r, x, node, name, eps, bias=True):
    gamma = w.vector(name + ".weight", x.shape[-1], 1.0)
    norm_steps(r, node, x, eps, True, gamma if bias else None)
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma
    return r.put(node + ".out", y + w.vector(name + ".bias", x.shape[-1]) if bias else y)


def norm_of_blocks(wrong, w, r, x, node, name, eps, bias=True):
    """A LayerNorm with a mistake, in the blocks alone but for the last of them."""
    if wrong == "unbiased" or (wrong in ("rms of the blocks", "plus of the blocks", "no beta of the blocks") and "blocks" in node):
        gamma, beta = (w.vector(name + f".{one}", x.shape[-1]) for one in ("weight", "bias"))
        mean = 0 if wrong == "rms of the blocks" else x.mean(-1, keepdims=True)
        squares = ((x - mean) ** 2).sum(-1, keepdims=True) / (x.shape[-1] - (wrong == "unbiased"))
        y = (x - mean) / np.sqrt(squares + eps) * (gamma + (wrong == "plus of the blocks"))
        return y if wrong == "no beta of the blocks" else y + beta
    return layer_norm(w, r, x, node, name, eps, bias)


def rms_norm(w, r, x, node, name, eps, plus=0.0):
    gamma = w.vector(name + ".weight", x.shape[-1], 1.0 - plus)
    norm_steps(r, node, x, eps, False)
    if plus:
        r.step(node + ".gamma_plus", plus + gamma)
    return r.put(node + ".out", x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * (plus + gamma))


def linear(w, x, name, rows, bias=False, sharp=1.0):
    y = x @ w.matrix(name + ".weight", rows, x.shape[-1], sharp).T
    return y + w.vector(name + ".bias", rows) if bias else y


def conv1d(w, x, name, rows, wrong=None):
    kernel = w.get_(name + ".weight", x.shape[-1], rows, spread=1 / math.sqrt(x.shape[-1]))
    if wrong in ("reshaped", name.rsplit(".", 1)[1] + " reshaped"):
        kernel = kernel.reshape(rows, -1).T
    return x @ kernel + w.vector(name + ".bias", rows)


def seen(n, window=None):
    allowed = np.zeros((n, n), bool)
    for i in range(n):
        for j in range(n):
            allowed[i, j] = j <= i and (window is None or i - j < window)
    return allowed


def attend(r, node, q, k, v, scale, allowed, bias=None, cap=None, tiled=False, wrong=None):
    """q[t,h,e], k and v[t,g,e] to [t,h,e]; allowed None: all see all."""
    share = q.shape[1] // k.shape[1]
    if share > 1:
        k = np.tile(k, (1, share, 1)) if tiled else np.repeat(k, share, 1)
        v = np.tile(v, (1, share, 1)) if tiled or wrong == "values tiled" else np.repeat(v, share, 1)
        r.put(node + ".k_shared", k)
        r.put(node + ".v_shared", v)
    scores = r.put(node + ".scores_raw", np.einsum("the,uhe->htu", q, k)) * scale
    r.put(node + ".scores_scaled", scores)
    if cap:
        r.step(node + ".scores_over_cap", scores / cap)
        r.step(node + ".scores_tanh", np.tanh(scores / cap))
        scores = r.put(node + ".scores_capped", cap * np.tanh(scores / cap))
    if bias is not None:
        scores = r.also(node + ".scores_biased", scores + bias)
    if allowed is None:
        allowed = np.ones((len(q), len(q)), bool)
    else:
        r.also(node + ".scores_masked", np.where(allowed[None], scores, -np.inf))
    softmax_steps(r, [f"{node}.{step}" for step in ("row_max", "shifted", "exp", "row_sum")], np.where(allowed[None], scores, -np.inf))
    at = np.arange(len(allowed))
    if wrong == "one more":
        allowed = allowed | (at[None] == at[:, None] + 1)
    if wrong in ("not itself", "not itself, the first all"):
        allowed = allowed & (at[None] != at[:, None])
        allowed[0] = (at == 0) | (wrong == "not itself, the first all")
    finite = re.fullmatch("mask (adds|sets) (.*)", wrong or "")
    hidden = scores if wrong == "mask late" else (scores if finite[1] == "adds" else 0) + float(finite[2]) + 0 * scores if finite else -np.inf
    pattern = softmax(np.where(allowed[None], scores, hidden))
    pattern = r.put(node + ".pattern", allowed * pattern if wrong == "mask late" else drop(pattern, wrong, "in attention", node))
    return r.put(node + ".z", np.einsum("htu,uhe->the", pattern, v))


def split(x, heads):
    return x.reshape(len(x), heads, -1)


def merge(x):
    return x.reshape(len(x), -1)


# --- rotary positions (modeling_rope_utils.py) ---

def frequencies(width, base, scaling=None, n=0, longest=0, learned=0):
    """For a text of n words; longest, learned: max_position_embeddings and, of Phi-3, original_max_position_embeddings."""
    if scaling and scaling["rope_type"] == "dynamic":
        base = base * (scaling["factor"] * max(n, longest) / longest - (scaling["factor"] - 1)) ** (width / (width - 2))
    inv = 1.0 / base ** (np.arange(0, width, 2) / width)
    if not scaling or scaling["rope_type"] == "dynamic":
        return inv, 1.0
    if scaling["rope_type"] == "longrope":
        return inv / np.array(scaling["long_factor" if n > learned else "short_factor"]), math.sqrt(1 + math.log(longest / learned) / math.log(learned))
    factor = scaling["factor"]
    if scaling["rope_type"] == "linear":
        return inv / factor, 1.0
    trained = scaling["original_max_position_embeddings"]
    if scaling["rope_type"] == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        out = []
        for f in inv:
            wave = 2 * math.pi / f
            if wave < trained / high:
                out.append(f)
            elif wave > trained / low:
                out.append(f / factor)
            else:
                smooth = (trained / wave - low) / (high - low)
                out.append((1 - smooth) * f / factor + smooth * f)
        return np.array(out), 1.0
    at = lambda turns: width * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))
    low = max(math.floor(at(scaling.get("beta_fast", 32))), 0)
    high = min(math.ceil(at(scaling.get("beta_slow", 1))), width - 1)
    ramp = np.clip((np.arange(width // 2) - low) / (high - low if high != low else 0.001), 0, 1)
    return inv / factor * ramp + inv * (1 - ramp), 0.1 * math.log(factor) + 1


def rotate(x, inv, stretch=1.0, adjacent=False, first=0, r=None, name=None):
    """x[t,h,e]: its first 2·len(inv) numbers turned by their place, counted from `first`. r: what keeps both parts, by name."""
    n, width = len(x), 2 * len(inv)
    angle = (first + np.arange(n))[:, None] * inv[None]
    turned, rest = x[..., :width], x[..., width:]
    if adjacent:
        cos, sin = (np.repeat(f(angle), 2, 1)[:, None] * stretch for f in (np.cos, np.sin))
        other = np.stack((-turned[..., 1::2], turned[..., ::2]), -1).reshape(turned.shape)
    else:
        cos, sin = (np.concatenate((f(angle), f(angle)), 1)[:, None] * stretch for f in (np.cos, np.sin))
        other = np.concatenate((-turned[..., width // 2:], turned[..., :width // 2]), -1)
    if r is not None:
        partner = turned.reshape(*turned.shape[:-1], -1, 2)[..., ::-1].reshape(turned.shape) if adjacent else np.roll(turned, width // 2, -1)
        r.step(name + "_swapped", np.concatenate((partner, rest), -1))
        r.step(name + "_cos", np.concatenate((turned * cos, rest), -1))
        r.step(name + "_sin", np.concatenate((other * sin, 0 * rest), -1))
    return np.concatenate((turned * cos + other * sin, rest), -1)


def alibi(heads, n, slopes):
    return np.array(slopes)[:, None, None] * (np.arange(n)[None, None] - np.arange(n)[None, :, None])


# --- families; each: config, forward(weights, record, ids, wrong) ---

def embed(w, r, ids, name, width=D):
    return r.put("decoder.embed", w.matrix(name, V, width, 4.0)[ids])


def block(i):
    return f"decoder.blocks.{i}."


def before_turning(r, b, *parts):
    for name, part in zip("qkv", parts):
        r.also(f"{b}self_attn.{name}", part)


def mlp(w, r, b, x, up, down, act, bias=True, conv=False):
    make_it = conv1d if conv else (lambda w, x, n, rows: linear(w, x, n, rows, bias))
    pre = r.put(b + "mlp.pre", make_it(w, x, up, M))
    return r.put(b + "mlp.out", make_it(w, r.put(b + "mlp.post", ACT[act](pre)), down, D))


GPT2 = dict(model_type="gpt2", n_embd=D, n_head=2, n_layer=2, n_positions=12, n_inner=M, vocab_size=V,
            activation_function="gelu_new", layer_norm_epsilon=1e-5, attn_pdrop=0.1, eos_token_id=1)


def gpt2(w, r, ids, wrong):
    return gpt(w, r, ids, wrong, lambda x, name, rows: conv1d(w, x, name, rows, wrong))


def gpt(w, r, ids, wrong, line, act="tanh", bias=True, tied=True, hidden=M):
    n = len(ids)
    at = np.arange(n)[::-1] if wrong == "reversed" else np.zeros(n, int) if wrong == "one place" else np.arange(n)
    x = embed(w, r, ids, "transformer.wte.weight") + r.also("decoder.pos_embed", w.matrix("transformer.wpe.weight", 12, D)[at])
    x = r.put("decoder.full_embed", drop(x, wrong, "of the embeddings", "embeddings"))
    layer_norm = partial(norm_of_blocks, wrong)
    for i in range(2):
        b, p = block(i), f"transformer.h.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "ln_1", 1e-5, bias)
        q, k, v = (split(part, 2) for part in np.split(line(y, p + "attn.c_attn", 3 * D), 3, 1))
        for name, part in zip("qkv", (q, k, v)):
            r.put(b + "self_attn." + name, part)
        z = attend(r, b + "self_attn", q, k, v, 8 ** -0.5, seen(n).T if wrong == "mask" else seen(n, 3 if wrong == "window" else None), wrong=wrong)
        x = r.put(b + "resid_mid", x + drop(r.also(b + "self_attn.out", line(merge(z), p + "attn.c_proj", D)), wrong, "on the branches", b + "attn"))
        y = layer_norm(w, r, x, b + "ln2", p + "ln_2", 1e-5, bias)
        pre = r.put(b + "mlp.pre", line(y, p + "mlp.c_fc", hidden))
        post = r.put(b + "mlp.post", ACT[act](pre))
        found = drop(r.put(b + "mlp.out", line(post, p + "mlp.c_proj", D)), wrong, "on the branches", b + "mlp")
        x = r.put(b + "resid_post", (y if wrong == "from the norm" else x) + found)
    x = layer_norm(w, r, x, "decoder.ln_final", "transformer.ln_f", 1e-5, bias)
    return x @ (w["transformer.wte.weight"] if tied else w.matrix("lm_head.weight", V, D)).astype(np.float64).T


# Two small programs with GPT-2's names over linear layers: the first has erf's GELU, one switch for all biases and the
# words' vectors for its answer, the second a config.json with a model_type of its own.
NANO = dict(n_layer=2, n_head=2, n_embd=D, block_size=12, bias=False, vocab_size=V, dropout=0.0)
MIN = dict(model_type="gpt-mini", n_layer=2, n_head=2, n_embd=D, vocab_size=V, block_size=12, embd_pdrop=0.1, resid_pdrop=0.1, attn_pdrop=0.1)


def nanogpt(w, r, ids, wrong):
    return gpt(w, r, ids, wrong, lambda x, name, rows: linear(w, x, name, rows), "gelu", False, hidden=4 * D)


def mingpt(w, r, ids, wrong):
    return gpt(w, r, ids, wrong, lambda x, name, rows: linear(w, x, name, rows, True), tied=False, hidden=4 * D)


NEO = dict(model_type="gpt_neo", hidden_size=D, num_heads=2, num_layers=3, max_position_embeddings=12,
           intermediate_size=M, vocab_size=V, activation_function="gelu_new", layer_norm_epsilon=1e-5, window_size=3,
           attention_types=[[["global", "local"], 1], [["local"], 1]], attention_layers=["global", "local", "local"])


def gpt_neo(w, r, ids, wrong):
    n = len(ids)
    x = embed(w, r, ids, "transformer.wte.weight") + r.also("decoder.pos_embed", w.matrix("transformer.wpe.weight", 12, D)[:n])
    r.also("decoder.full_embed", x)
    for i in range(3):
        b, p = block(i), f"transformer.h.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "ln_1", 1e-5)
        q, k, v = (r.put(b + "self_attn." + c, split(linear(w, y, p + f"attn.attention.{c}_proj", D), 2)) for c in "qkv")
        window = None if i == 0 else 4 if wrong == "window" else 3
        z = attend(r, b + "self_attn", q, k, v, 8 ** -0.5 if wrong == "scale" else 1.0, seen(n, window))
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "attn.attention.out_proj", D, True)))
        y = layer_norm(w, r, x, b + "ln2", p + "ln_2", 1e-5)
        x = r.put(b + "resid_post", x + mlp(w, r, b, y, p + "mlp.c_fc", p + "mlp.c_proj", "tanh"))
    x = layer_norm(w, r, x, "decoder.ln_final", "transformer.ln_f", 1e-5)
    return x @ w["transformer.wte.weight"].astype(np.float64).T


GPTJ = dict(model_type="gptj", n_embd=D, n_head=2, n_layer=2, n_positions=12, n_inner=M, rotary_dim=4, vocab_size=V,
            activation_function="gelu_new", layer_norm_epsilon=1e-5, tie_word_embeddings=False)


def gptj(w, r, ids, wrong):
    n, inv, heads = len(ids), frequencies(4, 10000)[0], 4 if wrong == "heads" else 2
    x = embed(w, r, ids, "transformer.wte.weight")
    for i in range(2):
        b, p = block(i), f"transformer.h.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "ln_1", 1e-5)
        q, k, v = (split(linear(w, y, p + f"attn.{c}_proj", D, sharp=2), heads) for c in "qkv")
        before_turning(r, b, q, k, v)
        q, k = (r.put(b + f"self_attn.{c}_turned", rotate(t, inv, 1.0, wrong != "pairs", 0, r, b + "self_attn." + c)) for c, t in (("q", q), ("k", k)))
        z = attend(r, b + "self_attn", q, k, v, (D // heads) ** -0.5, seen(n))
        found = r.also(b + "self_attn.out", linear(w, merge(z), p + "attn.out_proj", D))
        r.also(b + "resid_mid", x + found)
        x = r.put(b + "resid_post", found + mlp(w, r, b, y, p + "mlp.fc_in", p + "mlp.fc_out", "tanh") + x)
    return linear(w, layer_norm(w, r, x, "decoder.ln_final", "transformer.ln_f", 1e-5), "lm_head", V, True)


NEOX = dict(model_type="gpt_neox", hidden_size=D, num_attention_heads=2, num_hidden_layers=2, intermediate_size=M,
            max_position_embeddings=12, vocab_size=V, hidden_act="gelu", rotary_pct=0.5, rotary_emb_base=10000,
            layer_norm_eps=1e-5, use_parallel_residual=True, tie_word_embeddings=False)


def neox(w, r, ids, wrong):
    n, heads = len(ids), 4 if wrong == "heads" else 2
    inv = frequencies(D // heads // 2, 10000)[0]
    x = embed(w, r, ids, "gpt_neox.embed_in.weight")
    for i in range(2):
        b, p = block(i), f"gpt_neox.layers.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "input_layernorm", 1e-5)
        qkv = linear(w, y, p + "attention.query_key_value", 3 * D, True, 2.0)
        if wrong == "fused":
            q, k, v = (split(part, 2) for part in np.split(qkv, 3, 1))
        else:
            q, k, v = (part for part in np.split(qkv.reshape(n, heads, 3 * D // heads), 3, 2))
        for name, part in zip("qkv", (q, k, v)):
            r.put(b + "self_attn." + name, part)
        q, k = (r.put(b + f"self_attn.{c}_turned", rotate(t, inv)) for c, t in (("q", q), ("k", k)))
        z = attend(r, b + "self_attn", q, k, v, (D // heads) ** -0.5, seen(n))
        found = r.put(b + "self_attn.out", linear(w, merge(z), p + "attention.dense", D, True))
        r.also(b + "resid_mid", x + found)
        after = x + found if wrong == "parallel" else x
        y = layer_norm(w, r, after, b + "ln2", p + "post_attention_layernorm", 1e-5)
        x = r.put(b + "resid_post", mlp(w, r, b, y, p + "mlp.dense_h_to_4h", p + "mlp.dense_4h_to_h", "gelu") + found + x)
    return linear(w, layer_norm(w, r, x, "decoder.ln_final", "gpt_neox.final_layer_norm", 1e-5), "embed_out", V)


OPT = dict(model_type="opt", hidden_size=D, num_attention_heads=2, num_hidden_layers=2, ffn_dim=M, vocab_size=V,
           max_position_embeddings=12, activation_function="relu", do_layer_norm_before=True, word_embed_proj_dim=D,
           _remove_final_layer_norm=False, layer_norm_elementwise_affine=True, enable_bias=True, dropout=0.1)


def opt(w, r, ids, wrong):
    n, d = len(ids), "model.decoder."
    at = 0 if wrong == "offset" else 2
    x = embed(w, r, ids, d + "embed_tokens.weight") + r.also("decoder.pos_embed", w.matrix(d + "embed_positions.weight", 14, D)[at:at + n])
    r.also("decoder.full_embed", x)
    for i in range(2):
        b, p = block(i), f"{d}layers.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "self_attn_layer_norm", 1e-5)
        q, k, v = (r.put(b + "self_attn." + c, split(linear(w, y, p + f"self_attn.{c}_proj", D, True), 2)) for c in "qkv")
        z = attend(r, b + "self_attn", q, k, v, 8 ** -0.5, seen(n))
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.out_proj", D, True)))
        y = layer_norm(w, r, x, b + "ln2", p + "final_layer_norm", 1e-5)
        x = r.put(b + "resid_post", x + mlp(w, r, b, y, p + "fc1", p + "fc2", "relu"))
    x = layer_norm(w, r, x, "decoder.ln_final", d + "final_layer_norm", 1e-5)
    return x @ w[d + "embed_tokens.weight"].astype(np.float64).T


OPT_350M = OPT | dict(do_layer_norm_before=False, word_embed_proj_dim=6)


def opt_350m(w, r, ids, wrong):
    """Words of 6 brought to the width, places of the width; norms behind the sums and none at the end; back to 6."""
    n, d = len(ids), "model.decoder."
    x = r.put("decoder.project", linear(w, embed(w, r, ids, d + "embed_tokens.weight", 6), d + "project_in", D))
    x = r.put("decoder.full_embed", x + r.also("decoder.pos_embed", w.matrix(d + "embed_positions.weight", 14, D)[2:2 + n]))
    for i in range(2):
        b, p = block(i), f"{d}layers.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "self_attn_layer_norm", 1e-5) if wrong == "in front" else x
        q, k, v = (r.put(b + "self_attn." + c, split(linear(w, y, p + f"self_attn.{c}_proj", D, True), 2)) for c in "qkv")
        z = attend(r, b + "self_attn", q, k, v, 8 ** -0.5, seen(n))
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.out_proj", D, True)))
        x = y = layer_norm(w, r, x, b + "ln1", p + "self_attn_layer_norm", 1e-5) if wrong != "in front" else x
        y = layer_norm(w, r, x, b + "ln2", p + "final_layer_norm", 1e-5) if wrong == "in front" else x
        x = r.put(b + "resid_post", x + mlp(w, r, b, y, p + "fc1", p + "fc2", "relu"))
        x = layer_norm(w, r, x, b + "ln2", p + "final_layer_norm", 1e-5) if wrong != "in front" else x
    x = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) if wrong == "a last norm" else x
    return r.put("decoder.narrow", linear(w, x, d + "project_out", 6)) @ w[d + "embed_tokens.weight"].astype(np.float64).T


BLOOM = dict(model_type="bloom", hidden_size=18, n_head=3, n_layer=2, vocab_size=V, layer_norm_epsilon=1e-5,
             apply_residual_connection_post_layernorm=False, pretraining_tp=1, slow_but_exact=False)


def bloom(w, r, ids, wrong):
    n, t, width = len(ids), "transformer.", 18
    x = r.put("decoder.embed", w.matrix(t + "word_embeddings.weight", V, width, 4.0)[ids])
    x = layer_norm(w, r, x, "decoder.ln_embed", t + "word_embeddings_layernorm", 1e-5)
    # three heads: those of two, 2^-4 and 2^-8, then every second of four, from 2^-2
    slopes = [2 ** -2, 2 ** -4, 2 ** -6] if wrong == "slopes" else [2 ** -4, 2 ** -8, 2 ** -2]
    heads = 6 if wrong == "heads" else 3
    if wrong == "heads":  # those of four, then every second of eight, from 2^-1
        slopes = [2 ** -2, 2 ** -4, 2 ** -6, 2 ** -8, 2 ** -1, 2 ** -3]
    for i in range(2):
        b, p = block(i), f"{t}h.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "input_layernorm", 1e-5)
        qkv = linear(w, y, p + "self_attention.query_key_value", 3 * width, True)
        parts = qkv.reshape(n, 3, heads, -1).swapaxes(1, 2) if wrong == "whole" else qkv.reshape(n, heads, 3, -1)
        q, k, v = (r.put(b + "self_attn." + c, parts[:, :, j]) for j, c in enumerate("qkv"))
        z = attend(r, b + "self_attn", q, k, v, (width // heads) ** -0.5, seen(n), alibi(heads, n, slopes))
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attention.dense", width, True)))
        y = layer_norm(w, r, x, b + "ln2", p + "post_attention_layernorm", 1e-5)
        pre = r.put(b + "mlp.pre", linear(w, y, p + "mlp.dense_h_to_4h", 4 * width, True))
        x = r.put(b + "resid_post", x + r.also(b + "mlp.out", linear(w, r.also(b + "mlp.post", ACT["tanh"](pre)), p + "mlp.dense_4h_to_h", width, True)))
    x = layer_norm(w, r, x, "decoder.ln_final", t + "ln_f", 1e-5)
    return x @ w[t + "word_embeddings.weight"].astype(np.float64).T


MPT = dict(model_type="mpt", d_model=D, n_heads=2, n_layers=2, max_seq_len=12, vocab_size=V, expansion_ratio=4,
           no_bias=True, norm_type="low_precision_layernorm", layer_norm_epsilon=1e-5, emb_pdrop=0, resid_pdrop=0,
           attn_config=dict(alibi=True, alibi_bias_max=8, clip_qkv=None, qk_ln=False, softmax_scale=None,
                            prefix_lm=False, attn_pdrop=0, attn_type="multihead_attention"))


def mpt(w, r, ids, wrong):
    n, t, heads = len(ids), "transformer.", 4 if wrong == "heads" else 2
    x = embed(w, r, ids, t + "wte.weight")
    for i in range(2):
        b, p = block(i), f"{t}blocks.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "norm_1", 1e-5, bias=False)
        q, k, v = (split(part, heads) for part in np.split(linear(w, y, p + "attn.Wqkv", 3 * D), 3, 1))
        before_turning(r, b, q, k, v)
        bias = None if wrong == "alibi" else alibi(heads, n, [2 ** (-8 * (i + 1) / heads) for i in range(heads)])
        z = attend(r, b + "self_attn", q, k, v, (D // heads) ** -0.5, seen(n), bias)
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "attn.out_proj", D)))
        y = layer_norm(w, r, x, b + "ln2", p + "norm_2", 1e-5, bias=False)
        post = r.also(b + "mlp.post", ACT["gelu"](r.also(b + "mlp.pre", linear(w, y, p + "ffn.up_proj", 4 * D))))
        x = r.put(b + "resid_post", x + r.also(b + "mlp.out", linear(w, post, p + "ffn.down_proj", D)))
    return layer_norm(w, r, x, "decoder.ln_final", t + "norm_f", 1e-5, bias=False) @ w[t + "wte.weight"].astype(np.float64).T


MPT_CLIPPED = MPT | dict(d_model=18, n_heads=3, attn_config=MPT["attn_config"] | dict(alibi_bias_max=5, clip_qkv=0.9))


def mpt_clipped(w, r, ids, wrong):
    """As MPT-7B-StoryWriter has them: other slopes (of two heads of four, then the first of four), q, k and v cut off."""
    n, t, heads, width = len(ids), "transformer.", 3, 18
    most, clip = 8 if wrong == "slopes of the paper" else 5, np.inf if wrong == "not cut off" else 0.9
    four = [2 ** (-most * (i + 1) / 4) for i in range(4)]
    x = r.put("decoder.embed", w.matrix(t + "wte.weight", V, width, 4.0)[ids])
    for i in range(2):
        b, p = block(i), f"{t}blocks.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "norm_1", 1e-5, bias=False)
        q, k, v = (split(part, heads) for part in np.split(linear(w, y, p + "attn.Wqkv", 3 * width), 3, 1))
        for c, part in zip("qkv", (q, k, v)):
            r.put(b + f"self_attn.{c}_unclipped", part)
        q, k, v = (r.put(b + "self_attn." + c, np.clip(part, -clip, clip)) for c, part in zip("qkv", (q, k, v)))
        z = attend(r, b + "self_attn", q, k, v, (width // heads) ** -0.5, seen(n), alibi(heads, n, [four[1], four[3], four[0]]))
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "attn.out_proj", width)))
        y = layer_norm(w, r, x, b + "ln2", p + "norm_2", 1e-5, bias=False)
        post = r.also(b + "mlp.post", ACT["gelu"](r.also(b + "mlp.pre", linear(w, y, p + "ffn.up_proj", 4 * width))))
        x = r.put(b + "resid_post", x + r.also(b + "mlp.out", linear(w, post, p + "ffn.down_proj", width)))
    return layer_norm(w, r, x, "decoder.ln_final", t + "norm_f", 1e-5, bias=False) @ w[t + "wte.weight"].astype(np.float64).T


# Llama and what came of it: 4 heads of 8 on 2 of keys and values, a model width of 16.
LLAMA = dict(model_type="llama", hidden_size=D, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
             num_hidden_layers=2, intermediate_size=M, vocab_size=V, max_position_embeddings=64, rms_norm_eps=1e-5,
             rope_theta=10000.0, hidden_act="silu", tie_word_embeddings=False, attention_bias=False, mlp_bias=False)


# llama2.c: heads that fill the width, the words' vectors for the answer, neighbours in pairs.
LLAMA2C = LLAMA | dict(num_attention_heads=2, num_key_value_heads=1, tie_word_embeddings=True)


def llama2c(w, r, ids, wrong):
    return llama_like(LLAMA2C)(w, r, ids, "pairs")


def gated(w, r, b, x, p, act, bias=False):
    gate = r.put(b + "mlp.gate", linear(w, x, p + "gate_proj", M, bias))
    up = r.put(b + "mlp.pre", linear(w, x, p + "up_proj", M, bias))
    return r.put(b + "mlp.out", linear(w, r.put(b + "mlp.post", r.also(b + "mlp.gate_post", ACT[act](gate)) * up), p + "down_proj", D, bias))


def qkv_of(w, r, b, y, p, c, wrong, qkv_bias=False, norms=None):
    heads, groups, e = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
    q = split(linear(w, y, p + "q_proj", heads * e, qkv_bias, 2.0), heads)
    k = split(linear(w, y, p + "k_proj", groups * e, qkv_bias, 2.0), groups)
    v = split(linear(w, y, p + "v_proj", groups * e, qkv_bias), groups)
    for name, part in zip("qkv", (q, k, v)):
        r.put(b + "self_attn." + name, part)
    return q, k, v


FIRST = {"places from 1": 1, "places from 5": 5}


def llama_like(c, scaling=None, qkv_bias=False, out_bias=False, head_norm=False, windows=lambda i: None, prefix="model.", mlps=None):
    said = c

    def forward(w, r, ids, wrong):
        c = said | {k: said[k] * 2 for k in ("num_attention_heads", "num_key_value_heads")} | dict(head_dim=said["head_dim"] // 2) if wrong == "heads" else said
        n, e, eps, ends = len(ids), c["head_dim"], 0.01 if wrong == "epsilon of the blocks" else c["rms_norm_eps"], c["rms_norm_eps"]
        w = as_float16(w) if wrong == "rounded" else w
        inv, stretch = frequencies(e, c["rope_theta"], None if wrong == "scaling" else scaling, n, c["max_position_embeddings"])
        if wrong == "base":
            inv = frequencies(e, 500000.0)[0]
        inv = -inv if wrong == "sign" else frequencies(D, c["rope_theta"])[0][:e // 2] if wrong == "by the width" else inv
        ids = {"rolled": (ids + 1) % V, "one on": np.r_[ids[1:], 0], "one late": np.r_[1, ids[:-1]]}.get(wrong, ids)
        x = embed(w, r, ids, prefix + "embed_tokens.weight")
        x = r.put("decoder.embed", x * math.sqrt(D)) if wrong == "embeddings scaled" else x
        centred = wrong in ("layer norm", "layer norm of the blocks")
        for i in range(c["num_hidden_layers"] - (wrong == "last block")):
            b, p = block(i), f"{prefix}layers.{i}."
            norm1, norm2 = (partial(rms_norm, w, r, node=b + node, name=p + name, eps=eps) for node, name in
                            (("rms1", "input_layernorm"), ("rms2", "post_attention_layernorm")))
            moved = wrong in ("post norm", "norms on branches")
            y = x if moved else rms_norm(w, r, x - x.mean(-1, keepdims=True) if centred else x, b + "rms1", p + "input_layernorm", eps, wrong == "plus of the blocks")
            q, k, v = qkv_of(w, r, b, y, p + "self_attn.", c, wrong, qkv_bias)
            if head_norm == "all":
                q = split(rms_norm(w, r, merge(q), b + "self_attn.rms_q", p + "self_attn.q_norm", eps), q.shape[1])
                k = split(rms_norm(w, r, merge(k), b + "self_attn.rms_k", p + "self_attn.k_norm", eps), k.shape[1])
            elif head_norm and wrong != "head norm":
                q = q if wrong == "q not normed" else rms_norm(w, r, q, b + "self_attn.rms_q", p + "self_attn.q_norm", eps)
                k = k if wrong == "k not normed" else rms_norm(w, r, k, b + "self_attn.rms_k", p + "self_attn.k_norm", eps)
            q, k = (r.put(b + f"self_attn.{name}_turned", rotate(t, inv, stretch, wrong in ("pairs", "pairs and tiled"), FIRST.get(wrong, 0), r, b + "self_attn." + name)) for name, t in (("q", q), ("k", k)))
            if wrong == "keys one on":  # one row in front turns all of them once more
                k = rotate(np.concatenate([0 * k[:1], qkv_of(w, r, b, y, p + "self_attn.", c, wrong, qkv_bias)[1]]), inv, stretch)[1:]
            v = rotate(v, inv, stretch) if wrong == "values turned" else v
            window = windows(i)
            window = window + 1 if window and wrong == "window" else 2 if window and wrong == "a window of 2" else window
            z = attend(r, b + "self_attn", q, k, v, e ** -0.5, seen(n, window), tiled=wrong in ("tiled", "pairs and tiled"), wrong=wrong)
            before = x
            x = y if wrong == "from the norm" else x
            z = r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.o_proj", D, out_bias))
            x = r.put(b + "resid_mid", x + (norm1(z) if wrong == "norms on branches" else z))
            x = norm1(x) if wrong == "post norm" else x
            seen_by_mlp = before if wrong == "parallel" else x
            seen_by_mlp = seen_by_mlp - seen_by_mlp.mean(-1, keepdims=True) if centred else seen_by_mlp
            y = x if moved else rms_norm(w, r, seen_by_mlp, b + "rms2", p + ("input_layernorm" if wrong == "one norm" else "post_attention_layernorm"), eps, wrong == "plus of the blocks")
            found = mlps(w, r, b, y, p, i, wrong) if mlps else gated(w, r, b, y, p + "mlp.", "silu", c.get("mlp_bias", False))
            x = r.put(b + "resid_post", x + (norm2(found) if wrong == "norms on branches" else found))
            x = norm2(x) if wrong == "post norm" else x
        x = x - x.mean(-1, keepdims=True) if wrong == "layer norm" else x
        x = rms_norm(w, r, x, "decoder.rms_final", prefix + "norm", ends)
        if wrong == "final norm twice":
            x = rms_norm(w, r, x, "decoder.rms_final", prefix + "norm", eps)
        if c["tie_word_embeddings"] or wrong == "tied":
            return x @ w[prefix + "embed_tokens.weight"].astype(np.float64).T
        return np.roll(linear(w, x, "lm_head", V), {"rolled on": 1, "rolled back": -1}.get(wrong, 0), 1)
    return forward


LLAMA3 = LLAMA | dict(rope_theta=100.0, num_key_value_heads=1, tie_word_embeddings=True, rope_scaling=dict(
    rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32))
DYNAMIC = LLAMA | dict(rope_theta=100.0, max_position_embeddings=6, rope_scaling=dict(rope_type="dynamic", factor=4.0))
LINEAR = LLAMA | dict(attention_bias=True, mlp_bias=True, rope_scaling=dict(type="linear", factor=4.0))
YARN = LLAMA | dict(model_type="qwen2", rope_theta=100.0, use_sliding_window=False, sliding_window=3, max_window_layers=1,
                    rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=256))
for key in ("attention_bias", "mlp_bias"):
    del YARN[key]
MISTRAL = {k: v for k, v in LLAMA.items() if "bias" not in k} | dict(model_type="mistral", sliding_window=4)
QWEN2 = {k: v for k, v in YARN.items() if k != "rope_scaling"} | dict(use_sliding_window=True)
QWEN3 = LLAMA | dict(model_type="qwen3", use_sliding_window=False, sliding_window=None, max_window_layers=2)
del QWEN3["mlp_bias"]



def glu(w, x, p, names, width):
    gate, up, down = names
    return linear(w, ACT["silu"](linear(w, x, p + gate, width)) * linear(w, x, p + up, width), p + down, D)


def glu_steps(w, r, node, x, experts, names, width):
    """Of all experts beside one another, [t,x,m]."""
    line = lambda name: np.stack([linear(w, x, p + name, width) for p in experts], 1)
    gate, up = r.step(node + "gate", line(names[0])), r.step(node + "pre", line(names[1]))
    r.step(node + "post", r.step(node + "gate_post", ACT["silu"](gate)) * up)


def experts(c, count, chosen, normalised, width, dense=lambda i: False, shared=0):
    """The four SparseMoeBlocks (modeling_mixtral.py, …_olmoe.py, …_qwen2_moe.py, …_qwen3_moe.py): one token after the other,
    only the experts that it gets; beside that what all of them say, for the recording."""
    mixtral = c["model_type"] == "mixtral"
    scope, names = ("block_sparse_moe.", ("w1", "w3", "w2")) if mixtral else ("mlp.", ("gate_proj", "up_proj", "down_proj"))

    def mlps(w, r, b, x, p, i, wrong):
        if dense(i):
            return gated(w, r, b, x, p + "mlp.", "silu")
        p, m = p + scope, b + "mlp."
        scores = r.put(m + "router", linear(w, x, p + "gate", count, sharp=3.0))
        probs = r.put(m + "router_probs", softmax(scores))
        softmax_steps(r, [m + "router_" + step for step in ("max", "shifted", "exp", "sum")], scores)
        all_say = np.stack([glu(w, x, f"{p}experts.{e}.", names, width) for e in range(count)], 1)
        glu_steps(w, r, m + "experts.", x, [f"{p}experts.{e}." for e in range(count)], names, width)
        r.put(m + "experts.out", all_say)
        order = sorted(range(count), key=str) if wrong == "experts as text" else [(e + 1) % count for e in range(count)] if wrong == "experts rolled" else range(count)
        norm = normalised != (wrong == "norm") or wrong == "softmax after"
        out, weights, chose, wrote = np.zeros_like(x), np.zeros_like(probs), np.zeros_like(probs), np.zeros_like(all_say)
        for t in range(len(x)):
            ranked = np.argsort(-probs[t], kind="stable")
            if chosen < count:
                assert probs[t, ranked[chosen - 1]] > 1.001 * probs[t, ranked[chosen]]  # no choice that rounding could turn
            top = ranked[:chosen - (wrong == "one less")]
            g = probs[t, top] / probs[t, top].sum() if norm else probs[t, top]
            if wrong == "softmax after":
                g = softmax(scores[t, top])
            for e, share in zip(top, g):
                wrote[t, e] = glu(w, x[t:t + 1], f"{p}experts.{order[e]}.", names, width)[0] * share
                weights[t, e], chose[t, e] = share, 1
                out[t] += wrote[t, e]
        r.put(m + "chosen", chose), r.put(m + "weights", weights), r.put(m + "experts.wrote", wrote)
        if shared:
            said = r.put(m + "shared.out", glu(w, x, p + "shared_expert.", names, shared))
            score = linear(w, x, p + "shared_expert_gate", 1, sharp=2.0)
            openness = 1 / (1 + np.exp(-score))
            one = Record()
            one.inside = r.inside and r.on
            glu_steps(w, one, m + "shared.", x, [p + "shared_expert."], names, shared)
            for name, step in one.items():
                r.step(name, step[:, 0])
            r.also(m + "shared.score", score[:, 0])
            r.also(m + "shared.wrote", said * openness)
            r.put(m + "shared.open", openness[:, 0])
            r.put(m + "routed", out)
            out = out if wrong == "no shared" else out + said * (1 if wrong == "shared gate" else openness)
        return r.put(m + "mixed", out)
    return mlps


PLAIN = {k: v for k, v in LLAMA.items() if "bias" not in k}
MIXTRAL = PLAIN | dict(model_type="mixtral", num_local_experts=4, num_experts_per_tok=2, sliding_window=None,
                       output_router_logits=False, router_aux_loss_coef=0.02)
OLMOE = PLAIN | dict(model_type="olmoe", num_experts=6, num_experts_per_tok=3, norm_topk_prob=False, attention_bias=False,
                     clip_qkv=None, router_aux_loss_coef=0.01)
QWEN2_MOE = PLAIN | dict(model_type="qwen2_moe", num_hidden_layers=3, num_experts=5, num_experts_per_tok=2,
                         moe_intermediate_size=12, shared_expert_intermediate_size=20, norm_topk_prob=False,
                         decoder_sparse_step=2, mlp_only_layers=[], use_sliding_window=False, sliding_window=32768,
                         max_window_layers=21, output_router_logits=False, router_aux_loss_coef=0.001)
QWEN3_MOE = PLAIN | dict(model_type="qwen3_moe", num_hidden_layers=3, num_experts=12, num_experts_per_tok=4,
                         moe_intermediate_size=10, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[1],
                         attention_bias=False, use_sliding_window=False, sliding_window=None, max_window_layers=3,
                         router_aux_loss_coef=0.001)
EXPERTS = [
    ("mixtral", MIXTRAL, llama_like(MIXTRAL, mlps=experts(MIXTRAL, 4, 2, True, M)), ["norm", "experts rolled", "one less"]),
    ("olmoe", OLMOE, llama_like(OLMOE, head_norm="all", mlps=experts(OLMOE, 6, 3, False, M)), ["norm", "softmax after"]),
    ("qwen2_moe", QWEN2_MOE, llama_like(QWEN2_MOE, qkv_bias=True, mlps=experts(QWEN2_MOE, 5, 2, False, 12, lambda i: (i + 1) % 2 != 0, 20)),
     ["norm", "shared gate", "no shared"]),
    ("qwen3_moe", QWEN3_MOE, llama_like(QWEN3_MOE, head_norm=True, mlps=experts(QWEN3_MOE, 12, 4, True, 10, lambda i: i == 1)),
     ["norm", "experts as text"]),
]

OLMO2 = LLAMA | dict(model_type="olmo2")
del OLMO2["mlp_bias"]


def olmo2(w, r, ids, wrong):
    n, inv, c, eps = len(ids), frequencies(8, 10000)[0], OLMO2, 1e-5
    x = embed(w, r, ids, "model.embed_tokens.weight")
    for i in range(2):
        b, p = block(i), f"model.layers.{i}."
        first = wrong == "norms first"
        y = rms_norm(w, r, x, b + "rms1", p + "post_attention_layernorm", eps) if first else x
        q, k, v = qkv_of(w, r, b, y, p + "self_attn.", c, wrong)
        if wrong == "each head":  # normalised head by head
            over = lambda t, name: t / np.sqrt((t * t).mean(-1, keepdims=True) + eps) * split(w[p + f"self_attn.{name}_norm.weight"][None].astype(np.float64), t.shape[1])
            q, k = over(q, "q"), over(k, "k")
        else:
            q = split(rms_norm(w, r, merge(q), b + "self_attn.rms_q", p + "self_attn.q_norm", eps), 4)
            k = split(rms_norm(w, r, merge(k), b + "self_attn.rms_k", p + "self_attn.k_norm", eps), 2)
        q, k = (r.put(b + f"self_attn.{name}_turned", rotate(t, inv)) for name, t in (("q", q), ("k", k)))
        z = attend(r, b + "self_attn", q, k, v, 8 ** -0.5, seen(n))
        found = r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.o_proj", D))
        x = r.put(b + "resid_mid", x + (found if first else rms_norm(w, r, found, b + "rms1", p + "post_attention_layernorm", eps)))
        y = gated(w, r, b, rms_norm(w, r, x, b + "rms2", p + "post_feedforward_layernorm", eps) if first else x, p + "mlp.", "silu")
        x = r.put(b + "resid_post", x + (y if first else rms_norm(w, r, y, b + "rms2", p + "post_feedforward_layernorm", eps)))
    return linear(w, rms_norm(w, r, x, "decoder.rms_final", "model.norm", eps), "lm_head", V)


GEMMA = LLAMA | dict(model_type="gemma", num_key_value_heads=1, hidden_act="gelu_pytorch_tanh", rms_norm_eps=1e-6)
del GEMMA["mlp_bias"], GEMMA["tie_word_embeddings"]
GEMMA2 = {k: v for k, v in GEMMA.items() if k != "hidden_act"} | dict(
    model_type="gemma2", num_key_value_heads=2, hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=12,
    attn_logit_softcapping=1.5, final_logit_softcapping=2.5, sliding_window=3)
GEMMA3 = GEMMA2 | dict(
    model_type="gemma3_text", num_hidden_layers=3, attn_logit_softcapping=None, final_logit_softcapping=None,
    rope_theta=1000.0, rope_local_base_freq=10.0, sliding_window_pattern=2,
    rope_scaling=dict(rope_type="linear", factor=8.0))


def gemma(c):
    kind = c["model_type"]

    def forward(w, r, ids, wrong):
        n, eps, plus = len(ids), 1e-6, 0.0 if wrong == "plus" else 1.0
        heads, scale = c["num_attention_heads"], c.get("query_pre_attn_scalar", 8) ** -0.5
        x = embed(w, r, ids, "model.embed_tokens.weight") * (1 if wrong == "embed scale" else math.sqrt(D))
        r.put("decoder.full_embed", r.also("decoder.embed_scaled", x))
        for i in range(c["num_hidden_layers"]):
            b, p = block(i), f"model.layers.{i}."
            local = kind == "gemma2" and i % 2 == 0 or kind == "gemma3_text" and (i + 1) % 2 != 0
            inv, _ = frequencies(8, c["rope_theta"], c.get("rope_scaling"))
            if local and kind == "gemma3_text" and wrong != "local base":
                inv, _ = frequencies(8, 10.0)
            y = rms_norm(w, r, x, b + "rms1", p + "input_layernorm", eps, plus)
            q, k, v = qkv_of(w, r, b, y, p + "self_attn.", c, wrong)
            if kind == "gemma3_text":
                q = rms_norm(w, r, q, b + "self_attn.rms_q", p + "self_attn.q_norm", eps, plus)
                k = rms_norm(w, r, k, b + "self_attn.rms_k", p + "self_attn.k_norm", eps, plus)
            q, k = (r.put(b + f"self_attn.{name}_turned", rotate(t, inv)) for name, t in (("q", q), ("k", k)))
            window = None if not local else 4 if wrong == "window" else 3
            cap = None if wrong == "caps" else c.get("attn_logit_softcapping")
            z = attend(r, b + "self_attn", q, k, v, scale, seen(n, window), cap=cap)
            found = r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.o_proj", D))
            if kind == "gemma":
                x = r.put(b + "resid_mid", x + found)
                y = rms_norm(w, r, x, b + "rms2", p + "post_attention_layernorm", eps, plus)
                x = r.put(b + "resid_post", x + gated(w, r, b, y, p + "mlp.", "tanh"))
                continue
            x = r.put(b + "resid_mid", x + rms_norm(w, r, found, b + "rms1_after", p + "post_attention_layernorm", eps, plus))
            y = rms_norm(w, r, x, b + "rms2", p + "pre_feedforward_layernorm", eps, plus)
            y = gated(w, r, b, y, p + "mlp.", "tanh")
            x = r.put(b + "resid_post", x + rms_norm(w, r, y, b + "rms2_after", p + "post_feedforward_layernorm", eps, plus))
        x = rms_norm(w, r, x, "decoder.rms_final", "model.norm", eps, plus)
        logits = x @ w["model.embed_tokens.weight"].astype(np.float64).T
        cap = None if wrong == "caps" else c.get("final_logit_softcapping")
        if cap:
            r.step("uncapped", logits)
            r.step("logit_tanh", np.tanh(r.step("logit_over_cap", logits / cap)))
        return cap * np.tanh(logits / cap) if cap else logits
    return forward


PHI = dict(model_type="phi", hidden_size=D, num_attention_heads=2, num_hidden_layers=2, intermediate_size=M,
           vocab_size=V, max_position_embeddings=64, layer_norm_eps=1e-5, rope_theta=10000.0, hidden_act="gelu_new",
           partial_rotary_factor=0.5, qk_layernorm=False, tie_word_embeddings=False)


def phi(w, r, ids, wrong):
    n, heads = len(ids), 4 if wrong == "heads" else 2
    inv = frequencies(8 if wrong == "whole" else D // heads // 2, 10000)[0]
    x = embed(w, r, ids, "model.embed_tokens.weight")
    for i in range(2):
        b, p = block(i), f"model.layers.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "input_layernorm", 1e-5)
        q, k, v = (split(linear(w, y, p + f"self_attn.{c}_proj", D, True, 2), heads) for c in "qkv")
        before_turning(r, b, q, k, v)
        q, k = (r.put(b + f"self_attn.{c}_turned", rotate(t, inv)) for c, t in (("q", q), ("k", k)))
        z = attend(r, b + "self_attn", q, k, v, (D // heads) ** -0.5, seen(n))
        found = r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.dense", D, True))
        r.also(b + "resid_mid", x + found)
        x = r.put(b + "resid_post", found + mlp(w, r, b, y, p + "mlp.fc1", p + "mlp.fc2", "tanh") + x)
    return linear(w, layer_norm(w, r, x, "decoder.ln_final", "model.final_layernorm", 1e-5), "lm_head", V, True)


PHI3 = {k: v for k, v in LLAMA.items() if "bias" not in k and k != "head_dim"} | dict(
    model_type="phi3", hidden_size=32, sliding_window=3, rope_scaling=None, original_max_position_embeddings=64, resid_pdrop=0.0)


# Texts of more than 6 words are long.
LONG = PHI3 | dict(rope_theta=100.0, sliding_window=None, original_max_position_embeddings=6,
                   rope_scaling=dict(rope_type="longrope", short_factor=[1.0, 1.1, 1.3, 1.5], long_factor=[1.0, 2.0, 3.5, 5.0]))


ORDERS = ["k v q", "q v k", "v k q", "k q v", "v q k"]


def phi3(w, r, ids, wrong, c=PHI3):
    n, width = len(ids), 32
    inv, stretch = frequencies(8, c["rope_theta"], None if wrong == "scaling" else c["rope_scaling"], 1 if wrong == "short" else n,
                               c["max_position_embeddings"], c["original_max_position_embeddings"])
    stretch = 1.0 if wrong == "stretch" else stretch
    x = r.put("decoder.embed", w.matrix("model.embed_tokens.weight", V, width, 4.0)[ids])
    for i in range(2):
        b, p = block(i), f"model.layers.{i}."
        y = rms_norm(w, r, x, b + "rms1", p + "input_layernorm", 1e-5)
        qkv = linear(w, y, p + "self_attn.qkv_proj", (4 + 2 * 2) * 8)
        order, at, parts = wrong if wrong in ORDERS else "q k v", 0, {}
        for one in order.split():
            parts[one] = r.put(b + "self_attn." + one, split(qkv[:, at:at + (32 if one == "q" else 16)], 4 if one == "q" else 2))
            at += 32 if one == "q" else 16
        q, k, v = (parts[one] for one in "qkv")
        q, k = (r.put(b + f"self_attn.{name}_turned", rotate(t, inv, stretch, first=FIRST.get(wrong, 0))) for name, t in (("q", q), ("k", k)))
        z = attend(r, b + "self_attn", q, k, v, 8 ** -0.5, seen(n, c["sliding_window"]))
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.o_proj", width)))
        y = rms_norm(w, r, x, b + "rms2", p + "post_attention_layernorm", 1e-5)
        first, second = np.split(linear(w, y, p + "mlp.gate_up_proj", 2 * M), 2, 1)
        gate, up = (second, first) if wrong == "gate" else (first, second)
        post = r.also(b + "mlp.post", r.also(b + "mlp.pre", up) * r.also(b + "mlp.gate_post", ACT["silu"](r.also(b + "mlp.gate", gate))))
        x = r.put(b + "resid_post", x + r.also(b + "mlp.out", linear(w, post, p + "mlp.down_proj", width)))
    return linear(w, rms_norm(w, r, x, "decoder.rms_final", "model.norm", 1e-5), "lm_head", V)


STABLELM = dict(model_type="stablelm", hidden_size=D, num_attention_heads=2, num_key_value_heads=2, num_hidden_layers=2,
                intermediate_size=M, vocab_size=V, max_position_embeddings=64, layer_norm_eps=1e-5, rope_theta=10000,
                hidden_act="silu", partial_rotary_factor=0.5, use_qkv_bias=True, use_parallel_residual=False,
                qk_layernorm=False, tie_word_embeddings=False)


def stablelm(w, r, ids, wrong):
    n, inv = len(ids), frequencies(4, 10000)[0]
    x = embed(w, r, ids, "model.embed_tokens.weight")
    for i in range(2):
        b, p = block(i), f"model.layers.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "input_layernorm", 1e-5)
        q, k, v = (split(linear(w, y, p + f"self_attn.{c}_proj", D, True, 2), 2) for c in "qkv")
        before_turning(r, b, q, k, v)
        q, k = (r.put(b + f"self_attn.{c}_turned", rotate(t, inv)) for c, t in (("q", q), ("k", k)))
        z = attend(r, b + "self_attn", q, k, v, 8 ** -0.5, seen(n))
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.o_proj", D)))
        y = layer_norm(w, r, x, b + "ln2", p + "post_attention_layernorm", 1e-5)
        x = r.put(b + "resid_post", x + gated(w, r, b, y, p + "mlp.", "silu"))
    return linear(w, layer_norm(w, r, x, "decoder.ln_final", "model.norm", 1e-5), "lm_head", V)


STARCODER2 = dict(model_type="starcoder2", hidden_size=D, num_attention_heads=4, num_key_value_heads=2,
                  num_hidden_layers=2, intermediate_size=M, vocab_size=V, max_position_embeddings=64, norm_epsilon=1e-5,
                  rope_theta=10000.0, hidden_act="gelu_pytorch_tanh", use_bias=True, sliding_window=3)


def starcoder2(w, r, ids, wrong):
    n, inv = len(ids), frequencies(4, 10000)[0]
    x = embed(w, r, ids, "model.embed_tokens.weight")
    for i in range(2):
        b, p = block(i), f"model.layers.{i}."
        y = layer_norm(w, r, x, b + "ln1", p + "input_layernorm", 1e-5)
        q, k, v = (split(linear(w, y, p + f"self_attn.{c}_proj", rows * 4, True, 2), rows) for c, rows in zip("qkv", (4, 2, 2)))
        before_turning(r, b, q, k, v)
        q, k = (r.put(b + f"self_attn.{c}_turned", rotate(t, inv)) for c, t in (("q", q), ("k", k)))
        z = attend(r, b + "self_attn", q, k, v, 4 ** -0.5, seen(n, 3))
        x = r.put(b + "resid_mid", x + r.also(b + "self_attn.out", linear(w, merge(z), p + "self_attn.o_proj", D, True)))
        y = layer_norm(w, r, x, b + "ln2", p + "post_attention_layernorm", 1e-5)
        x = r.put(b + "resid_post", x + mlp(w, r, b, y, p + "mlp.c_fc", p + "mlp.c_proj", "tanh"))
    return layer_norm(w, r, x, "decoder.ln_final", "model.norm", 1e-5) @ w["model.embed_tokens.weight"].astype(np.float64).T


FAMILIES = [
    ("gpt2", GPT2, gpt2, ["mask", "reshaped", "c_attn reshaped", "c_fc reshaped", "one more", "not itself", "from the norm", "reversed", "one place", "window", "mask adds -4", "mask sets -3.3",
                          "unbiased", "rms of the blocks", "plus of the blocks", "no beta of the blocks"]),
    ("gpt_neo", NEO, gpt_neo, ["window", "scale"]),
    ("gptj", GPTJ, gptj, ["pairs", "heads"]),
    ("gpt_neox", NEOX, neox, ["fused", "parallel", "heads"]),
    ("opt", OPT, opt, ["offset"]),
    ("bloom", BLOOM, bloom, ["slopes", "heads", "whole"]),
    ("mpt", MPT, mpt, ["alibi", "heads"]),
    ("llama", LLAMA, llama_like(LLAMA), ["pairs", "tiled", "base", "sign", "rolled", "embeddings scaled", "layer norm",
                                          "parallel", "mask adds -10", "mask sets 0", "tied", "final norm twice",
                                          "one on", "one late", "last block", "values turned", "heads",
                                          "one more", "not itself", "not itself, the first all", "mask late", "values tiled",
                                          "by the width", "keys one on", "post norm", "norms on branches", "one norm", "from the norm", "rolled on",
                                          "rolled back", "pairs and tiled", "epsilon of the blocks", "mask sets -4", "layer norm of the blocks",
                                          "plus of the blocks"]),
    ("llama3", LLAMA3, llama_like(LLAMA3, LLAMA3["rope_scaling"]), ["scaling", "pairs", "heads"]),
    ("llama_linear", LINEAR, llama_like(LINEAR, dict(rope_type="linear", factor=4.0), True, True), ["scaling"]),
    ("mistral", MISTRAL, llama_like(MISTRAL, windows=lambda i: 4), ["window", "tiled", "heads", "a window of 2"]),
    ("qwen2", QWEN2, llama_like(QWEN2, None, True, windows=lambda i: 3 if i >= 1 else None), ["window"]),
    ("qwen2_yarn", YARN, llama_like(YARN, YARN["rope_scaling"], True), ["scaling", "heads"]),
    ("qwen3", QWEN3, llama_like(QWEN3, head_norm=True), ["head norm", "k not normed", "q not normed"]),
    ("olmo2", OLMO2, olmo2, ["each head", "norms first"]),
    ("gemma", GEMMA, gemma(GEMMA), ["plus", "embed scale"]),
    ("gemma2", GEMMA2, gemma(GEMMA2), ["caps", "window", "plus"]),
    ("gemma3", GEMMA3, gemma(GEMMA3), ["local base", "window"]),
    ("phi", PHI, phi, ["whole", "heads"]),
    ("phi3", PHI3, phi3, ["gate"] + ORDERS),
    ("stablelm", STABLELM, stablelm, []),
    ("starcoder2", STARCODER2, starcoder2, []),
]


# Each drawn from a seed of its own, so that one more changes none of the others.
LATER = [
    ("nanogpt", NANO, nanogpt, ["mask"]),
    ("mingpt", MIN, mingpt, ["mask"]),
    ("llama2c", LLAMA2C, llama2c, []),
    ("opt_350m", OPT_350M, opt_350m, ["in front", "a last norm"]),
    ("mpt_clipped", MPT_CLIPPED, mpt_clipped, ["slopes of the paper", "not cut off"]),
    ("llama_dynamic", DYNAMIC, llama_like(DYNAMIC, DYNAMIC["rope_scaling"]), ["scaling"]),
    ("phi3_long", LONG, partial(phi3, c=LONG), ["scaling", "short", "stretch"]),
]


def write_llama2c(w, c, path, version):
    """Weights under Hugging Face's names as export.py's versions 0 and 1 write them: heads' numbers in neighbouring pairs."""
    sizes = [c[k] for k in ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size",
                            "max_position_embeddings")]
    each = lambda name: np.concatenate([w[f"model.layers.{i}.{name}.weight"].reshape(-1) for i in range(sizes[2])])
    embed, norms = w["model.embed_tokens.weight"].reshape(-1), [each("input_layernorm"), each("post_attention_layernorm"), w["model.norm.weight"]]
    attn = [each(f"self_attn.{x}_proj") for x in "qkvo"]
    mlp = [each(f"mlp.{x}_proj") for x in ("gate", "down", "up")]
    tables = np.zeros(sizes[6] * (sizes[0] // sizes[3]), np.float32)
    with open(path, "wb") as f:
        head = np.array(sizes, np.int32).tobytes()
        f.write(head if version == 0 else (b"24ka" + np.array([1], np.int32).tobytes() + head + b"\1").ljust(256, b"\0"))
        for x in ([embed, norms[0], *attn, norms[1], *mlp, norms[2], tables] if version == 0 else [*norms, embed, *attn, *mlp]):
            f.write(np.asarray(x, "<f4").tobytes())


DROPOUT = ["dropout", "dropout in attention", "dropout on the branches", "dropout of the embeddings"]
# What every module gives where a mistake is made, for those that other modules' values hide or show.
FROM_MODULES = {"llama": ["embeddings scaled", "one norm", "from the norm", "one more", "pairs and tiled", "parallel", "rounded"],
                "gpt2": ["from the norm", "not itself"] + DROPOUT, "bert": ["norm", "bare"] + DROPOUT, "bloom": ["whole"], "gpt_neox": ["fused"],
                "phi3": ORDERS + ["places from 1"], "qwen3": ["k not normed", "q not normed"]}
FROM_MODULES["llama"] += ["places from 1", "places from 5", "tiled"]
# …and of these every node as well.
EVERY_NODE = {"gpt2": ["dropout"], "bert": ["dropout"], "llama": ["places from 1", "places from 5", "tiled"], "bloom": ["whole"], "phi3": ["k v q", "places from 1"],
              "qwen3": ["k not normed"]}
BEFORE_DROPOUT = re.compile(r"(full_embed|self_attn\.out|mlp\.out)$")
GIVEN = re.compile(r"(\.embed|(^|\.)(ln|rms)\w*\.out|attn\.[qkvz]|resid_post|mlp\.(pre|post)|logits)$")


def given_by_modules(name, r, make, ids):
    for mistake in FROM_MODULES.get(name, ()):
        made = Record()
        made.modules = "dropout" not in mistake
        made.put("logits", make(made, ids, mistake))
        if mistake in EVERY_NODE.get(name, ()):
            r.update({f"modules.{mistake}, every node:{k}": x for k, x in made.items()})
        behind = {k for k in made if k.endswith("resid_post") and name == "bert"}  # a norm stands behind
        r.update({f"modules.{mistake}:{k}": x for k, x in made.items()
                  if (GIVEN.search(k) or "dropout" in mistake and BEFORE_DROPOUT.search(k)) and k not in behind})


# Of one family of each kind, in the text of four: the steps inside of its norms, of softmax, of what rotates, caps and chooses.
INSIDE = ("gpt2", "nanogpt", "llama", "gptj", "gemma2", "bert", "sinks", "mixtral", "qwen2_moe", "t5", "flan_t5", "bart")


def greedy(forward, w, config, ids, most):
    """What is written behind a text, a whole pass for each word."""
    off, text = Record(), list(ids)
    off.on = False
    while len(text) < len(ids) + most:
        text.append(int(forward(w, off, np.array(text), None)[-1].argmax()))
        if text[-1] == config.get("eos_token_id"):
            break
    return text[len(ids):]


def write(name, config, forward, mistakes):
    w, folder = Weights(), "words_" + name
    os.makedirs(folder, exist_ok=True)
    for n in (9, 4, 1):
        r = Record()
        r.inside = n == 4 and name in INSIDE
        ids = np.random.default_rng(n).integers(0, V, n)
        logits = r.put("logits", forward(w, r, ids, None))
        softmax_steps(r, ["probs_" + step for step in ("row_max", "shifted", "exp", "sum")], logits)
        r.put("probs", softmax(logits))
        r.on = False
        for mistake in mistakes if n == 9 else ():
            r["wrong." + mistake] = forward(w, r, ids, mistake)
        if n == 9:
            given_by_modules(name, r, lambda made, ids, mistake: forward(w, made, ids, mistake), ids)
        written = np.array(greedy(forward, w, config, ids, min(8, 12 - n)), np.int64)
        safetensors(f"{folder}/expected_{n}.safetensors", {"ids": ids.astype(np.int64), "greedy": written, **r})
    if name == "llama2c":
        write_llama2c(w, config, folder + "/model.bin", 0)
        return write_llama2c(w, config, folder + "/model1.bin", 1)
    safetensors(f"{folder}/model.safetensors", w)
    with open(f"{folder}/config.json", "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")


# --- encoders: LN(word + segment + place), blocks with their norms behind the sums ---

def lines(w, x, name, rows, sharp=1.0):
    return linear(w, x, name, rows, True, sharp)


def old_norm(w, r, x, node, name, eps, names=("weight", "bias"), swapped=False):
    """LayerNorm under either pair of names; swapped: gamma and beta exchanged."""
    gamma, beta = w.vector(f"{name}.{names[0]}", x.shape[-1], 1.0), w.vector(f"{name}.{names[1]}", x.shape[-1])
    gamma, beta = (beta, gamma) if swapped else (gamma, beta)
    norm_steps(r, node, x, eps, True, gamma)
    return r.put(node + ".out", (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta)


def distance_rows(n, one_sided=False):
    """modeling_mpnet.py, relative_position_bucket: 32 ranges up to 128."""
    rows = np.zeros((n, n), int)
    for i in range(n):
        for j in range(n):
            far, first = abs(j - i), 16 if j > i and not one_sided else 0
            log = 8 + int(np.float32(np.log(np.float32(far / 8))) / np.float32(math.log(16)) * np.float32(8)) if far else 0
            rows[i, j] = first + (far if far < 8 else min(log, 15))
    return rows


def hidden_from(given, readers=None):
    """Padding is nobody's to look at (get_extended_attention_mask), words and padding alike; given: True for a word. None: no padding."""
    return None if given is None else np.broadcast_to(given, (readers or len(given), len(given)))


def encoder(c, prefix, names, head=None, pooler=False, sentence=None, eps=1e-12, offset=0, norms=("weight", "bias")):
    """names: of a block's weights; head: of what fills words in (dense, norm, bias, activation)."""
    heads, width, m = c.get("num_attention_heads", c.get("n_heads")), c.get("hidden_size", c.get("dim")), M
    rows, word = c["max_position_embeddings"], c.get("embedding_size", c.get("hidden_size", c.get("dim")))

    def norm(w, r, x, node, name, wrong):
        return old_norm(w, r, x, node, name, eps, norms, wrong == "gamma")

    def forward(w, r, ids, wrong, given=None):
        n, e = len(ids), width // heads
        segment = np.array([0] * (n // 2 + 1) + [1] * (n - n // 2 - 1)) if c.get("type_vocab_size", 0) > 1 else np.zeros(n, int)
        ids = np.roll(ids, 1) if wrong == "one late" else ids
        x = r.put("encoder.embed", w.matrix(prefix + "embeddings.word_embeddings.weight", V, word, 2.0)[ids])
        if c.get("type_vocab_size"):
            types = w.matrix(prefix + "embeddings.token_type_embeddings.weight", c["type_vocab_size"], word, 2.0)
            x = r.also("encoder.with_segment", x + r.put("encoder.segment_embed", types[segment]) * (wrong != "segments"))
        first = 0 if wrong == "offset" else offset
        x = r.put("encoder.full_embed", x + r.also("encoder.pos_embed", w.matrix(prefix + "embeddings.position_embeddings.weight", rows, word, 2.0)[first:first + n]))
        x = r.put("encoder.ln_embed.out", x) if wrong == "bare" else norm(w, r, x, "encoder.ln_embed", prefix + "embeddings.LayerNorm", wrong)
        x = r.put("encoder.ln_embed.out", drop(x, wrong, "of the embeddings", "embeddings"))  # as the module `embeddings` gives it
        if word != width:
            x = r.put("encoder.project", lines(w, x, prefix + "embeddings_project", width))
        bias = None
        if c.get("relative_attention_num_buckets"):
            table = w.matrix(prefix + "encoder.relative_attention_bias.weight", 32, heads, 2.0)
            bias = r.put("encoder.distance", table[distance_rows(n, wrong == "sides")].transpose(2, 0, 1))
        for i in range(2 - (wrong == "last block")):
            b, p = f"encoder.blocks.{i}.", f"{prefix}{names['block']}.{i}."
            y = norm(w, r, x, b + "ln1", p + names["ln1"], None) if wrong == "norm" else x
            q, k, v = (r.put(b + "self_attn." + one, split(lines(w, y, p + names[one], width, 2.0), heads)) for one in "qkv")
            z = attend(r, b + "self_attn", q, k, v, e ** -0.5, hidden_from(given), bias, wrong=wrong if "dropout" in (wrong or "") else None)
            found = drop(r.put(b + "self_attn.out", lines(w, merge(z), p + names["o"], width)), wrong, "on the branches", b + "attn")
            x = r.put(b + "resid_mid", x + found)
            x = r.put(b + "ln1.out", x) if wrong == "norm" else norm(w, r, x, b + "ln1", p + names["ln1"], wrong)
            y = norm(w, r, x, b + "ln2", p + names["ln2"], None) if wrong == "norm" else x
            pre = r.put(b + "mlp.pre", lines(w, y, p + names["up"], m))
            down = r.put(b + "mlp.out", lines(w, r.put(b + "mlp.post", ACT["gelu"](pre)), p + names["down"], width))
            x = r.put(b + "resid_post", x + drop(down, wrong, "on the branches", b + "mlp"))
            x = r.put(b + "ln2.out", x) if wrong == "norm" else norm(w, r, x, b + "ln2", p + names["ln2"], wrong)
        if pooler:
            first = r.also("pooler.first", x[0])
            pooled = r.put("pooled", np.tanh(r.also("pooler.pre", lines(w, first, prefix + "pooler.dense", width))))
            if pooler == "pair":
                r.put("pair.scores", lines(w, pooled, "cls.seq_relationship", 2))
                r.put("pair.probs", softmax(r["pair.scores"]))
        if head == "replaced":
            hidden = r.also("replaced.post", ACT["gelu"](r.also("replaced.pre", lines(w, x, "discriminator_predictions.dense", width))))
            score = r.put("replaced.score", lines(w, hidden, "discriminator_predictions.dense_prediction", 1)[:, 0])
            r.put("replaced", 1 / (1 + np.exp(-score)))
        y = r.put("embedding", x[0] if sentence == "cls" and wrong != "pool" else x.mean(0))
        if sentence != "cls":
            r.step("embedding_sum", x.sum(0))
        r.step("embedding_norm", np.sqrt(r.step("embedding_sumsq", r.step("embedding_sq", y * y).sum())))
        unit = r.put("embedding_unit", y / np.sqrt((y * y).sum()))
        if not head or head == "replaced":
            return unit
        dense, ln, bias_name = head
        y = r.put("transform.post", ACT["tanh" if wrong == "head's gelu" else "gelu"](r.put("transform.pre", lines(w, x, dense, word))))
        y = norm(w, r, y, "ln_transform", ln, wrong) if wrong != "transform" else y
        return y @ w[prefix + "embeddings.word_embeddings.weight"].astype(np.float64).T + w.vector(bias_name, V)
    return forward


BERT = dict(model_type="bert", architectures=["BertForPreTraining"], hidden_size=D, num_attention_heads=2,
            num_hidden_layers=2, intermediate_size=M, vocab_size=V, max_position_embeddings=12, type_vocab_size=2,
            hidden_act="gelu", layer_norm_eps=1e-12, pad_token_id=0, position_embedding_type="absolute",
            hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, initializer_range=0.02)
BLOCK = dict(block="encoder.layer", q="attention.self.query", k="attention.self.key", v="attention.self.value",
             o="attention.output.dense", ln1="attention.output.LayerNorm", up="intermediate.dense", down="output.dense",
             ln2="output.LayerNorm")
DISTIL = dict(model_type="distilbert", architectures=["DistilBertForMaskedLM"], dim=D, n_heads=2, n_layers=2,
              hidden_dim=M, vocab_size=V, max_position_embeddings=12, activation="gelu", pad_token_id=0, dropout=0.1,
              attention_dropout=0.1, qa_dropout=0.1, seq_classif_dropout=0.2, sinusoidal_pos_embds=False,
              tie_weights_=True, initializer_range=0.02)
DISTIL_BLOCK = dict(block="transformer.layer", q="attention.q_lin", k="attention.k_lin", v="attention.v_lin",
                    o="attention.out_lin", ln1="sa_layer_norm", up="ffn.lin1", down="ffn.lin2", ln2="output_layer_norm")
ROBERTA = BERT | dict(model_type="roberta", architectures=["RobertaForMaskedLM"], layer_norm_eps=1e-5, type_vocab_size=1,
                      max_position_embeddings=14, pad_token_id=1, bos_token_id=0, eos_token_id=2)
ELECTRA = BERT | dict(model_type="electra", architectures=["ElectraForPreTraining"], embedding_size=8,
                      summary_activation="gelu", summary_type="first", summary_last_dropout=0.1, summary_use_proj=True)
MPNET = {k: v for k, v in ROBERTA.items() if k not in ("type_vocab_size", "position_embedding_type")} | dict(
    model_type="mpnet", architectures=["MPNetForMaskedLM"], relative_attention_num_buckets=32)
MPNET_BLOCK = BLOCK | dict(q="attention.attn.q", k="attention.attn.k", v="attention.attn.v", o="attention.attn.o",
                           ln1="attention.LayerNorm")
POOL = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False, "word_embedding_dimension": D}
ENCODERS = [
    ("bert", BERT, encoder(BERT, "bert.", BLOCK, ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                                                  "cls.predictions.bias"), "pair", norms=("gamma", "beta")),
     ["segments", "gamma", "norm", "transform", "head's gelu", "last block", "one late"], None),
    ("minilm", BERT | dict(architectures=["BertModel"]), encoder(BERT, "", BLOCK, None, True, "mean"), ["segments", "norm"], "mean"),
    ("bge", BERT | dict(architectures=["BertModel"]), encoder(BERT, "", BLOCK, None, False, "cls"), ["pool"], "cls"),
    ("distilbert", DISTIL, encoder(DISTIL, "distilbert.", DISTIL_BLOCK, ("vocab_transform", "vocab_layer_norm", "vocab_projector.bias")),
     ["norm", "transform"], None),
    ("roberta", ROBERTA, encoder(ROBERTA, "roberta.", BLOCK, ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"), eps=1e-5, offset=2),
     ["offset"], None),
    ("electra", ELECTRA, encoder(ELECTRA, "electra.", BLOCK, "replaced"), ["segments"], None),
    ("electra_generator", ELECTRA | dict(architectures=["ElectraForMaskedLM"]),
     encoder(ELECTRA, "electra.", BLOCK, ("generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias")),
     ["segments", "norm"], None),
    ("mpnet", MPNET, encoder(MPNET, "mpnet.", MPNET_BLOCK, ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"), eps=1e-5, offset=2),
     ["offset", "sides"], None),
]


# modeling_modernbert.py: norms in front, but of the first attention, whose embedding has one; every third block sees all, with a
# base of its own, the others half a window to either side; the first half of Wi is what the activation reads.
MODERN = dict(architectures=["ModernBertForMaskedLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=1, classifier_activation="gelu",
              classifier_bias=False, classifier_dropout=0.0, classifier_pooling="mean", cls_token_id=1, decoder_bias=True,
              deterministic_flash_attn=False, embedding_dropout=0.0, eos_token_id=2, global_attn_every_n_layers=3, global_rope_theta=160000.0,
              gradient_checkpointing=False, hidden_activation="gelu", hidden_size=D, initializer_cutoff_factor=2.0, initializer_range=0.02,
              intermediate_size=M, layer_norm_eps=1e-5, local_attention=4, local_rope_theta=10000.0, max_position_embeddings=64, mlp_bias=False,
              mlp_dropout=0.0, model_type="modernbert", norm_bias=False, norm_eps=1e-5, num_attention_heads=2, num_hidden_layers=4,
              pad_token_id=0, position_embedding_type="absolute", reference_compile=True, repad_logits_with_grad=False, sep_token_id=2,
              sparse_pred_ignore_index=-100, sparse_prediction=False, tie_word_embeddings=True, torch_dtype="float32", vocab_size=V)


def modernbert(w, r, ids, wrong, given=None):
    n, e = len(ids), D // 2
    far, near = frequencies(e, 160000.0)[0], frequencies(e, 10000.0)[0]
    near = far if wrong == "one base" else near
    apart = np.abs(np.arange(n)[:, None] - np.arange(n)[None])
    norm = lambda x, node, name: layer_norm(w, r, x, node, name, 1e-5, bias=False)
    bare = lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    x = r.put("encoder.embed", w.matrix("model.embeddings.tok_embeddings.weight", V, D, 2.0)[ids])
    x = norm(x, "encoder.ln_embed", "model.embeddings.norm")
    for i in range(4):
        b, p = f"encoder.blocks.{i}.", f"model.layers.{i}."
        everything = i % 3 == (2 if wrong == "the third sees all" else 0)
        y = norm(x, b + "ln1", p + "attn_norm") if i else bare(x) if wrong == "a first norm" else x
        qkv = linear(w, y, p + "attn.Wqkv", 3 * D, sharp=2.0).reshape(n, 3, 2, e)
        q, k, v = (r.put(b + "self_attn." + one, qkv[:, j]) for j, one in enumerate("qkv"))
        q, k = (r.put(b + f"self_attn.{one}_turned", rotate(t, far if everything else near)) for one, t in (("q", q), ("k", k)))
        sees = None if everything else apart <= (4 if wrong == "a whole window" else 2)
        if wrong == "looks back" and not everything:
            sees = seen(n, 4)
        if given is not None:
            sees = given[None] & (True if sees is None else sees) | np.eye(n, dtype=bool) & ~given[None]
        z = attend(r, b + "self_attn", q, k, v, e ** -0.5, sees)
        x = r.put(b + "resid_mid", x + r.put(b + "self_attn.out", linear(w, merge(z), p + "attn.Wo", D)))
        y = norm(x, b + "ln2", p + "mlp_norm")
        gate, up = np.split(linear(w, y, p + "mlp.Wi", 2 * M), 2, 1)
        gate, up = (up, gate) if wrong == "gate" else (gate, up)
        gate = r.put(b + "mlp.gate_post", ACT["gelu"](r.put(b + "mlp.gate", gate)))
        hidden = r.put(b + "mlp.post", gate * r.put(b + "mlp.pre", up))
        x = r.put(b + "resid_post", x + r.put(b + "mlp.out", linear(w, hidden, p + "mlp.Wo", D)))
    x = norm(x, "encoder.ln_final", "model.final_norm")
    y = r.put("embedding", x.mean(0))
    r.put("embedding_unit", y / np.sqrt((y * y).sum()))
    y = r.put("transform.post", ACT["gelu"](r.put("transform.pre", linear(w, x, "head.dense", D))))
    y = norm(y, "ln_transform", "head.norm")
    return y @ w["model.embeddings.tok_embeddings.weight"].astype(np.float64).T + w.vector("decoder.bias", V)


# A decoder in Vitrine's own form with what OpenAI's gpt_oss adds to softmax (modeling_gpt_oss.py, eager_attention_forward): a
# learned score per head stands behind those of the keys, [scores, sink], and the weight that it gets is left out. Every second
# block has a window, as there.
SINKS = dict(model_type="encoder-decoder-transformer", form="decoder", src_vocab_size=0, tgt_vocab_size=V, d_model=D, nhead=4, head_dim=8,
             dim_feedforward=M, num_encoder_layers=0, num_decoder_layers=2, max_positions=12, norm_first=True, final_norm=True,
             tie_embeddings=False, generator_bias=False, qkv_bias=True, out_bias=True, mlp_bias=False, layer_norm_eps=1e-5,
             attention_scale=8 ** -0.5, embedding_scale=1, num_key_value_heads=2, window=3, rms_norm=True, gated=True, rope_halves=True,
             attention_sinks=True, rope_theta=10000.0, windowed_layers=[0], padding_word=-1, start_word=-1, end_word=-1,
             activation="silu", positional_encoding="rotary")


def with_sinks(r, node, q, k, v, sinks, allowed, wrong):
    k, v = r.also(node + ".k_shared", np.repeat(k, 2, 1)), r.also(node + ".v_shared", np.repeat(v, 2, 1))
    scores = r.also(node + ".scores_raw", np.einsum("the,uhe->htu", q, k)) * 8 ** -0.5
    r.also(node + ".scores_scaled", scores)
    scores = r.also(node + ".scores_masked", np.where(allowed[None], scores, -np.inf))
    column = np.broadcast_to(sinks[:, None, None], scores.shape[:2] + (1,))
    both = scores if wrong == "no sinks" else np.concatenate((scores, column), -1)
    top = r.put(node + ".row_top", both.max(-1))
    r.put(node + ".row_max", scores.max(-1))
    r.put(node + ".keys_sum", np.exp(scores - top[..., None]).sum(-1))
    r.step(node + ".shifted", scores - top[..., None])
    r.step(node + ".exp", np.exp(scores - top[..., None]))
    r.step(node + ".sink_shifted", column[..., 0] - top)
    r.put(node + ".sink_exp", np.exp(column[..., 0] - top))
    r.put(node + ".row_sum", np.exp(both - top[..., None]).sum(-1))
    pattern = softmax(both)[..., :len(k)]
    if wrong == "added as they are":
        most = np.exp(scores - scores.max(-1, keepdims=True))
        pattern = most / (most.sum(-1, keepdims=True) + np.exp(column))
    r.put(node + ".pattern", pattern)
    return r.put(node + ".z", np.einsum("htu,uhe->the", pattern, v))


def decoder_with_sinks(w, r, ids, wrong):
    n, inv = len(ids), frequencies(8, 10000.0)[0]
    x = r.put("decoder.embed", w.matrix("decoder.embed.weight", V, D, 4.0)[ids])
    for i in range(2):
        b = block(i)
        norm = lambda x, node, name: r.put(b + node + ".out", x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w.vector(b + name + ".gamma", D, 1.0))
        y = norm(x, "rms1", "ln1")
        q, k, v = (np.einsum("td,hed->the", y, w.get_(b + f"self_attn.w_{c}", heads, 8, D, spread=1.5 * D ** -0.5)) + w.get_(b + f"self_attn.b_{c}", heads, 8)
                   for c, heads in zip("qkv", (4, 2, 2)))
        before_turning(r, b, q, k, v)
        q, k = (r.put(b + f"self_attn.{c}_turned", rotate(t, inv)) for c, t in (("q", q), ("k", k)))
        sinks = w.get_(b + "self_attn.sinks", 4, spread=2.0)
        sinks = {"of the next head": np.roll(sinks, 1), "scaled": sinks * 8 ** -0.5}.get(wrong, sinks)
        z = with_sinks(r, b + "self_attn", q, k, v, sinks, seen(n, None if i else 3), wrong)
        found = np.einsum("the,dhe->td", z, w.get_(b + "self_attn.w_o", D, 4, 8, spread=32 ** -0.5)) + w.vector(b + "self_attn.b_o", D)
        x = r.put(b + "resid_mid", x + r.put(b + "self_attn.out", found))
        y = norm(x, "rms2", "ln3")
        gate = r.also(b + "mlp.gate_post", ACT["silu"](r.also(b + "mlp.gate", y @ w.matrix(b + "mlp.w_gate", M, D).T)))
        post = r.also(b + "mlp.post", gate * r.also(b + "mlp.pre", y @ w.matrix(b + "mlp.w_up", M, D).T))
        x = r.put(b + "resid_post", x + r.also(b + "mlp.out", post @ w.matrix(b + "mlp.w_down", D, M).T))
    x = r.put("decoder.rms_final.out", x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w.vector("decoder.ln_final.gamma", D, 1.0))
    return x @ w.matrix("head.weight", V, D).T


LATER.append(("sinks", SINKS, decoder_with_sinks, ["no sinks", "added as they are", "of the next head", "scaled"]))
LATER.append(("modernbert", MODERN, modernbert,
              ["one base", "a first norm", "the third sees all", "a whole window", "looks back", "gate"], None))


# In these a text of four words with three of padding behind as well.
PADDED = ("bert", "mpnet", "modernbert", "t5", "flan_t5", "bart", "marian")
GIVEN_WORDS = np.arange(7) < 4


def with_padding(ids, config):
    return np.r_[ids, [config["pad_token_id"]] * 3]


def write_padded(folder, numbers, r):
    safetensors(folder + "/expected_padded.safetensors", {k: np.array(x, np.int64) for k, x in numbers.items()} | r)


def write_encoder(name, config, forward, mistakes, pool):
    w, folder = Weights(), "words_" + name
    os.makedirs(folder, exist_ok=True)
    for n in (9, 4, 1):
        r = Record()
        r.inside = n == 4 and name in INSIDE
        ids = np.random.default_rng(n).integers(3, V, n)
        segment = [0] * (n // 2 + 1) + [1] * (n - n // 2 - 1) if config.get("type_vocab_size", 0) > 1 else [0] * n
        out = forward(w, r, ids, None)
        if "transform.pre" in r:
            softmax_steps(r, ["probs_" + step for step in ("row_max", "shifted", "exp", "sum")], r.put("logits", out))
            r.put("probs", softmax(out))
        r.on = False
        for mistake in mistakes if n == 9 else ():
            r["wrong." + mistake] = forward(w, r, ids, mistake)
        if n == 9:
            given_by_modules(name, r, lambda made, ids, mistake: forward(w, made, ids, mistake), ids)
        safetensors(f"{folder}/expected_{n}.safetensors", {"ids": ids.astype(np.int64), "segments": np.array(segment, np.int64), **r})
    if name in PADDED:
        r, ids = Record(), with_padding(np.random.default_rng(4).integers(3, V, 4), config)
        out = forward(w, r, ids, None, GIVEN_WORDS)
        r.put("logits", out)
        del r["embedding"], r["embedding_unit"]  # Vitrine takes a text's vector of one text alone
        if name == "modernbert":  # what padding becomes there is nobody's to say: a window may hold no word
            for node, x in list(r.items()):
                words = GIVEN_WORDS.reshape(-1, *[1] * (x.ndim - 1))
                if x.shape[1:] == (7, 7):
                    words = GIVEN_WORDS[:, None] & (GIVEN_WORDS | ("scores" not in node))
                r[node] = np.where(words, x, np.nan)
        segments = [0] * 4 + [1] * 3 if config.get("type_vocab_size", 0) > 1 else [0] * 7
        write_padded(folder, dict(ids=ids, segments=segments), r)
    safetensors(f"{folder}/model.safetensors", w)
    parts = {"config.json": config}
    if pool:
        parts["modules.json"] = [dict(idx=i, name=str(i), path=path, type="sentence_transformers.models." + kind) for i, (path, kind)
                                 in enumerate((("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")))]
        parts["1_Pooling/config.json"] = POOL | {f"pooling_mode_{pool}_token" + ("s" if pool == "mean" else ""): True}
        os.makedirs(folder + "/1_Pooling", exist_ok=True)
    for path, what in parts.items():
        with open(f"{folder}/{path}", "w") as f:
            json.dump(what, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    for family in FAMILIES:
        write(*family)
    for family in ENCODERS:
        write_encoder(*family)
    for family in EXPERTS:
        write(*family)
    for name, config, forward, mistakes, *pool in LATER: # with a fifth: an encoder
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        (write_encoder if pool else write)(name, config, forward, mistakes, *pool)
