"""Rules for what follows the subject: objects, pronouns, recipients, places, times.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import random

from clauses import MODALS, Mood, VerbPhrase
from lexicon import VERBS, Noun
from noun_phrases import (BY_CLASS, DIRECT, INDIRECT, NAMES_OF, OBJECT_GENDER, STRESSED, Core, English, French, NounPhrase, choose_noun, container, definite, english,
                          french, generic, indefinite, nouns_in, number_of, object_phrase, partitive, person_phrase, possessive, proper_name, rule)

PLACES = {"in": "dans", "near": "près de", "behind": "derrière", "in front of": "devant", "next to": "à côté de"}
ON_THINGS = {"on": "sur", "under": "sous", "behind": "derrière", "near": "près de"}
TIMES = {  # English: French, which tenses it goes with (n now, p past, f future)
    "today": ("aujourd' hui", "npf"), "now": ("maintenant", "nf"), "tomorrow": ("demain", "f"), "yesterday": ("hier", "p"),
    "tonight": ("ce soir", "f"), "this morning": ("ce matin", "pn"), "every day": ("tous les jours", "n"), "on monday": ("lundi", "f"),
    "on sunday": ("dimanche", "f"), "on saturday": ("samedi", "f"), "last week": ("la semaine dernière", "p"), "next week":
    ("la semaine prochaine", "f"), "last night": ("hier soir", "p"), "next year": ("l' année prochaine", "f"), "in the morning":
    ("le matin", "n"), "in the evening": ("le soir", "n"), "every morning": ("tous les matins", "n"), "this evening": ("ce soir", "f"),
    "this week": ("cette semaine", "nf"), "in summer": ("en été", "n"), "in winter": ("en hiver", "n")}
MANNERS = {"well": "bien", "a lot": "beaucoup", "too much": "trop"}  # after the verb, before the participle
LAST = {"quickly": "vite", "slowly": "lentement", "together": "ensemble", "here": "ici", "again": "encore une fois", "too": "aussi"}
HOURS = {"one": "une", "two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six", "seven": "sept", "eight": "huit",
         "nine": "neuf", "ten": "dix", "eleven": "onze"}
SPORTS = {"football": "football", "tennis": "tennis", "basketball": "basket"}
INSTRUMENTS = {"piano": ("piano", "m"), "guitar": ("guitare", "f"), "violin": ("violon", "m"), "flute": ("flûte", "f")}
LANGUAGES = {"french": "français", "english": "anglais", "italian": "italien", "spanish": "espagnol", "german": "allemand"}
MAKEABLE = {"cake", "sandwich", "salad", "soup", "pizza", "pie", "pancake", "omelette", "bread", "cheese", "jam"}
NARROW = {"learn": {"language", "lesson", "word", "song"}, "understand": {"question", "problem", "lesson", "word", "language", "idea", "sentence"},
          "study": {"lesson", "language"}, "write": {"word", "sentence", "exercise", "letter", "book", "story", "poem", "message"},
          "finish": {"book", "letter", "exercise", "lesson", "story"}, "fill": {"cup", "glass", "bottle", "basket", "bag", "box"},
          "steal": {"key", "wallet", "ring", "bag", "car", "bike", "computer", "phone", "painting", "coin"},
          "tell": {"story"}, "watch": {"film", "bird", "game", "tree", "star", "cloud", "sea", "child"}, "listen_to": {"music", "song", "story"},
          "explain": {"lesson", "exercise", "problem", "question", "word", "idea", "sentence"}, "make": MAKEABLE, "sing": {"song"},
          "open": {"door", "window", "box", "bottle", "bag", "suitcase", "wallet", "umbrella", "cupboard"},
          "close": {"door", "window", "box", "bottle", "bag", "suitcase", "wallet", "umbrella", "cupboard"},
          "cut": {"bread", "cake", "cheese", "meat", "ham", "apple", "lemon", "tomato", "carrot", "onion", "pie", "pizza", "mushroom"}}
SPECIAL = {"go", "come", "live", "play", "do", "put", "think", "say", "speak", "answer"}


@dataclasses.dataclass
class Maker:
    """One sentence in the making: its random numbers, who is spoken to, and the pairs of verb and object that it has used."""
    rng: random.Random
    polite: str = ""  # gender of a sir (m), a madam (f), of friends (p)
    pairs: list = dataclasses.field(default_factory=list)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, weighted):
        values, weights = zip(*weighted)
        return self.rng.choices(values, weights)[0]


@rule
def negated_quantity(phrase: NounPhrase) -> NounPhrase:
    """not a X, not any X: pas de X"""
    first = phrase.english[0]
    if phrase.quantity:
        phrase.french = [French("de", first)] + [word for word in phrase.french if word.link is not first]
        first.text = {"some": "any"}.get(first.text, first.text)
    return phrase


SOMETHING = {"something": "quelque chose", "somebody": "quelqu' un"}


@rule
def something(m: Maker, verb) -> NounPhrase:
    """something: quelque chose; somebody: quelqu'un"""
    word = English("somebody" if "p" in verb.objects and m.chance(0.6) else "something")
    return NounPhrase([word], french(SOMETHING[word.text], word))


