#!/usr/bin/python3
"""Reference tokens of subwords: what the `tokenizers` and `sentencepiece` libraries make of texts in many scripts.

    tools/golden/subwords.py              trains small vocabularies and writes tests/golden/subwords
    tools/golden/subwords.py --speed      times them on the lines that `test_text "[speed]"` times heed on, one thread

The texts are the groups of tests/golden/tokenizer and tests/golden/subwords/texts.txt, with \\xHH for bytes that are not printable.
Each case is a folder as a front end finds it, with <case>.ids beside it (id:begin:end in bytes, or ids alone where the library's
spans mean something else) and <case>.decoded, the text that the library makes of the ids; of bytes, that is the text itself.
SPDX-License-Identifier: Apache-2.0
"""
import io
import json
import pathlib
import shutil
import struct
import sys
import tempfile
import time

import environment
import tokenizer as texts_of

HERE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
OUT = HERE / "subwords"
PACKAGES = ["tokenizers==0.22.1", "sentencepiece==0.2.1"]
# Rules of a small character map: full width, ligatures, compositions, controls removed, spaces of other kinds, one becoming several.
RULES = {"\uff21": "A", "\uff42": "b", "\ufb01": "fi", "\ufb03": "ffi", "e\u0301": "\u00e9", "a\u0308": "\u00e4", "\u0009": " ", "\u000a": " ",
         "\u000d": " ", "\u00a0": " ", "\u3000": " ", "\u200b": "", "\u0001": "", "\u00b4": " \u0301", "\u2026": "...", "\u2581": " ",
         "\ufffd": " ", "\u2460": "1", "\u00bd": "1\u20442", "\ufdfa": "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647"}


SOME = ("code", "emoji", "invalid", "spaces_controls", "words")  # groups that every case has; ALL cases have all of them
ALL = ("bytes", "t5")


def groups(case: str = ALL[0]) -> list[bytes]:
    named = texts_of.read_groups()
    return [text for name in sorted(named) if case in ALL or name in SOME for text in named[name]] + texts_of.read_group(OUT / "texts.txt")


def training_lines() -> list[str]:
    lines = [text.decode(errors="replace") for text in groups()]
    for name in ("texts.txt", "calibration.txt"):
        lines += (HERE.parent / "fidelity" / name).read_text(encoding="utf-8").splitlines()
    return [line.replace("\0", "") for line in lines if line.strip()]


def escape(raw: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}" for byte in raw)


def write(case: str, ids: list[str], decoded: list[str] | None = None) -> None:
    for ending, lines in (("ids", ids), ("decoded", decoded or [])):
        if lines:
            (OUT / f"{case}.{ending}").write_text("".join(line + "\n" for line in lines), encoding="ascii")


def fresh(case: str) -> pathlib.Path:
    folder = OUT / case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


# ---- byte-level BPE ----

