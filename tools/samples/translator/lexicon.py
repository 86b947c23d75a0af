"""The words: reads lexicon/*.tsv and inflects them, English and French.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import pathlib
import unicodedata

FOLDER = pathlib.Path(__file__).resolve().parent / "lexicon"
VOWELS = "aeiouy"
NO_ELISION = {"oui", "huit", "onze", "yaourt"}
AN_EXCEPTIONS = {"university", "useful"}

# Persons are numbered as in a grammar book, from 0: je, tu, il, nous, vous, ils.
ETRE = {"present": "suis es est sommes êtes sont".split(), "past": "étais étais était étions étiez étaient".split(),
        "future": "serai seras sera serons serez seront".split()}
AVOIR = {"present": "ai as a avons avez ont".split(), "past": "avais avais avait avions aviez avaient".split(),
         "future": "aurai auras aura aurons aurez auront".split()}
ALLER = "vais vas va allons allez vont".split()
ENDINGS = {"er": ("e es e ons ez ent".split(), "é"), "ir": ("is is it issons issez issent".split(), "i"),
           "re": ("s s  ons ez ent".split(" "), "u")}


PARTICIPLES = {"eat": "eaten", "drink": "drunk", "see": "seen", "draw": "drawn", "break": "broken", "forget": "forgotten", "hide": "hidden",
               "steal": "stolen", "write": "written", "take": "taken", "know": "known", "choose": "chosen", "wear": "worn", "drive": "driven",
               "do": "done", "give": "given", "show": "shown", "speak": "spoken", "sing": "sung", "swim": "swum", "run": "run", "go": "gone",
               "come": "come", "fall": "fallen", "wake": "woken"}


def rows(name: str):
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def words(field: str) -> list[str]:
    return field.split("_")


def bare(letter: str) -> str:
    letter = {"œ": "o"}.get(letter, letter)
    return unicodedata.normalize("NFD", letter)[0].lower()


def starts_with_vowel(word: str) -> bool:
    """True where French elides: a vowel or a mute h (none of the nouns here has the other h)."""
    first = bare(word[0])
    return word not in NO_ELISION and (first in "aeiouh" or (first == "y" and (len(word) == 1 or bare(word[1]) not in VOWELS)))


def article(word: str) -> str:
    return "an" if word[0] in "aeiou" and word not in AN_EXCEPTIONS else "a"


def english_s(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh", "o", "z")):
        return {"piano": "pianos", "photo": "photos"}.get(word, word + "es")
    return word[:-1] + "ies" if word[-1] == "y" and word[-2] not in VOWELS else word + "s"


def english_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    return word[:-1] + "ied" if word[-1] == "y" and word[-2] not in VOWELS else word + "ed"


def english_ing(word: str) -> str:
    return word[:-1] + "ing" if word.endswith("e") and not word.endswith("ee") else word + "ing"


def french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    return word + ("x" if word.endswith("eau") else "s")


@dataclasses.dataclass(frozen=True)
class Noun:
    english: str
    english_plural: str  # empty: mass noun
    french: tuple
    french_plural: tuple
    gender: str
    kind: str

    @property
    def person(self) -> bool:
        return self.kind in "pj"

    @property
    def mass(self) -> bool:
        return not self.english_plural


def read_nouns() -> list[Noun]:
    nouns = []
    for english, french, gender, kind in rows("nouns.tsv"):
        single, _, plural = english.partition("/")
        plural = "" if plural == "-" else plural or english_s(single)
        fr_single, _, fr_plural = french.partition("/")
        nouns.append(Noun(single, plural, tuple(words(fr_single)), tuple(words(fr_plural)) if fr_plural else (french_plural(fr_single),), gender,
                          kind))
    return nouns


@dataclasses.dataclass(frozen=True)
class Adjective:
    english: str
    forms: tuple  # masculine, feminine, masculine plural, feminine plural
    before_vowel: str  # of the masculine, when it stands before its noun
    place: str
    uses: str

    def form(self, gender: str, plural: bool) -> str:
        return self.forms[(gender == "f") + 2 * plural]


def read_adjectives() -> list[Adjective]:
    adjectives = []
    for english, masculine, feminine, place, uses in rows("adjectives.tsv"):
        masculine, _, vowel = masculine.partition("/")
        forms = (masculine, feminine, french_plural(masculine), french_plural(feminine))
        adjectives.append(Adjective(english, forms, vowel or masculine, place, uses))
    return adjectives


@dataclasses.dataclass(frozen=True)
class Verb:
    english: str  # base form, without its particle
    particle: tuple
    third: str
    past: str
    ing: str
    infinitive: str
    present: tuple
    participle: str
    objects: str
    flags: frozenset

    @property
    def english_participle(self) -> str:
        return PARTICIPLES.get(self.english, self.past)

    @property
    def key(self) -> str:
        return "_".join((self.english,) + self.particle)

    def agreed(self, gender: str, plural: bool) -> str:
        """The past participle; one in -s has no masculine plural of its own."""
        base = self.participle + ("e" if gender == "f" else "")
        return base + "s" if plural and not base.endswith("s") else base


def present_tense(infinitive: str, pattern: str) -> tuple:
    if pattern not in ENDINGS:
        return tuple(pattern.split(","))
    stem, endings = infinitive[:-2], ENDINGS[pattern][0]
    forms = [stem + ending for ending in endings]
    if infinitive.endswith("ger"):
        forms[3] = stem + "eons"
    return tuple(forms)


def read_verbs() -> dict[str, Verb]:
    verbs = {}
    for english, past, infinitive, pattern, *rest in rows("verbs.tsv"):
        regular = pattern in ENDINGS or pattern.split(",")[0][-1] == "e" and infinitive.endswith("er")
        participle = rest.pop(0) if not regular or rest[0] == "+" else "+"
        if participle == "+":
            participle = infinitive[:-2] + ENDINGS["ir" if infinitive.endswith("ir") else infinitive[-2:]][1]
        objects, *rest = rest
        flags = frozenset(flag for field in rest for flag in field.split(","))
        named = dict(flag.split("=") for flag in flags if "=" in flag)
        base, *particle = words(english)
        verb = Verb(base, tuple(particle), named.get("s", english_s(base)), english_ed(base) if past == "+" else past,
                    named.get("ing", english_ing(base)), infinitive, present_tense(infinitive, pattern), participle,
                    "" if objects == "-" else objects, frozenset(flag for flag in flags if "=" not in flag))
        verbs[verb.key] = verb
    return verbs


@dataclasses.dataclass(frozen=True)
class Name:
    kind: str
    english: str
    french: str
    gender: str


NOUNS = read_nouns()
ADJECTIVES = read_adjectives()
VERBS = read_verbs()
NAMES = [Name(*row) for row in rows("names.tsv")]
