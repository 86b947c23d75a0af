"""Words that know each other, and the rules for noun phrases: determiner, adjectives, agreement, pronouns.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses

from lexicon import ADJECTIVES, NAMES, NOUNS, article

RULES: dict[str, str] = {}


def rule(function):
    """A rule of the grammar: listed by name with the first line of what it says."""
    RULES[function.__name__] = (function.__doc__ or "").splitlines()[0]
    return function


class English:
    def __init__(self, text: str):
        self.text = text


class French:
    """One French word and the English word that it translates."""

    def __init__(self, text: str, link: English, kind: str = "", vowel: str = ""):
        self.text, self.link, self.kind, self.vowel = text, link, kind, vowel


def english(text: str) -> list[English]:
    return [English(word) for word in text.split()]


def french(text: str, link: English) -> list[French]:
    return [French(word, link) for word in text.split()]


@dataclasses.dataclass
class NounPhrase:
    english: list
    french: list
    gender: str = "m"
    plural: bool = False
    person: int = 2  # 0 je ... 2 il, 3 nous, 4 vous, 5 ils
    pronoun: str = ""  # the English pronoun, when it is one
    noun: object = None
    quantity: bool = False  # a, some: "de" after a negation


PRONOUNS = {  # English subject: French, person, gender, plural, object forms
    "i": ("je", 0, "m", False), "you": ("tu", 1, "m", False), "he": ("il", 2, "m", False), "she": ("elle", 2, "f", False),
    "we": ("nous", 3, "m", True), "they": ("ils", 5, "m", True), "it": ("il", 2, "m", False)}
POSSESSIVES = {  # masculine, feminine, plural
    "my": ("mon", "ma", "mes"), "your": ("ton", "ta", "tes"), "his": ("son", "sa", "ses"), "her": ("son", "sa", "ses"),
    "our": ("notre", "notre", "nos"), "their": ("leur", "leur", "leurs")}
DIRECT = {"me": "me", "you": "te", "him": "le", "her": "la", "us": "nous", "them": "les", "it": "le"}
INDIRECT = {"me": "me", "you": "te", "him": "lui", "her": "lui", "us": "nous", "them": "leur"}
STRESSED = {"me": "moi", "you": "toi", "him": "lui", "her": "elle", "us": "nous", "them": "eux"}
OBJECT_GENDER = {"her": ("f", False), "them": ("m", True), "us": ("m", True)}
NUMBERS = {"two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six", "seven": "sept", "eight": "huit", "nine": "neuf",
           "ten": "dix", "eleven": "onze", "twelve": "douze", "twenty": "vingt", "thirty": "trente"}
QUANTITIES = {"many": ("beaucoup", "plural"), "too many": ("trop", "plural"), "a lot of": ("beaucoup", "any"), "a little": ("un peu", "mass"),
              "enough": ("assez", "any"), "more": ("plus", "any"), "how many": ("combien", "plural")}
BY_CLASS = {letter: [noun for noun in NOUNS if noun.kind == letter] for letter in sorted({noun.kind for noun in NOUNS})}
PEOPLE = BY_CLASS["p"] + BY_CLASS["j"]
NAMES_OF = {kind: [name for name in NAMES if name.kind == kind] for kind in ("person", "city", "country")}
ADJECTIVE = {adjective.english: adjective for adjective in ADJECTIVES}
# Which uses of an adjective go with which class of noun.
USES = {"p": "p", "j": "p", "a": "a", "f": "f", "d": "f", "t": "oc", "b": "b", "c": "oc", "v": "vocc", "m": "oc", "l": "l", "n": "n", "x": "b", "s": "s",
        "y": ""}
SPECIAL_PLACE = {"hot": "fd", "cold": "fd", "fresh": "f", "good": "fdbxsp", "bad": "fbxs", "white": "ctvma", "black": "ctvma", "full": "t",
                 "empty": "t", "delicious": "f"}


def fits(adjective, noun) -> bool:
    if adjective.english in SPECIAL_PLACE:
        return noun.kind in SPECIAL_PLACE[adjective.english]
    return any(use in USES[noun.kind] for use in adjective.uses)


def choose_adjective(rng, noun, places: str):
    fitting = [adjective for adjective in ADJECTIVES if adjective.place in places.split() and fits(adjective, noun)]
    return rng.choice(fitting) if fitting else None


def nouns_in(classes: str) -> list:
    return [noun for letter in classes for noun in BY_CLASS.get(letter, [])] + (BY_CLASS["j"] if "p" in classes else [])


def choose_noun(rng, nouns: list):
    """Half of the time by class first, so that the words of a small class are no rarer."""
    if rng.random() < 0.5:
        letter = rng.choice(sorted({noun.kind for noun in nouns}))
        nouns = [noun for noun in nouns if noun.kind == letter]
    return rng.choice(nouns)


def number_of(rng, noun, chance=0.25) -> bool:
    return not noun.mass and rng.random() < chance


@rule
def adjective_before(core, adjective):
    """big, beautiful, old ...: before the noun, with bel, nouvel, vieil before a vowel"""
    link = English(adjective.english)
    masculine = core.noun.gender == "m" and not core.plural
    core.english.insert(0, link)
    core.french.insert(0, French(adjective.form(core.noun.gender, core.plural), link, vowel=adjective.before_vowel if masculine else ""))
    core.before = True


@rule
def adjective_after(core, adjective, place=0):
    """red, interesting ...: after the noun, in its gender and number"""
    link = English(adjective.english)
    core.english.insert(place, link)
    core.french.append(French(adjective.form(core.noun.gender, core.plural), link))


class Core:
    """Noun with its adjectives, before it has a determiner: English in order, French in its own."""

    def __init__(self, rng, noun, plural: bool, adjective_chance: float):
        self.noun, self.plural = noun, plural
        self.head = English(noun.english_plural if plural else noun.english)
        self.english, self.before = [self.head], False
        self.french = french(" ".join(noun.french_plural if plural else noun.french), self.head)
        adjective = choose_adjective(rng, noun, "before after") if rng.random() < adjective_chance else None
        if adjective:
            self.put(adjective)
            other = choose_adjective(rng, noun, "after") if self.before and rng.random() < 0.15 else None
            if other:
                adjective_after(self, other, 1)

    def put(self, adjective):
        (adjective_before if adjective.place == "before" else adjective_after)(self, adjective)

    def phrase(self, determiner_english, determiner_french, **more) -> NounPhrase:
        return NounPhrase(determiner_english + self.english, determiner_french + self.french, self.noun.gender, self.plural,
                          5 if self.plural else 2, noun=self.noun, **more)


def le(core: Core) -> str:
    return "les" if core.plural else "la" if core.noun.gender == "f" else "le"


@rule
def definite(rng, core):
    """the X: le, la, les"""
    the = English("the")
    return core.phrase([the], [French(le(core), the, "article")])


@rule
def indefinite(rng, core):
    """a X: un, une"""
    if core.plural or core.noun.mass:
        return partitive(rng, core)
    a = English(article(core.english[0].text))
    return core.phrase([a], [French("une" if core.noun.gender == "f" else "un", a)], quantity=True)


@rule
def partitive(rng, core):
    """some X: du, de la, des; "de" before an adjective in the plural"""
    some = English("some")
    if not (core.plural or core.noun.mass):
        return indefinite(rng, core)
    if core.plural and core.before:
        return core.phrase([some], [French("de", some)], quantity=True)
    return core.phrase([some], [French("de", some, "preposition"), French(le(core), some, "article")], quantity=True)


@rule
def possessive(rng, core, owner=""):
    """my X: mon, ma, mes; mon before a vowel"""
    word = English(owner or rng.choice(sorted(POSSESSIVES)))
    forms = POSSESSIVES[word.text]
    return core.phrase([word], [French(forms[2] if core.plural else forms[core.noun.gender == "f"], word, "determiner")])


@rule
def this_one(rng, core):
    """this X, these X: ce, cet, cette, ces"""
    this = English("these" if core.plural else "this")
    return core.phrase([this], [French("ces" if core.plural else "cette" if core.noun.gender == "f" else "ce", this, "determiner")])


@rule
def that_one(rng, core):
    """that X, those X: ce X-là"""
    if len(core.french) > 1:
        return this_one(rng, core)
    that = English("those" if core.plural else "that")
    phrase = core.phrase([that], [French("ces" if core.plural else "cette" if core.noun.gender == "f" else "ce", that, "determiner")])
    phrase.french.append(French("-là", that))
    return phrase


@rule
def counted(rng, core):
    """three X: trois X"""
    number = English(rng.choice(sorted(NUMBERS)))
    return core.phrase([number], [French(NUMBERS[number.text], number)])


@rule
def quantified(rng, core):
    """a lot of X, many X, enough X: beaucoup de X, assez de X"""
    kind = "mass" if core.noun.mass else "plural"
    words = english(rng.choice(sorted(key for key, value in QUANTITIES.items() if value[1] in (kind, "any") and key != "how many")))
    key = " ".join(word.text for word in words)
    link = words[1] if len(words) > 1 else words[0]
    return core.phrase(words, french(QUANTITIES[key][0], link) + [French("de", words[2] if len(words) > 2 else link)])


@rule
def generic(rng, core):
    """love X: aimer les X, aimer le X"""
    return core.phrase([], [French(le(core), core.head, "article")])


@rule
def owned_by_name(rng, core):
    """Mary's X: le X de Marie"""
    name, case = proper_name(rng), English("'s")
    phrase = core.phrase(name.english + [case], [French(le(core), case, "article")])
    phrase.french += [French("de", case, "preposition")] + name.french
    return phrase