def objects_of(verb) -> list[Noun]:
    allowed = NARROW.get(verb.key)
    if allowed:
        return [noun for letter in BY_CLASS for noun in BY_CLASS[letter] if noun.english in allowed]
    return nouns_in(verb.objects)


def noun_object(m: Maker, verb, mood: Mood) -> NounPhrase:
    if set(verb.objects) & set("ptf") and not mood.negation and verb.key not in NARROW and m.chance(0.05):
        return something(m, verb)
    if set(verb.objects) & set("fd") and len(verb.objects) < 8 and verb.key not in NARROW and m.chance(0.12):
        phrase = container(m.rng, verb.objects)
        return negated_quantity(phrase) if mood.negation else phrase
    if "p" in verb.objects and m.chance(0.3 if len(verb.objects) > 1 else 1):
        phrase = person_phrase(m.rng)
    else:
        noun = choose_noun(m.rng, [noun for noun in objects_of(verb) if not noun.person] or objects_of(verb))
        if verb.key in ("love", "like", "hate", "prefer") and m.chance(0.5):
            phrase = generic(m.rng, Core(m.rng, noun, not noun.mass, 0.15))
        elif verb.key == "wear" or noun.kind == "y":
            phrase = m.pick([(possessive, 3), (definite, 2), (indefinite, 2)])(m.rng, Core(m.rng, noun, number_of(m.rng, noun), 0.3))
        else:
            phrase = object_phrase(m.rng, noun)
    if phrase.noun:
        m.pairs.append((verb.key, phrase.noun.english))
    if mood.negation:
        return negated_quantity(phrase)
    if mood.question and phrase.quantity and phrase.english[0].text == "some" and m.chance(0.5):
        phrase.english[0].text = "any"
    return phrase


def other_than(subject: NounPhrase | None) -> set:
    """Object pronouns that would be reflexive."""
    return {"i": {"me", "us"}, "we": {"us", "me"}, "you": {"you"}}.get(subject.pronoun if subject else "", set())


@rule
def direct_pronoun(m: Maker, phrase: VerbPhrase, word: str, gender: str = "", plural: bool = False):
    """I see her: je la vois; it and them take the gender of what they stand for"""
    link, gender_number = English(word), OBJECT_GENDER.get(word)
    text = DIRECT[word]
    if word == "you" and m.polite:
        text, gender_number = "vous", {"m": None, "f": ("f", False), "p": ("m", True)}[m.polite]
    if gender:
        text, gender_number = "les" if plural else "la" if gender == "f" else "le", (gender, plural)
    phrase.english.append(link)
    phrase.clitics.append(French(text, link))
    phrase.agreement = gender_number


@rule
def indirect_pronoun(m: Maker, phrase: VerbPhrase, word: str, link: English):
    """I give her the book: je lui donne le livre"""
    phrase.clitics.append(French("vous" if word == "you" and m.polite else INDIRECT[word], link))


def pronoun_for(m: Maker, verb, subject) -> str:
    words = []
    if "p" in verb.objects:
        words += [word for word in ("me", "you", "him", "her", "us", "them") if word not in other_than(subject)]
    if verb.objects.strip("pi"):
        words += ["it", "it", "them"]
    return m.rng.choice(words)


