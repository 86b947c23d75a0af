#!/usr/bin/env python3
"""Small Hugging Face checkpoints of encoder-decoders with random weights, and what transformers on PyTorch makes of them.

    tools/golden/encoder_decoders.py [FOLDER [MODEL ...]]      (Debian's python3-torch; default tests/golden/encoder_decoders, all)

makes FOLDER/<model>/{config.json, model.safetensors, logits.json, cases.json}. Weights are float16 numbers, so that every program reads
the same. logits.json has logits in float64 and how far PyTorch's float32 is from them; cases.json searches whose outcome stays the same
when the logits change by NOISE, so that ties do not decide. SPDX-License-Identifier: Apache-2.0
"""
import copy
import json
import pathlib
import struct
import sys
import warnings

import environment

environment.run_in("encoder_decoders", environment.TRANSFORMERS)

import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import BartConfig, MarianConfig, T5Config  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NOISE, NOISY_RUNS, LONGEST = 1e-4, 4, 24
SOURCES = [[5, 9, 3, 11, 2], [7], [12, 4, 4, 20, 31, 8, 6, 25, 2], [33, 10, 17, 9, 26, 38, 14, 22, 19, 3, 28, 37, 16, 5, 29, 2], [21, 6, 35]]
TARGETS = [[4, 18, 9, 9, 30, 27, 5, 11], [25, 8], [13, 13, 6]]
# In heed's words: lengths count the tokens behind the start token.
SETTINGS = [
    {"beams": 1}, {"beams": 4}, {"beams": 4, "length_penalty": 1.0}, {"beams": 2, "length_penalty": 0.6}, {"beams": 4, "length_penalty": 2.0},
    {"beams": 3, "length_penalty": -1.0}, {"beams": 1, "min_tokens": 8}, {"beams": 4, "min_tokens": 8, "length_penalty": 1.0},
    {"beams": 1, "no_repeat": 2}, {"beams": 4, "no_repeat": 3, "length_penalty": 2.0, "min_tokens": 12}, {"beams": 4, "early_stopping": 1},
    {"beams": 4, "early_stopping": 1, "length_penalty": 2.0}, {"beams": 4, "early_stopping": 2, "length_penalty": 2.0},
    {"beams": 4, "early_stopping": 2, "length_penalty": -0.5}, {"beams": 1, "forced_first": 17}, {"beams": 4, "forced_first": 17, "forced_last": "stop"},
    {"beams": 4, "max_tokens": 5, "forced_last": "stop", "length_penalty": 1.0}, {"beams": 4, "max_tokens": 6, "length_penalty": 1.0},
    {"beams": 1, "max_tokens": 4, "forced_last": "stop"},
    {"beams": 4, "length_penalty": 2.0, "early_stopping": 1, "min_tokens": 10, "no_repeat": 3, "forced_first": 3, "forced_last": "stop", "max_tokens": 14},
]

SIDES = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 16, "encoder_ffn_dim": 24, "decoder_ffn_dim": 20, "max_position_embeddings": 32}
MARIAN = {**SIDES, "encoder_attention_heads": 2, "decoder_attention_heads": 4, "scale_embedding": True, "activation_function": "swish"}
T5 = {"vocab_size": 40, "d_model": 16, "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 3,
      "relative_attention_num_buckets": 8, "relative_attention_max_distance": 14}
MODELS = {
    "marian": MarianConfig(**MARIAN, vocab_size=40, pad_token_id=39, eos_token_id=0, forced_eos_token_id=0, decoder_start_token_id=39,
                           bad_words_ids=[[39]], num_beams=4, max_length=LONGEST + 1),
    "marian_apart": MarianConfig(**{**MARIAN, "activation_function": "relu"}, vocab_size=40, share_encoder_decoder_embeddings=False,
                                 pad_token_id=39, eos_token_id=0, decoder_start_token_id=39, bad_words_ids=[[39]], max_length=LONGEST + 1),
    "bart": BartConfig(**SIDES, vocab_size=40, encoder_attention_heads=4, decoder_attention_heads=2, activation_function="gelu", pad_token_id=1,
                       bos_token_id=0, eos_token_id=2, decoder_start_token_id=2, forced_bos_token_id=0, forced_eos_token_id=2, num_beams=4,
                       length_penalty=2.0, min_length=6, no_repeat_ngram_size=3, early_stopping=True, max_length=LONGEST + 1),
    "t5": T5Config(**T5, feed_forward_proj="relu", pad_token_id=0, eos_token_id=1, decoder_start_token_id=0),
    "t5_gated": T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0),
}
CLASSES = {"marian": transformers.MarianMTModel, "bart": transformers.BartForConditionalGeneration, "t5": transformers.T5ForConditionalGeneration}