@rule
def part_of(rng, core):
    """the X of the Y: le X du Y"""
    place = Core(rng, rng.choice(BY_CLASS["l"]), False, 0)
    owner, of, the = definite(rng, place), English("of"), English("the")
    phrase = core.phrase([the], [French(le(core), the, "article")])
    phrase.english += [of] + owner.english
    phrase.french += [French("de", of, "preposition")] + owner.french
    return phrase


@rule
def proper_name(rng):
    """Mary: Marie"""
    name = rng.choice(NAMES_OF["person"])
    link = English(name.english)
    return NounPhrase([link], [French(name.french, link)], name.gender)


@rule
def two_names(rng):
    """Mary and Julie: Marie et Julie, feminine only if both are"""
    first, second, both = proper_name(rng), proper_name(rng), English("and")
    while second.english[0].text == first.english[0].text:
        second = proper_name(rng)
    gender = "f" if first.gender == second.gender == "f" else "m"
    return NounPhrase(first.english + [both] + second.english, first.french + [French("et", both)] + second.french, gender, True, 5)


@rule
def subject_pronoun(rng, word: str = "", polite: bool = False):
    """I, you, he ...: je, tu, il ...; you is vous to a sir, a madam and to friends"""
    word = word or rng.choice(["i"] * 5 + ["you"] * 4 + ["he", "she"] * 3 + ["we", "they"] * 3)
    text, person, gender, plural = PRONOUNS[word]
    if word == "you" and polite:
        text, person = "vous", 4
    link = English(word)
    return NounPhrase([link], [French(text, link)], gender, plural, person, pronoun=word)