def train_bytes(add_prefix_space: bool):
    """Trained without special tokens; BART's are put around texts by id, so that their spelling in a text is plain text, as in heed."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=1500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(training_lines(), trainer)
    return tokenizer


def added(token: int, content: str, **flags) -> dict:
    return {"id": token, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} | flags


def bytes_json(plain, specials: list[str]) -> dict:
    """The same with special tokens in front: ids move by their number."""
    whole = json.loads(plain.to_str())
    shift = len(specials)
    whole["model"]["vocab"] = {name: i for i, name in enumerate(specials)} | {piece: i + shift for piece, i in whole["model"]["vocab"].items()}
    whole["added_tokens"] = [added(i, name) for i, name in enumerate(specials)]
    if specials:
        whole["post_processor"] = {"type": "RobertaProcessing", "sep": ["</s>", specials.index("</s>")], "cls": ["<s>", specials.index("<s>")],
                                   "trim_offsets": True, "add_prefix_space": False}
    return whole


def bytes_tokens(plain, raw: bytes, shift: int) -> list[tuple[int, int, int]]:
    text, begins = texts_of.decode(raw)
    found = plain.encode(text)
    return [(token + shift, begins[begin], begins[end]) for token, (begin, end) in zip(found.ids, found.offsets)]


def write_bytes() -> None:
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    for case, prefix, names in (("bytes", False, []), ("bytes_bart", False, specials), ("bytes_space", True, [])):
        plain = train_bytes(prefix)
        whole = bytes_json(plain, names)
        folder = fresh(case)
        if case == "bytes_bart":  # the older pair of files
            (folder / "vocab.json").write_text(json.dumps(whole["model"]["vocab"]) + "\n", encoding="ascii")
            merges = whole["model"]["merges"]
            (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in merges), encoding="utf-8")
        else:
            (folder / "tokenizer.json").write_text(json.dumps(whole) + "\n", encoding="ascii")
        ids = []
        for raw in groups(case):
            tokens = bytes_tokens(plain, raw, len(names))
            text = texts_of.decode(raw)[0]
            assert plain.decode([token - len(names) for token, _, _ in tokens]) in (text, " " + text)
            if names:
                tokens = [(0, 0, 0), *tokens, (2, len(raw), len(raw))]
            ids.append(" ".join("%d:%d:%d" % token for token in tokens))
        write(case, ids)


# ---- SentencePiece ----

def train_sentencepiece(lines: list[str], kind: str, size: int, **options) -> bytes:
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, model_type=kind, vocab_size=size,
                                             hard_vocab_limit=False, minloglevel=2, num_threads=1, **options)
    return model.getvalue()


def with_rules(**options) -> dict:
    rules = tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="ascii")
    for source, target in RULES.items():
        rules.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
    rules.flush()
    return {"normalization_rule_tsv": rules.name, "keep": rules} | options


def sentence_tokens(model, raw: bytes, ids=None) -> list[tuple[int, int, int]]:
    """Spans from the normalizer's map of places: characters that come from one character of the text belong together."""
    text, begins = texts_of.decode(raw)
    normalized, places = model.normalize(text, with_offsets=True)
    tokens, at = [], 0
    for piece in model.encode(text, out_type="immutable_proto").pieces:
        end = at + len(piece.piece) if not piece.piece.startswith("<0x") else None
        if end is None:  # bytes: all of one character's stand for it
            tokens.append((piece.id, None, piece.surface))
            at += len(piece.surface)
            continue
        assert normalized[at:end] == piece.piece
        stop = end
        while stop < len(normalized) and places[stop] == places[end - 1]:
            stop += 1
        name = ids(piece.piece) if ids else piece.id
        tokens.append((name, begins[places[at]], begins[places[stop]]))
        at = end
    return tokens


def write_sentences(case: str, model, around=lambda tokens, raw: tokens, ids=None, spans=True, known=None) -> None:
    lines, decoded = [], []
    for raw in groups(case):
        text, _ = texts_of.decode(raw)
        tokens = around(sentence_tokens(model, raw, ids), raw)
        lines.append(" ".join("%d:%d:%d" % token if spans else str(token[0]) for token in tokens))
        pieces = [piece if known is None or piece in known else "<unk>" for piece in model.encode(text, out_type=str)]
        decoded.append(escape((model.decode(model.encode(text)) if known is None else model.decode(pieces)).encode()))
    write(case, lines, decoded)


def write_t5() -> None:
    """T5's folder: SentencePiece's own map of characters, and </s> behind a text."""
    import sentencepiece

    data = train_sentencepiece(training_lines(), "unigram", 1500, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, character_coverage=0.999)
    (fresh("t5") / "spiece.model").write_bytes(data)
    write_sentences("t5", sentencepiece.SentencePieceProcessor(model_proto=data), lambda tokens, raw: [*tokens, (1, len(raw), len(raw))])


def write_llama() -> None:
    """Byte-pair pieces, unknown characters as bytes, spaces kept as they are."""
    import sentencepiece

    options = with_rules(byte_fallback=True, remove_extra_whitespaces=False, character_coverage=0.98, split_by_whitespace=True)
    keep = options.pop("keep")
    data = train_sentencepiece(training_lines(), "bpe", 1200, **options)
    keep.close()
    (fresh("sentence_bpe") / "tokenizer.model").write_bytes(data)
    write_sentences("sentence_bpe", sentencepiece.SentencePieceProcessor(model_proto=data), spans=False)