def make(name: str, seed: int):
    """A model whose parameters are float16 numbers of a size that keeps signals apart."""
    config = copy.deepcopy(MODELS[name])
    model = CLASSES[config.model_type](config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if config.model_type == "marian" and "embed_positions" in key:
                continue  # sinusoids
            random = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() == 1:
                gain = key.endswith("weight")
                parameter.copy_((1 + 0.2 * random) if gain else 0.2 * random)
            elif "relative_attention_bias" in key:
                parameter.copy_(random)
            elif parameter.shape[1] == config.d_model and parameter.shape[0] >= 30:
                parameter.copy_(random * (0.5 if config.model_type == "t5" and not config.tie_word_embeddings else 0.8))
            else:
                parameter.copy_(1.2 * random / parameter.shape[1] ** 0.5)
            parameter.copy_(parameter.half().float())
        # Outputs are to end before they have to.
        if config.model_type != "t5":
            bias = 0.3 * torch.randn(model.final_logits_bias.shape, generator=generator)
            bias[0, config.eos_token_id] += 5 if name == "marian_apart" else 3
            model.final_logits_bias.copy_(bias.half().float())
        else:
            model.lm_head.weight[config.eos_token_id] *= 4
    return model


def write_checkpoint(folder: pathlib.Path, model):
    header, data, seen = {}, b"", set()
    for name, tensor in model.state_dict().items():
        if tensor.data_ptr() in seen or (model.config.model_type == "marian" and "embed_positions" in name):
            continue
        seen.add(tensor.data_ptr())
        encoded = tensor.half().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(encoded)]}
        data += encoded
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    config = {"architectures": [type(model).__name__], **model.config.to_diff_dict()}
    (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")


def doubled(model):
    """The model in float64; transformers computes T5's norms and softmax in float32 unless .float() and .to(float32) are kept from it."""
    model = copy.deepcopy(model).double()
    for module in model.modules():
        if isinstance(module, transformers.models.t5.modeling_t5.T5LayerNorm):
            module.forward = lambda x, m=module: m.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + m.variance_epsilon)
    return model


class Doubles:
    """Within it new tensors are float64 and Tensor.float() changes nothing."""

    def __enter__(self):
        self.float = torch.Tensor.float
        torch.Tensor.float = lambda tensor: tensor
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *_):
        torch.Tensor.float = self.float
        torch.set_default_dtype(torch.float32)


def logits(model, source: list, target: list) -> torch.Tensor:
    ids = torch.tensor([source])
    return model(input_ids=ids, attention_mask=torch.ones_like(ids), decoder_input_ids=torch.tensor([target])).logits[0].detach()


def logit_passes(model, double) -> list:
    """Teacher-forced logits."""
    passes = []
    for source, target in zip(SOURCES, TARGETS):
        target = [model.config.decoder_start_token_id, *target]
        with Doubles():
            exact = logits(double, source, target)
        error = (logits(model, source, target).double() - exact).abs().max()
        rows = [[float(f"{x:.12g}") for x in row] for row in exact.tolist()]
        passes.append({"source": source, "target": target, "float32_error": float(error), "expected": rows})
    return passes


def search(model, source: list, setting: dict) -> dict:
    config = model.config
    last = config.eos_token_id if setting.get("forced_last") == "stop" else None
    tokens = setting.get("max_tokens", LONGEST)
    ids = torch.tensor([source])
    options = transformers.GenerationConfig(
        max_length=tokens + 1, min_length=setting["min_tokens"] + 1 if "min_tokens" in setting else 0, num_beams=setting["beams"],
        length_penalty=setting.get("length_penalty", 0.0), no_repeat_ngram_size=setting.get("no_repeat", 0),
        early_stopping=[False, True, "never"][setting.get("early_stopping", 0)], forced_bos_token_id=setting.get("forced_first"), forced_eos_token_id=last,
        decoder_start_token_id=config.decoder_start_token_id, pad_token_id=config.pad_token_id, eos_token_id=config.eos_token_id, bos_token_id=None,
        bad_words_ids=[[config.pad_token_id]] if config.model_type == "marian" else None, return_dict_in_generate=True, output_scores=True)
    found = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=options)
    out = found.sequences[0].tolist()[1:]
    stopped = config.eos_token_id in out
    result = {"tokens": out[:out.index(config.eos_token_id)] if stopped else out, "stopped": stopped}
    if setting["beams"] > 1:
        result["score"] = float(found.sequences_scores[0])
    return result


def outcome(model, source, setting, noise_seed=None):
    """With NOISE in all logits if a seed is given: the same for each token and row, so that it moves tokens against each other."""
    if noise_seed is None:
        return search(model, source, setting)
    noise = torch.randn(model.lm_head.out_features, generator=torch.Generator().manual_seed(noise_seed), dtype=torch.float64) * NOISE
    hook = model.lm_head.register_forward_hook(lambda _module, _inputs, output: output + noise)
    try:
        return search(model, source, setting)
    finally:
        hook.remove()


def search_cases(double) -> tuple[list, int]:
    cases, left_out = [], 0
    with Doubles():
        for source in SOURCES:
            for setting in SETTINGS:
                found = outcome(double, source, setting)
                if any(outcome(double, source, setting, seed)["tokens"] != found["tokens"] for seed in range(NOISY_RUNS)):
                    left_out += 1
                    continue
                told = {key: double.config.eos_token_id if value == "stop" else value for key, value in setting.items()}
                cases.append({"source": source, "max_tokens": LONGEST, **told, **found})
    return cases, left_out


def main():
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/golden/encoder_decoders"
    for seed, name in enumerate(MODELS, 1):
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        model = make(name, seed)
        double = doubled(model)
        home = folder / name
        home.mkdir(parents=True, exist_ok=True)
        write_checkpoint(home, model)
        passes = logit_passes(model, double)
        (home / "logits.json").write_text("[\n" + ",\n".join(json.dumps(one) for one in passes) + "\n]\n")
        cases, left_out = search_cases(double)
        (home / "cases.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
        lengths = sorted({len(case["tokens"]) for case in cases})
        stopped = sum(case["stopped"] for case in cases)
        print(f"{name}: {len(cases)} cases, {left_out} left out, {stopped} stopped; tokens {lengths}; "
              f"float32 off by {max(one['float32_error'] for one in passes):.2g}")


if __name__ == "__main__":
    main()
