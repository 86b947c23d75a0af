"""Makes the pairs: data.py makes held_out/*.tsv again; data.py --check-hand-written looks whether the grammar could make those sentences.

Everything follows from the seeds below. Which set a sentence belongs to follows from its words alone, so that no set depends on how many
sentences were drawn.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import hashlib
import pathlib
import random
import sys

import fragments
import sentences
from lexicon import ADJECTIVES, NAMES, NOUNS, VERBS
from noun_phrases import RULES
from states import COMPARED
from text import PUNCTUATION, join_english, join_french, tokenize_english, tokenize_french

FOLDER = pathlib.Path(__file__).resolve().parent
SEED = 20
TRAINING_PAIRS = 90_000
FRAGMENTS = 15_000  # pairs more, without a verb
LONGEST = 14  # English tokens in training
LONG = 19  # at least 30 % longer
SIZES = {"random": 500, "pairs": 500, "long": 300, "reorder": 500, "tuning": 300}
UNKNOWN = "<unk>"
PHRASE_COPIES = 8


@dataclasses.dataclass(frozen=True)
class Example:
    english: tuple
    french: tuple
    links: tuple = ()  # for each French word the place of its English word; empty where nobody wrote it


def bucket(text: str, buckets: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") % buckets


def plain(words) -> str:
    """A sentence without its punctuation: "i love you" and "i love you!" are never on two sides of a split."""
    return " ".join(word for word in words if word not in PUNCTUATION)


def held_pair(pair: tuple[str, str]) -> bool:
    return bucket(" ".join(pair), 100) < 6


def destination(pair: sentences.Pair) -> str:
    if any(held_pair(used) for used in pair.pairs):
        return "pairs"
    place = bucket(plain(pair.english), 1000)
    return "random" if place < 12 else "reorder" if place < 36 else "tuning" if place < 42 else "training"


def reorders(pair: sentences.Pair) -> bool:
    """Some French word translates an English one that stands before the one of the word on its left."""
    return any(left > right for left, right in zip(pair.links, pair.links[1:]))


def read_pairs(path: pathlib.Path) -> list[Example]:
    examples = []
    for line in path.read_text(encoding="utf-8").splitlines():
        english, french, *links = line.split("\t")
        places = tuple(int(place) for place in links[0].split()) if links else ()
        examples.append(Example(tuple(tokenize_english(english)), tuple(tokenize_french(french)), places))
    return examples


def phrases() -> list[Example]:
    return read_pairs(FOLDER / "phrases.tsv")


def held_out(name: str) -> list[Example]:
    return read_pairs(FOLDER / "held_out" / f"{name}.tsv")


def generate() -> dict[str, list[Example]]:
    rng = random.Random(SEED)
    hidden = {plain(tokenize_english(line.split("\t")[0]))
              for line in (FOLDER / "held_out" / "hand_written.tsv").read_text(encoding="utf-8").splitlines()}
    sets: dict[str, dict] = {name: {} for name in ("training", "random", "pairs", "reorder", "tuning")}
    everyday = {plain(example.english) for example in phrases()}
    while len(sets["training"]) < TRAINING_PAIRS:
        pair = sentences.sentence(rng, LONGEST)
        name = destination(pair)
        if plain(pair.english) in everyday or plain(pair.english) in hidden or (name == "reorder" and not reorders(pair)):
            continue
        example = Example(tuple(pair.english), tuple(pair.french), tuple(pair.links))
        known = sets[name].setdefault(" ".join(pair.english), example)
        if known.french != example.french:
            raise ValueError(f"two translations of '{join_english(pair.english)}': {known.french} and {example.french}")
    long: dict = {}
    while len(long) < SIZES["long"]:
        pair = sentences.long_sentence(rng, LONG)
        if not any(held_pair(used) for used in pair.pairs):
            long[" ".join(pair.english)] = Example(tuple(pair.english), tuple(pair.french), tuple(pair.links))
    sets["long"] = long
    return {name: list(found.values())[:SIZES.get(name)] for name, found in sets.items()}


def training_fragments() -> list[Example]:
    """Drawn from a seed of their own, so that the other sets are the same with them and without; held out by the same rule."""
    rng, found = random.Random(SEED + 2), {}
    while len(found) < FRAGMENTS:
        pair = fragments.fragment(rng, LONGEST)
        if destination(pair) == "training":
            found.setdefault(" ".join(pair.english), Example(tuple(pair.english), tuple(pair.french), tuple(pair.links)))
    return list(found.values())


def training() -> list[Example]:
    """The generated pairs, the fragments, and the everyday phrases, each of those as often as PHRASE_COPIES says."""
    return generate()["training"] + training_fragments() + phrases() * PHRASE_COPIES


MASCULINE_NAMES = {name.french for name in NAMES if name.kind == "person" and name.gender == "m"}


def with_unknown(rng: random.Random, example: Example) -> Example:
    """A man's name becomes a word that nobody knows, on both sides: so the model learns to carry such a word over."""
    places = [place for place, word in enumerate(example.french) if word in MASCULINE_NAMES]
    if not example.links or not places:
        return example
    place = rng.choice(places)
    english, french = list(example.english), list(example.french)
    english[example.links[place]] = french[place] = UNKNOWN
    return Example(tuple(english), tuple(french), example.links)