@rule
def all_of_them(rng, core):
    """all the X: tous les X, toutes les X; every X: chaque X"""
    if core.noun.mass:
        return definite(rng, core)
    if core.plural:
        everything, the = english("all the")
        return core.phrase([everything, the], [French("toutes" if core.noun.gender == "f" else "tous", everything), French("les", the)])
    every = English("every")
    return core.phrase([every], [French("chaque", every)])


ORDER = {"first": ("premier", "première"), "second": ("deuxième", "deuxième"), "third": ("troisième", "troisième"), "other": ("autre", "autre"),
         "same": ("même", "même"), "last": ("dernier", "dernière")}


@rule
def ordinal(rng, core):
    """the first X, the other X, the same X: le premier X, l'autre X, le même X"""
    if core.noun.mass or core.before:
        return definite(rng, core)
    the, word = English("the"), English(rng.choice(sorted(ORDER)))
    core.english.insert(0, word)
    core.french.insert(0, French(ORDER[word.text][core.noun.gender == "f"] + ("s" if core.plural else ""), word))
    return core.phrase([the], [French(le(core), the, "article")])


@rule
def another(rng, core):
    """another X: un autre X"""
    if core.plural or core.noun.mass or core.before:
        return definite(rng, core)
    word = English("another")
    return core.phrase([word], [French("une" if core.noun.gender == "f" else "un", word), French("autre", word)], quantity=False)