def write_marian() -> None:
    """Two models, and ids from vocab.json, which lacks some pieces and has some that only one model knows."""
    import sentencepiece

    pairs = (HERE.parent.parent / "tests" / "fidelity" / "texts.txt").read_text(encoding="utf-8").splitlines()
    models = {}
    folder = fresh("marian")
    for name, lines in (("source", [line for line in pairs if line.isascii()]), ("target", [line for line in pairs if max(line, default="") < "\u0500"])):
        options = with_rules(character_coverage=0.99)
        keep = options.pop("keep")
        data = train_sentencepiece(lines, "unigram", 800, **options)
        keep.close()
        (folder / f"{name}.spm").write_bytes(data)
        models[name] = sentencepiece.SentencePieceProcessor(model_proto=data)
    pieces = {model.id_to_piece(i) for model in models.values() for i in range(3, len(model))}
    pieces -= {piece for i, piece in enumerate(sorted(pieces)) if i % 97 == 13 and len(piece) > 2}  # left out on purpose
    vocabulary = {"</s>": 0, "<unk>": 1} | {piece: i + 2 for i, piece in enumerate(sorted(pieces))}
    vocabulary["<pad>"] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary) + "\n", encoding="ascii")
    model = models["source"]
    write_sentences("marian", model, lambda tokens, raw: [*tokens, (0, len(raw), len(raw))], ids=lambda piece: vocabulary.get(piece, 1), known=vocabulary)


# ---- tokenizer.json with Unigram ----

def write_unigram_json() -> None:
    """As transformers converts a T5 without a map of characters: words, then U+2581 before each."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    words = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(words)
    trainer = trainers.UnigramTrainer(vocab_size=1500, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([line for line in training_lines() if max(line, default="") < "\u0500"], trainer)
    tokenizer.decoder = decoders.Metaspace()
    whole = json.loads(tokenizer.to_str())  # converted models have scores of 32 bits
    whole["model"]["vocab"] = [[piece, struct.unpack("f", struct.pack("f", score))[0]] for piece, score in whole["model"]["vocab"]]
    tokenizer = Tokenizer.from_str(json.dumps(whole))
    for case, splitter, normalizer in (("unigram_words", pre_tokenizers.Sequence(words), None),
                                       ("unigram_runs", pre_tokenizers.Metaspace(), None),
                                       ("unigram_once", pre_tokenizers.Metaspace(), normalizers.Sequence([
                                           normalizers.Strip(left=False, right=True), normalizers.Replace(__import__("tokenizers").Regex(" {2,}"), "\u2581")]))):
        tokenizer.pre_tokenizer = splitter
        if normalizer:
            tokenizer.normalizer = normalizer
        (fresh(case) / "tokenizer.json").write_text(tokenizer.to_str() + "\n", encoding="utf-8")
        found = [tokenizer.encode(texts_of.decode(raw)[0], add_special_tokens=False) for raw in groups(case)]
        write(case, [" ".join(map(str, one.ids)) for one in found], [escape(tokenizer.decode(one.ids).encode()) for one in found])


def time_libraries() -> None:
    import sentencepiece
    from tokenizers import Tokenizer

    lines = (HERE.parent / "fidelity" / "texts.txt").read_text(encoding="utf-8").splitlines()
    size = sum(len(line.encode()) for line in lines)
    for case, name in (("bytes", "tokenizer.json"), ("t5", "spiece.model"), ("sentence_bpe", "tokenizer.model"), ("unigram_words", "tokenizer.json")):
        path = str(OUT / case / name)
        json_file = name.endswith(".json")
        model = Tokenizer.from_file(path) if json_file else sentencepiece.SentencePieceProcessor(model_file=path)
        rounds, seconds, start = 0, 0.0, time.process_time()
        while seconds < 2:
            for line in lines:
                model.encode(line)
            rounds, seconds = rounds + 1, time.process_time() - start
        print(f"{case:14} {'tokenizers' if json_file else 'sentencepiece':13} {size * rounds / seconds / 1e6:7.2f} MB/s")


def main() -> None:
    environment.run_in("golden_subwords", PACKAGES, dependencies=False)
    if sys.argv[1:] == ["--speed"]:
        return time_libraries()
    for make in (write_bytes, write_t5, write_llama, write_marian, write_unigram_json):
        make()


if __name__ == "__main__":
    main()