@rule
def recipient(m: Maker, phrase: VerbPhrase, mood: Mood, subject):
    """give X to Y, give Y X, give it to her: donner X à Y, le lui donner"""
    verb, to = phrase.verb, English("to")
    who = person_phrase(m.rng)
    words = [word for word in INDIRECT if word not in other_than(subject)]
    kind = m.rng.choice(["to name", "name first", "pronoun first", "pronoun first", "both", "it to name", "to pronoun", "none"])
    if verb.key == "explain":
        kind = {"name first": "to name", "pronoun first": "to pronoun"}.get(kind, kind)
    if kind in ("both", "it to name"):
        direct_pronoun(m, phrase, m.rng.choice(["it", "them"]))
        thing = NounPhrase([], [])
    else:
        thing = noun_object(m, verb, mood)
    side = [French("à", to, "preposition")]
    if kind in ("to name", "it to name"):
        phrase.english += thing.english + [to] + who.english
        phrase.french += thing.french + side + who.french
    elif kind == "name first":
        phrase.english += who.english + thing.english
        phrase.french += thing.french + [French("à", who.english[-1], "preposition")] + who.french
    elif kind == "none":
        phrase.english += thing.english
        phrase.french += thing.french
    else:
        link = English(m.rng.choice(words))
        phrase.english += [link] + thing.english if kind == "pronoun first" else thing.english + [to, link]
        phrase.french += thing.french
        indirect_pronoun(m, phrase, link.text, link)


@rule
def speaking_to(m: Maker, phrase: VerbPhrase, subject):
    """I speak to her: je lui parle; I answer Mary: je réponds à Marie; I speak French: je parle français"""
    to = English("to")
    if phrase.verb.key == "speak" and m.chance(0.3):
        link = English(m.rng.choice(sorted(LANGUAGES)))
        add(phrase, ([link], [French(LANGUAGES[link.text], link)]))
    elif m.chance(0.5):
        link = English(m.rng.choice([word for word in INDIRECT if word not in other_than(subject)]))
        phrase.english += [to, link] if phrase.verb.key == "speak" else [link]
        indirect_pronoun(m, phrase, link.text, link)
    else:
        who = person_phrase(m.rng)
        phrase.english += [to] + who.english if phrase.verb.key == "speak" else who.english
        phrase.french += [French("à", to if phrase.verb.key == "speak" else who.english[0], "preposition")] + who.french


def preposition(english_words: str, french_words: str) -> tuple[list, list]:
    words = english(english_words)
    side = french(french_words, words[0])
    side[-1].kind = "preposition"
    return words, side


@rule
def without_any(m: Maker) -> tuple[list, list]:
    """without sugar: sans sucre"""
    noun = m.rng.choice([noun for noun in nouns_in("fd") if noun.mass])
    pair, core = preposition("without", "sans"), Core(m.rng, noun, False, 0)
    return pair[0] + core.english, pair[1] + core.french


def joined(pair: tuple[list, list], phrase: NounPhrase) -> tuple[list, list]:
    return pair[0] + phrase.english, pair[1] + phrase.french


@rule
def city_or_country(m: Maker, word: str) -> tuple[list, list]:
    """in Paris: à Paris; to France: en France, au Japon; from Italy: d'Italie"""
    link = English(word)
    if m.chance(0.5):
        name = m.rng.choice(NAMES_OF["city"])
        side = "de" if word == "from" else "à"
    else:
        name = m.rng.choice(NAMES_OF["country"])
        side = {"f": "de", "m": "du"}[name.gender] if word == "from" else {"f": "en", "m": "au"}[name.gender]
    place = English(name.english)
    return [link, place], [French(side, link), French(name.french, place)]


@rule
def in_a_place(m: Maker) -> tuple[list, list]:
    """in the X, near the X, on the table: dans le X, près du X, sur la table"""
    if m.chance(0.3):
        noun = m.rng.choice(BY_CLASS["m"])
        on_nothing = noun.english in ("window", "cupboard", "door")
        words = "near" if on_nothing else m.rng.choice(sorted(ON_THINGS))
        return joined(preposition(words, ON_THINGS[words]), m.pick([(definite, 3), (possessive, 1)])(m.rng, Core(m.rng, noun, False, 0.1)))
    noun = m.rng.choice([noun for noun in BY_CLASS["l"] if noun.english not in ("beach", "island", "bridge", "mountain", "tower", "river", "lake")])
    words = m.pick([(key, 6 if key == "in" else 1) for key in sorted(PLACES)])
    return joined(preposition(words, PLACES[words]), m.pick([(definite, 4), (possessive, 1)])(m.rng, Core(m.rng, noun, False, 0.1)))


