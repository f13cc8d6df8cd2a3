#!/usr/bin/python3
"""The same as words.py for families of an encoder with a decoder: T5 (both forms), mT5, BART and Marian, in float64 from the
families' published sources (modeling_t5.py, modeling_bart.py, modeling_marian.py). `ids` is what is read, `target` what
is written, with the start in front; `greedy` what the model writes itself. Run in this folder; needs numpy."""
import json, math, os, zlib
import numpy as np
import words
from words import ACT, D, M, V, Record, Weights, GIVEN_WORDS, INSIDE, PADDED, hidden_from, linear, layer_norm, merge, rms_norm, safetensors, softmax, softmax_steps, split, with_padding, write_padded

words.rng = np.random.default_rng(29)
ACT["swish"] = ACT["silu"]


def attend(r, node, q, k, v, scale, allowed, bias=None):
    scores = r.put(node + ".scores_raw", np.einsum("the,uhe->htu", q, k)) * scale
    r.put(node + ".scores_scaled", scores)
    if bias is not None:
        scores = r.put(node + ".scores_biased", scores + bias)
    if allowed is not None:
        scores = r.put(node + ".scores_masked", np.where(allowed[None], scores, -np.inf))
    softmax_steps(r, [f"{node}.{step}" for step in ("row_max", "shifted", "exp", "row_sum")], scores)
    pattern = r.put(node + ".pattern", softmax(scores))
    return r.put(node + ".z", np.einsum("htu,uhe->the", pattern, v))


def bucket(away, bidirectional, buckets, most):
    """T5Attention._relative_position_bucket, for one distance key − query."""
    first = 0
    if bidirectional:
        buckets //= 2
        first = buckets if away > 0 else 0
        far = abs(away)
    else:
        far = -min(away, 0)
    exact = buckets // 2
    if far < exact:
        return first + far
    log = np.log(np.float32(far) / np.float32(exact)) / np.float32(math.log(most / exact)) * np.float32(buckets - exact)
    return first + min(exact + int(log), buckets - 1)


