"""Text to tokens and back, as README.md states it, and the spelling rules that join French words.

SPDX-License-Identifier: Apache-2.0
"""
import re

from lexicon import starts_with_vowel

PUNCTUATION = ".,!?;:"
ELISIONS = {"je": "j'", "me": "m'", "te": "t'", "se": "s'", "le": "l'", "la": "l'", "ne": "n'", "de": "d'", "que": "qu'"}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
EUPHONY = {"ma": "mon", "ta": "ton", "sa": "son", "ce": "cet"}


def split(text: str, apostrophe: str) -> list[str]:
    text = text.replace("\u2019", "'")
    text = re.sub(f"([{re.escape(PUNCTUATION)}])", r" \1 ", text)
    return re.sub(apostrophe, " ", text).split()


def tokenize_english(text: str) -> list[str]:
    """Lower case; an apostrophe begins a token, with the n before it where "n't" ends the word: do n't, i 'm."""
    text = text.lower().replace("\u2019", "'")
    return split(text, r"(?<=\S)(?=n't(?!\S))|(?<=[^\s'])(?<!n(?='t(?!\S)))(?=')")


def tokenize_french(text: str) -> list[str]:
    """An apostrophe ends a token (t' aime); a hyphen begins one only in the pronouns and particles after it that ATTACHED lists."""
    return split(text, rf"(?<=')(?=\S)|(?<=\S)(?=(?:{'|'.join(ATTACHED)})(?!\w))")


ATTACHED = ("-moi", "-le", "-la", "-les", "-lui", "-leur", "-nous", "-toi", "-là")


def join_french(tokens: list[str]) -> str:
    """Tokens that end in an apostrophe lean on the next one; . and , and a leading hyphen on the one before; ? ! ; : keep their space."""
    text = ""
    for token in tokens:
        glued = not text or text.endswith("'") or token in ".," or token.startswith("-")
        text += token if glued else " " + token
    return text


def join_english(tokens: list[str]) -> str:
    text = ""
    for token in tokens:
        text += token if not text or token in PUNCTUATION or token.startswith("'") or token == "n't" else " " + token
    return text


def spell_french(words: list) -> list:
    """Contracts (du, aux; not before a vowel, where le and la elide instead), elides and chooses the form before a vowel."""
    spelled = []
    for index, word in enumerate(words):
        last = spelled[-1] if spelled else None
        if last and word.kind == "article" and last.kind == "preposition" and (last.text, word.text) in CONTRACTIONS:
            if word.text == "les" or not starts_with_vowel(words[index + 1].text):
                last.text, last.kind = CONTRACTIONS[last.text, word.text], ""
                continue
        spelled.append(word)
    return elide(spelled)


def elide(words: list) -> list:
    for word, following in zip(words, words[1:]):
        vowel = starts_with_vowel(following.text)
        if word.text in ELISIONS and vowel and word.kind != "stressed":
            word.text = ELISIONS[word.text]
        elif word.text == "si" and following.text in ("il", "ils"):
            word.text = "s'"
        elif word.kind == "determiner" and word.text in EUPHONY and vowel:
            word.text = EUPHONY[word.text]
        elif word.vowel and vowel:
            word.text = word.vowel
    return words