CONTAINERS = {"cup": ("coffee", "tea", "milk", "chocolate"), "glass": ("water", "milk", "wine", "beer", "juice", "lemonade"),
              "bottle": ("water", "milk", "wine", "beer", "juice", "lemonade"), "plate": ("rice", "meat", "fish", "cheese"),
              "basket": ("apple", "cherry", "strawberry", "potato", "mushroom", "egg", "flower"), "box": ("chocolate", "cookie", "key", "pencil")}


@rule
def container(rng, kinds="fdt"):
    """a cup of tea, two baskets of apples: une tasse de thé, deux paniers de pommes"""
    by_name = {noun.english: noun for noun in NOUNS}
    holder, held = rng.choice([(by_name[holder], by_name[held]) for holder in sorted(CONTAINERS) for held in CONTAINERS[holder]
                               if by_name[held].kind in kinds])
    core, inside = Core(rng, holder, rng.random() < 0.25, 0.1), Core(rng, held, not held.mass, 0)
    of = English("of")
    phrase = (counted if core.plural else rng.choices([indefinite, this_one, possessive], [5, 1, 1])[0])(rng, core)
    phrase.english += [of] + inside.english
    phrase.french += [French("de", of)] + inside.french
    return phrase


DETERMINERS = [(all_of_them, 1), (ordinal, 1), (another, 0.4), (definite, 9), (indefinite, 6), (partitive, 3), (possessive, 6), (this_one, 3), (that_one, 1), (counted, 1.5), (quantified, 1.5),
               (owned_by_name, 1), (part_of, 0.5)]


def object_phrase(rng, noun, adjectives=0.3) -> NounPhrase:
    core = Core(rng, noun, number_of(rng, noun, 0.3), adjectives)
    kinds, weights = zip(*DETERMINERS)
    kind = rng.choices(kinds, weights)[0]
    if kind is part_of and (noun.kind not in "ptm" or len(core.french) > 1):
        kind = definite
    if kind is partitive and not noun.mass:
        core = Core(rng, noun, True, adjectives)
    if kind in (counted, quantified):
        if noun.mass and kind is counted or noun.kind == "n":
            kind = definite
        elif not core.plural and not noun.mass:
            core = Core(rng, noun, True, adjectives)
    return kind(rng, core)


def person_phrase(rng, adjectives=0.2) -> NounPhrase:
    """Somebody by name or by noun, for subjects and for objects that take people."""
    if rng.random() < 0.45:
        return proper_name(rng)
    noun = rng.choice(PEOPLE)
    kind = rng.choices([definite, possessive, this_one, owned_by_name], [6, 6, 1, 1])[0]
    return kind(rng, Core(rng, noun, number_of(rng, noun), adjectives))


def subject_phrase(rng, polite=False) -> NounPhrase:
    chance = rng.random()
    if chance < 0.58:
        return subject_pronoun(rng, polite=polite)
    return two_names(rng) if chance > 0.96 else person_phrase(rng)