@rule
def at_a_place(m: Maker, word: str = "at") -> tuple[list, list]:
    """at the station, to the beach: à la gare, à la plage; at Mary's house: chez Marie"""
    if m.chance(0.15):
        name, link, rest = proper_name(m.rng), English(word), english("'s house")
        return [link] + name.english + rest, [French("chez", rest[-1])] + name.french
    if m.chance(0.15):
        link, place = English(word), English(m.rng.choice(["school"]))
        return [link, place], [French("à", link, "preposition"), French("l'", place), French("école", place)]
    noun = m.rng.choice([noun for noun in BY_CLASS["l"] if noun.english not in ("street", "river", "bridge", "field", "island", "bedroom", "house")])
    return joined(preposition(word, "à"), definite(m.rng, Core(m.rng, noun, False, 0)))


@rule
def at_home(m: Maker) -> tuple[list, list]:
    """at home: à la maison"""
    at, home = english("at home")
    return [at, home], [French("à", at), French("la", home), French("maison", home)]


@rule
def with_somebody(m: Maker) -> tuple[list, list]:
    """with her, for Paul, without us: avec elle, pour Paul, sans nous"""
    word = m.rng.choice(["with", "with", "for", "without"])
    side = {"with": "avec", "for": "pour", "without": "sans"}[word]
    if m.chance(0.5):
        pair, link = preposition(word, side), English(m.rng.choice(sorted(STRESSED)))
        text = "vous" if link.text == "you" and m.polite else STRESSED[link.text]
        return pair[0] + [link], pair[1] + [French(text, link, "stressed")]
    return joined(preposition(word, side), person_phrase(m.rng))


@rule
def at_an_hour(m: Maker) -> tuple[list, list]:
    """at three o'clock: à trois heures"""
    at, hour, o, clock = english(f"at {m.rng.choice(sorted(HOURS))} o 'clock")
    hours = "heure" if hour.text == "one" else "heures"
    return [at, hour, o, clock], [French("à", at), French(HOURS[hour.text], hour), French(hours, clock)]


def period(mood: Mood) -> str:
    return {"past": "p", "want/past": "p", "could": "p", "perfect": "n", "future": "f", "going": "f", "would like": "f"}.get(mood.tense, "n")


@rule
def time_phrase(m: Maker, mood: Mood) -> tuple[list, list]:
    """tomorrow, last week, every day: demain, la semaine dernière, tous les jours"""
    fitting = sorted(key for key, (_, when) in TIMES.items() if period(mood) in when)
    if mood.tense in ("progressive", "perfect"):
        fitting = ["today", "this morning", "this week"] + ["now"] * (mood.tense == "progressive")
    if m.chance(0.15) and mood.tense not in ("progressive", "perfect"):
        return at_an_hour(m)
    words = english(m.rng.choice(fitting))
    key = " ".join(word.text for word in words)
    return words, french(TIMES[key][0], words[-1])


@rule
def manner(m: Maker, phrase: VerbPhrase, mood: Mood, subject):
    """she sings well: elle chante bien; slowly, together, here"""
    simple = mood.tense in ("present", "past", "perfect", "progressive") and not phrase.english
    if simple and m.chance(0.4):
        words = english(m.rng.choice(["well", "a lot", "too much"] if phrase.verb.key in ("sing", "dance", "cook", "swim", "sleep", "work", "eat",
                                     "play", "run") else ["a lot", "too much"]))
        side = French(MANNERS[" ".join(word.text for word in words)], words[-1])
        phrase.after_finite = [(word, side) for word in words][-1:]
        phrase.english = words[:-1]
        return
    words = english(m.rng.choice(sorted(LAST)) if not mood.negation else "quickly")
    if words[0].text == "together" and not (subject and subject.plural):
        words = english("here")
    phrase.english += words
    phrase.french += french(LAST[" ".join(word.text for word in words)], words[0])


def add(phrase: VerbPhrase, pair: tuple[list, list]):
    phrase.english += pair[0]
    phrase.french += pair[1]