def t5(c):
    heads, e, eps, buckets, most = c["num_heads"], c["d_kv"], c["layer_norm_epsilon"], c["relative_attention_num_buckets"], c["relative_attention_max_distance"]
    gate = c["feed_forward_proj"] == "gated-gelu"
    tied = c.get("tie_word_embeddings", True)

    def mlp(w, r, b, x, p):
        if gate:
            g = r.put(b + "mlp.gate", linear(w, x, p + ".wi_0", M))
            up = r.put(b + "mlp.pre", linear(w, x, p + ".wi_1", M))
            post = r.put(b + "mlp.gate_post", ACT["tanh"](g)) * up
        else:
            post = ACT["relu"](r.put(b + "mlp.pre", linear(w, x, p + ".wi", M)))
        return r.put(b + "mlp.out", linear(w, r.put(b + "mlp.post", post), p + ".wo", D))

    def attention(w, r, node, x, seen, p, allowed, bias, wrong):
        q, k, v = (r.put(f"{node}.{name}", split(linear(w, y, f"{p}.{name}", heads * e), heads)) for name, y in (("q", x), ("k", seen), ("v", seen)))
        z = attend(r, node, q, k, v, e ** -0.5 if wrong == "scale" else 1.0, allowed, bias)
        return r.put(node + ".out", linear(w, merge(z), p + ".o", D))

    def ranges(w, r, stack, n, bidirectional):
        table = w.matrix(f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", buckets, heads, 4.0)
        rows = [[bucket(j - i, bidirectional, buckets, most) for j in range(n)] for i in range(n)]
        return r.put(stack + ".distance", table[np.array(rows)].transpose(2, 0, 1))

    def forward(w, r, ids, target, wrong, given=None):
        s, t = len(ids), len(target)
        shared = w.matrix("shared.weight", V, D, 4.0)
        x = r.put("encoder.embed", shared[ids])
        x = x * math.sqrt(D) if wrong == "embed scale" else x
        bias = ranges(w, r, "encoder", s, True)
        for i in range(c["num_layers"]):
            b, p = f"encoder.blocks.{i}.", f"encoder.block.{i}.layer."
            y = rms_norm(w, r, x, b + "rms1", p + "0.layer_norm", eps)
            here = None if wrong == "later" and i else bias
            x = r.put(b + "resid_mid", x + attention(w, r, b + "self_attn", y, y, p + "0.SelfAttention", hidden_from(given), here, wrong))
            y = rms_norm(w, r, x, b + "rms2", p + "1.layer_norm", eps)
            before = x
            x = r.put(b + "resid_post", x + mlp(w, r, b, y, p + "1.DenseReluDense"))
        memory = rms_norm(w, r, x, "encoder.rms_final", "encoder.final_layer_norm", eps)
        memory = x if wrong == "memory not normed" else memory
        x = r.put("decoder.embed", shared[target])
        x = x * math.sqrt(D) if wrong == "embed scale" else x
        bias = ranges(w, r, "decoder", t, wrong == "sides")
        for i in range(c["num_decoder_layers"]):
            b, p = f"decoder.blocks.{i}.", f"decoder.block.{i}.layer."
            y = rms_norm(w, r, x, b + "rms1", p + "0.layer_norm", eps)
            here = None if wrong == "later" and i else bias
            x = r.put(b + "resid_mid", x + attention(w, r, b + "self_attn", y, y, p + "0.SelfAttention", np.tri(t, dtype=bool), here, wrong))
            y = rms_norm(w, r, x, b + "rms2", p + "1.layer_norm", eps)
            seen = y if wrong == "cross" else memory
            x = r.put(b + "resid_cross", x + attention(w, r, b + "cross_attn", y, seen, p + "1.EncDecAttention", hidden_from(given, t), None, wrong))
            y = rms_norm(w, r, x, b + "rms3", p + "2.layer_norm", eps)
            x = r.put(b + "resid_post", x + mlp(w, r, b, y, p + "2.DenseReluDense"))
        x = rms_norm(w, r, x, "decoder.rms_final", "decoder.final_layer_norm", eps)
        if not tied:
            return linear(w, x, "lm_head", V)
        x = x if wrong == "read scale" or c["model_type"] == "mt5" else r.put("read_scaled", x * D ** -0.5)
        return x @ shared.T
    return forward


def bart_like(c):
    heads, e = c["encoder_attention_heads"], D // c["encoder_attention_heads"]
    marian, act = c["model_type"] == "marian", ACT[c["activation_function"]]
    rows = c["max_position_embeddings"]

    def sines(n, interleaved):
        angle = np.array([[p / 10000 ** (2 * (j // 2) / D) for j in range(D)] for p in range(n)])
        if interleaved:
            return np.where(np.arange(D) % 2 == 0, np.sin(angle), np.cos(angle))
        return np.concatenate((np.sin(angle[:, 0::2]), np.cos(angle[:, 1::2])), 1)

    def embed(w, r, stack, ids, wrong):
        scale = math.sqrt(D) if c["scale_embedding"] and wrong != "embed scale" else 1.0
        scale = scale * scale if wrong == "embed scale twice" else scale
        x = r.put(stack + ".embed", w.matrix("model.shared.weight", V, D, 2.0)[ids]) * scale
        if c["scale_embedding"]:
            r.put(stack + ".embed_scaled", x)
        if marian:
            places = sines(len(ids), wrong == "interleaved")
        else:
            at = 0 if wrong == "offset" else 2
            places = w.matrix(f"model.{stack}.embed_positions.weight", rows + 2, D, 2.0)[at:at + len(ids)]
        x = r.put(stack + ".full_embed", x + r.put(stack + ".pos_embed", places))
        return x if marian else layer_norm(w, r, x, stack + ".ln_embed", f"model.{stack}.layernorm_embedding", 1e-5)

    def attention(w, r, node, x, seen, p, allowed):
        q, k, v = (r.put(f"{node}.{name}", split(linear(w, y, f"{p}.{name}_proj", D, True, 2.0), heads)) for name, y in (("q", x), ("k", seen), ("v", seen)))
        z = attend(r, node, q, k, v, e ** -0.5, allowed)
        return r.put(node + ".out", linear(w, merge(z), p + ".out_proj", D, True))

    def mlp(w, r, b, x, p):
        pre = r.put(b + "mlp.pre", linear(w, x, p + "fc1", M, True))
        return r.put(b + "mlp.out", linear(w, r.put(b + "mlp.post", act(pre)), p + "fc2", D, True))

    def forward(w, r, ids, target, wrong, given=None):
        s, t = len(ids), len(target)
        x = before = embed(w, r, "encoder", ids, wrong)
        for i in range(c["encoder_layers"]):
            b, p, before = f"encoder.blocks.{i}.", f"model.encoder.layers.{i}.", x
            x = r.put(b + "resid_mid", x + attention(w, r, b + "self_attn", x, x, p + "self_attn", hidden_from(given)))
            x = layer_norm(w, r, x, b + "ln1", p + "self_attn_layer_norm", 1e-5)
            x = r.put(b + "resid_post", x + mlp(w, r, b, x, p))
            x = layer_norm(w, r, x, b + "ln2", p + "final_layer_norm", 1e-5)
        memory = before if wrong == "memory one block short" else x
        x = embed(w, r, "decoder", target, wrong)
        for i in range(c["decoder_layers"]):
            b, p = f"decoder.blocks.{i}.", f"model.decoder.layers.{i}."
            x = r.put(b + "resid_mid", x + attention(w, r, b + "self_attn", x, x, p + "self_attn", np.tri(t, dtype=bool)))
            x = layer_norm(w, r, x, b + "ln1", p + "self_attn_layer_norm", 1e-5)
            seen = x if wrong == "cross" else memory
            x = r.put(b + "resid_cross", x + attention(w, r, b + "cross_attn", x, seen, p + "encoder_attn", hidden_from(given, t)))
            x = layer_norm(w, r, x, b + "ln2", p + "encoder_attn_layer_norm", 1e-5)
            x = r.put(b + "resid_post", x + mlp(w, r, b, x, p))
            x = layer_norm(w, r, x, b + "ln3", p + "final_layer_norm", 1e-5)
        bias = w.get_("final_logits_bias", 1, V, spread=0.3)[0]
        return x @ w["model.shared.weight"].astype(np.float64).T + bias * (wrong != "bias")
    return forward


T5 = dict(model_type="t5", architectures=["T5ForConditionalGeneration"], d_model=D, d_kv=6, num_heads=2, num_layers=2,
          num_decoder_layers=3, d_ff=M, vocab_size=V, n_positions=512, feed_forward_proj="relu", layer_norm_epsilon=1e-6,
          relative_attention_num_buckets=8, relative_attention_max_distance=6, dropout_rate=0.1, initializer_factor=1.0,
          is_encoder_decoder=True, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, use_cache=True,
          output_past=True, task_specific_params={"translation_en_to_fr": {"prefix": "translate English to French: "}})
FLAN = T5 | dict(feed_forward_proj="gated-gelu", dense_act_fn="gelu_new", is_gated_act=True, tie_word_embeddings=False,
                 num_decoder_layers=2, relative_attention_num_buckets=32, relative_attention_max_distance=128)
# modeling_mt5.py of transformers 5: the words' vectors for the answer, as T5 has them, and no factor in front.
MT5 = FLAN | dict(model_type="mt5", architectures=["MT5ForConditionalGeneration"], tie_word_embeddings=True)
BART = dict(model_type="bart", architectures=["BartForConditionalGeneration"], d_model=D, encoder_layers=2, decoder_layers=1,
            encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=M, decoder_ffn_dim=M, vocab_size=V,
            max_position_embeddings=12, activation_function="gelu", scale_embedding=True, encoder_layerdrop=0.0,
            decoder_layerdrop=0.0, dropout=0.1, attention_dropout=0.0, activation_dropout=0.0, classifier_dropout=0.0,
            classif_dropout=0.1, force_bos_token_to_be_generated=True, save_step=22, init_std=0.02, num_hidden_layers=2, normalize_before=False, normalize_embedding=True,
            add_final_layer_norm=False, add_bias_logits=False, static_position_embeddings=False, extra_pos_embeddings=2,
            is_encoder_decoder=True, bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2,
            forced_eos_token_id=2, num_beams=4, tie_word_embeddings=True)
MARIAN = BART | dict(model_type="marian", architectures=["MarianMTModel"], activation_function="swish", decoder_layers=2,
                     normalize_embedding=False, static_position_embeddings=True, bos_token_id=0, pad_token_id=V - 1,
                     eos_token_id=0, decoder_start_token_id=V - 1, forced_eos_token_id=0, bad_words_ids=[[V - 1]])
FAMILIES = [
    ("t5", T5, t5(T5), ["scale", "later", "sides", "read scale", "cross", "memory not normed", "embed scale"]),
    ("flan_t5", FLAN, t5(FLAN), ["scale", "later", "cross"]),
    ("bart", BART, bart_like(BART), ["offset", "embed scale", "cross", "memory one block short", "bias"]),
    ("marian", MARIAN, bart_like(MARIAN), ["interleaved", "embed scale", "embed scale twice", "cross", "memory one block short", "bias"]),
]


def greedy(forward, w, config, ids, most):
    """Padding and the start are not written, unless the start is also the end. The first word may be forced, an older BART says
    it by a switch, and the last where the text is cut (ForcedBOSTokenLogitsProcessor, ForcedEOSTokenLogitsProcessor)."""
    bart = config["model_type"] == "bart" and config.get("force_bos_token_to_be_generated")
    first, last = config.get("forced_bos_token_id", config["bos_token_id"] if bart else None), config.get("forced_eos_token_id")
    start, end, off = config["decoder_start_token_id"], config["eos_token_id"], Record()
    off.on, text = False, [start]
    while len(text) <= most:
        logits = forward(w, off, ids, np.array(text), None)[-1]
        for never in {config["pad_token_id"], start} - {end}:
            logits[never] = -np.inf
        forced = last if len(text) == most and last is not None else first if len(text) == 1 else None
        text.append(int(logits.argmax()) if forced is None else forced)
        if text[-1] == end:
            break
    return text[1:]


def write(name, config, forward, mistakes):
    w, folder = Weights(), "words_" + name
    os.makedirs(folder, exist_ok=True)
    for n, m in ((9, 7), (4, 5), (1, 1)):
        r = Record()
        r.inside = n == 4 and name in INSIDE
        random = np.random.default_rng(n)
        ids = random.integers(3, V - 1, n)
        target = np.concatenate(([config["decoder_start_token_id"]], random.integers(3, V - 1, m - 1)))
        logits = r.put("logits", forward(w, r, ids, target, None))
        softmax_steps(r, ["probs_" + step for step in ("row_max", "shifted", "exp", "sum")], logits)
        r.put("probs", softmax(logits))
        r.on = False
        for mistake in mistakes if n == 9 else ():
            r["wrong." + mistake] = forward(w, r, ids, target, mistake)
        whole = dict(ids=ids, target=target, greedy=greedy(forward, w, config, ids, 6))
        safetensors(f"{folder}/expected_{n}.safetensors", {k: np.array(x, np.int64) for k, x in whole.items()} | r)
        if n == 4 and name in PADDED:
            r = Record()
            r.put("logits", forward(w, r, with_padding(ids, config), target, None, GIVEN_WORDS))
            write_padded(folder, dict(ids=with_padding(ids, config), target=target), r)
    safetensors(f"{folder}/model.safetensors", w)
    with open(f"{folder}/config.json", "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    for family in FAMILIES:
        write(*family)
    words.rng = np.random.default_rng(zlib.crc32(b"mt5"))
    write("mt5", MT5, t5(MT5), [])