def vocabularies(examples: list[Example]) -> tuple[list[str], list[str]]:
    sides = []
    for words in ((word for example in examples for word in example.english), (word for example in examples for word in example.french)):
        sides.append(sorted(set(words)))
    return [UNKNOWN] + sides[0], [UNKNOWN, "<s>", "</s>"] + sides[1]


def write(name: str, examples: list[Example]):
    lines = (f"{join_english(list(example.english))}\t{join_french(list(example.french))}\t{' '.join(map(str, example.links))}\n"
             for example in examples)
    (FOLDER / "held_out" / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")


GROUPS = {"SUBJECT": "i you he she we they it", "BE": "am are is was were 'm 're 's", "DO": "do does did", "HAVE": "have has 've",
          "DETERMINER": "the a an some any this that these those my your his her our their all every another",
          "OBJECT": "me him us them", "CONJUNCTION": "and but because when so or while", "NEGATION": "not n't never",
          "PLACE": "in on under near behind at to from", "WITH": "with for without", "WILL": "will 'll can must could should",
          "NUMBER": "one two three four five six seven eight nine ten eleven twelve twenty thirty", "ASK": "where when why how",
          "TIME": "today tomorrow yesterday tonight now", "DEGREE": "very too so really", "OFTEN": "always often sometimes already"}


def word_classes() -> dict[str, str]:
    """Coarse on purpose: two sentences of one pattern may still differ, but two that differ in pattern differ in grammar."""
    classes = {form: "ADJECTIVE" for adjective in ADJECTIVES for form in (adjective.english, COMPARED.get(adjective.english, adjective.english))}
    for noun in NOUNS:
        classes |= {noun.english: "NOUN", noun.english_plural: "NOUN"}
    for verb in VERBS.values():
        classes |= {form: "VERB" for form in (verb.english, verb.third, verb.past, verb.ing, verb.english_participle)}
    classes |= {name.english: "NAME" for name in NAMES}
    return classes | {word: group for group, words in GROUPS.items() for word in words.split()}


def check_hand_written(draws: int = 200_000) -> list[str]:
    """Sentences of the hand-written set whose pattern of word classes the grammar made in so many draws."""
    classes, rng = word_classes(), random.Random(SEED + 1)

    def pattern(words) -> str:
        return plain(classes.get(word, word) for word in words)

    made = {pattern(sentences.sentence(rng, 20).english) for _ in range(draws)}
    made |= {pattern(fragments.fragment(rng, 20).english) for _ in range(draws // 4)}
    everyday = {plain(example.english) for example in phrases()}
    return [join_english(list(example.english)) for example in held_out("hand_written")
            if pattern(example.english) in made or plain(example.english) in everyday]


def main():
    if sys.argv[1:] == ["--check-hand-written"]:
        found = check_hand_written()
        print("\n".join(found))
        print(f"{len(found)} of the hand-written sentences have a pattern that the grammar makes")
        return 1 if found else 0
    sets = generate()
    for name, examples in sets.items():
        if name in SIZES:
            write(name, examples)
    english, french = vocabularies(sets["training"] + phrases())
    print(f"{len(RULES)} rules, {len(phrases())} phrases, {len(english) - 1} English words, {len(french) - 3} French words")
    print(", ".join(f"{name} {len(examples)}" for name, examples in sets.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