@rule
def going_and_coming(m: Maker, phrase: VerbPhrase):
    """go to Paris, come from the station: aller à Paris, venir de la gare"""
    if phrase.verb.key == "come" and m.chance(0.6):
        word = "from"
        add(phrase, city_or_country(m, word) if m.chance(0.6) else
            joined(preposition("from", "de"), definite(m.rng, Core(m.rng, m.rng.choice(BY_CLASS["l"]), False, 0))))
    else:
        add(phrase, city_or_country(m, "to") if m.chance(0.4) else at_a_place(m, "to"))


@rule
def living(m: Maker, phrase: VerbPhrase):
    """live in Paris, live in a big house: habiter à Paris, dans une grande maison"""
    if m.chance(0.7):
        return add(phrase, city_or_country(m, "in"))
    noun = m.rng.choice([noun for noun in BY_CLASS["l"] if noun.english in ("house", "city", "village", "castle", "street", "farm", "hotel")])
    add(phrase, joined(preposition("in", "dans"), indefinite(m.rng, Core(m.rng, noun, False, 0.6))))


@rule
def playing(m: Maker, phrase: VerbPhrase):
    """play tennis: jouer au tennis; play the piano: jouer du piano"""
    kind = m.rng.choice(["sport", "instrument", "cards", "with"])
    if kind == "sport":
        link = English(m.rng.choice(sorted(SPORTS)))
        add(phrase, ([link], [French("au", link), French(SPORTS[link.text], link)]))
    elif kind == "instrument":
        the, link = English("the"), English(m.rng.choice(sorted(INSTRUMENTS)))
        text, gender = INSTRUMENTS[link.text]
        add(phrase, ([the, link], [French("de", the, "preposition"), French("la" if gender == "f" else "le", the, "article"), French(text, link)]))
    elif kind == "cards":
        link = English("cards")
        add(phrase, ([link], french("aux cartes", link)))
    else:
        noun = m.rng.choice(BY_CLASS["a"] + [noun for noun in BY_CLASS["t"] if noun.english in ("ball", "toy", "doll", "drum")])
        add(phrase, joined(preposition("with", "avec"), m.pick([(definite, 1), (possessive, 1)])(m.rng, Core(m.rng, noun, False, 0.3))))


@rule
def putting(m: Maker, phrase: VerbPhrase, mood: Mood):
    """put X on Y, put it on Y: mettre X sur Y, le mettre sur Y"""
    if m.chance(0.35):
        direct_pronoun(m, phrase, m.rng.choice(["it", "them"]))
    else:
        noun = m.rng.choice(nouns_in("tcbf"))
        thing = m.pick([(definite, 4), (possessive, 3)])(m.rng, Core(m.rng, noun, number_of(m.rng, noun), 0.2))
        m.pairs.append(("put", noun.english))
        add(phrase, (thing.english, thing.french))
    noun = m.rng.choice([noun for noun in BY_CLASS["m"] if noun.english not in ("window", "door")] +
                        [noun for noun in BY_CLASS["t"] if noun.english in ("bag", "box", "basket", "suitcase")])
    word = "in" if noun.english in ("cupboard", "bag", "box", "basket", "suitcase") else m.rng.choice(["on", "under"])
    side = {"in": "dans", "on": "sur", "under": "sous"}[word]
    add(phrase, joined(preposition(word, side), m.pick([(definite, 3), (possessive, 1)])(m.rng, Core(m.rng, noun, False, 0.1))))


@rule
def doing(m: Maker, phrase: VerbPhrase):
    """do it, do the exercise, do the cooking: le faire, faire l'exercice, faire la cuisine"""
    if m.chance(0.4):
        return direct_pronoun(m, phrase, "it")
    the, link = english(m.rng.choice(["the dishes", "the housework", "the cooking", "the shopping", "the exercise", "the laundry"]))
    side = {"dishes": "la vaisselle", "housework": "le ménage", "cooking": "la cuisine", "shopping": "les courses", "exercise": "le exercice",
            "laundry": "la lessive"}[link.text].split()
    add(phrase, ([the, link], [French(side[0], the, "article"), French(side[1], link)]))


PLAIN = [verb for verb in VERBS.values() if verb.key not in SPECIAL]
SPECIAL_VERBS = [VERBS[key] for key in sorted(SPECIAL - {"think", "say"})]


def suits(verb, mood: Mood, subject: NounPhrase | None) -> bool:
    """False for a tense that the verb does not take, or in which English has one form for two tenses (I put)."""
    tense, plain = mood.tense, mood.negation not in ("not", "n't") and not mood.question
    if "stative" in verb.flags and tense in ("progressive", "imperative") or verb.key == "know" and tense == "past" or verb.key == "have" and tense == "perfect":
        return False
    if verb.key in ("want", "know", "like") and tense not in ("present", "future") or tense == "have" and verb.key == "have":
        return False
    return not (tense == "past" and plain and verb.past == verb.english and (subject is None or subject.person != 2))


def verb_phrase(m: Maker, mood: Mood, subject: NounPhrase | None, extras: float = 0.35, verb=None) -> VerbPhrase:
    verb = verb or m.rng.choice(PLAIN + SPECIAL_VERBS)
    while not suits(verb, mood, subject):
        verb = m.rng.choice(PLAIN + SPECIAL_VERBS)
    phrase = VerbPhrase(verb)
    special = {"go": going_and_coming, "come": going_and_coming, "live": living, "play": playing, "do": doing}.get(verb.key)
    if special:
        if verb.key != "play" or m.chance(0.85):
            special(m, phrase)
    elif verb.key == "put":
        putting(m, phrase, mood)
    elif verb.key in ("speak", "answer"):
        if verb.key == "answer" or m.chance(0.8):
            speaking_to(m, phrase, subject)
    elif "to" in verb.flags:
        recipient(m, phrase, mood, subject)
    elif verb.objects.strip("i") and not ("i" in verb.objects and m.chance(0.3)):
        if m.chance(0.38):
            direct_pronoun(m, phrase, pronoun_for(m, verb, subject))
        else:
            phrase_object = noun_object(m, verb, mood)
            add(phrase, (phrase_object.english, phrase_object.french))
    if m.chance(extras):
        extend(m, phrase, mood, subject)
    if mood.tense in ("present", "past", "perfect") and not phrase.after_finite and verb.key != "like" and mood.negation in ("", "not", "n't") and m.chance(0.12):
        words = ["always", "often"] if mood.negation else ["always", "often", "sometimes", "really"]
        phrase.middle = "already" if mood.tense in ("past", "perfect") and not mood.negation and m.chance(0.4) else m.rng.choice(words)
    return phrase


def extend(m: Maker, phrase: VerbPhrase, mood: Mood, subject):
    """A place, a time, a manner or company, as far as the verb takes it."""
    if "stative" in phrase.verb.flags or phrase.verb.key in ("go", "come", "live", "put"):
        if mood.tense != "present":
            add(phrase, time_phrase(m, mood))
        return
    kind = m.rng.choice(["place", "at", "time", "time", "manner", "company", "home"])
    if kind == "manner" and ("i" in phrase.verb.objects):
        manner(m, phrase, mood, subject)
    elif kind == "place" and phrase.verb.key not in ("arrive", "leave", "fall"):
        add(phrase, in_a_place(m))
    elif kind == "company":
        add(phrase, without_any(m) if set(phrase.verb.objects) & set("fd") and m.chance(0.4) else with_somebody(m))
    elif kind in ("at", "home") and phrase.verb.key != "leave":
        add(phrase, at_a_place(m) if kind == "at" else at_home(m))
    else:
        add(phrase, time_phrase(m, mood))


def random_mood(m: Maker, subject: NounPhrase, question=False, plain=False) -> Mood:
    tense = m.pick([("present", 30), ("progressive", 10), ("past", 24), ("perfect", 6), ("future", 7), ("going", 5), ("would like", 3)] +
                   [(name, 4.5 if name in ("can", "want") else 2) for name in MODALS])
    negation = "" if plain else m.pick([("", 70), ("not", 14), ("n't", 12), ("never", 4)])
    if negation == "n't" and tense in ("must", "would like"):
        negation = "not"
    if tense in ("would like", "have"):
        negation = ""
    if tense in ("progressive", "going") and negation == "n't" and subject.person == 0:
        negation = "not"
    if question and negation:
        negation = "" if m.chance(0.7) else "n't" if tense not in ("must", "progressive", "going") else ""
    return Mood(tense, negation, question, m.chance(0.55))
