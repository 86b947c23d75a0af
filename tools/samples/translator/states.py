"""Rules for what somebody is, has or feels: être and avoir, comparison, there is, the weather, the hour.

SPDX-License-Identifier: Apache-2.0
"""
from clauses import Clause, Mood, be_form, contract, copula, est_ce_que, negate, NEGATIONS
from lexicon import ADJECTIVES, AVOIR, article
from noun_phrases import (BY_CLASS, NUMBERS, PEOPLE, STRESSED, Core, English, French, NounPhrase, choose_noun, definite, english, fits, french, indefinite,
                          nouns_in, number_of, partitive, person_phrase, possessive, proper_name, quantified, counted, rule, subject_pronoun,
                          this_one)
from verb_phrases import HOURS, Maker, at_a_place, at_home, city_or_country, in_a_place, negated_quantity

COMPARED = {"big": "bigger", "small": "smaller", "old": "older", "young": "younger", "strong": "stronger", "rich": "richer", "fast": "faster",
            "slow": "slower", "long": "longer", "heavy": "heavier", "happy": "happier", "pretty": "prettier", "kind": "kinder",
            "funny": "funnier", "easy": "easier", "poor": "poorer", "short": "shorter", "brave": "braver", "clean": "cleaner"}
WITH_AVOIR = {"hungry": "faim", "thirsty": "soif", "hot": "chaud", "cold": "froid", "right": "raison", "wrong": "tort", "sleepy": "sommeil",
              "afraid": "peur", "lucky": "de la chance"}
DEGREES = {"very": "très", "too": "trop", "so": "si", "really": "vraiment"}


def adjectives_for(subject: NounPhrase) -> list:
    if subject.pronoun == "it" and subject.noun is None:
        return [adjective for adjective in ADJECTIVES if set(adjective.uses) & set("obc") and not set(adjective.uses) & set("p")]
    if subject.noun is None or subject.noun.person:
        return [adjective for adjective in ADJECTIVES if "p" in adjective.uses]
    return [adjective for adjective in ADJECTIVES if fits(adjective, subject.noun)]


def mood_of(m: Maker, question: bool) -> Mood:
    negation = m.pick([("", 72), ("not", 14), ("n't", 11), ("never", 3)]) if not question else m.pick([("", 92), ("n't", 8)])
    return Mood(m.pick([("present", 72), ("past", 18), ("future", 10)]), negation, question, m.chance(0.5))


@rule
def adjective_state(m: Maker, subject: NounPhrase, mood: Mood) -> Clause:
    """X is red: X est rouge, in the gender and number of X"""
    adjective = m.rng.choice(adjectives_for(subject) or [a for a in ADJECTIVES if a.english == "new"])
    link = English(adjective.english)
    side = [French(adjective.form(subject.gender, subject.plural), link)]
    words = [link]
    if m.chance(0.25) and adjective.english not in ("open", "closed", "alone", "lost", "perfect", "full", "empty", "broken"):
        degree = English(m.rng.choice(sorted(DEGREES)))
        words, side = [degree, link], [French(DEGREES[degree.text], degree)] + side
    elif m.chance(0.08):
        other = m.rng.choice(adjectives_for(subject) or [adjective])
        if other is not adjective:
            both, second = English("and"), English(other.english)
            words += [both, second]
            side += [French("et", both), French(other.form(subject.gender, subject.plural), second)]
    return copula(subject, words, side, mood)


@rule
def comparison(m: Maker, subject: NounPhrase, mood: Mood) -> Clause:
    """X is bigger than Y, as big as Y: X est plus grand que Y, aussi grand que Y"""
    adjective = m.rng.choice([a for a in adjectives_for(subject) if a.english in COMPARED or a.english in
                              ("beautiful", "intelligent", "patient", "careful", "expensive", "dangerous", "interesting", "important",
                               "famous", "nervous", "comfortable", "curious", "polite")] or [a for a in ADJECTIVES if a.english == "big"])
    form = adjective.form(subject.gender, subject.plural)
    if m.chance(0.25):
        words = [English("as"), English(adjective.english), English("as")]
        side = [French("aussi", words[0]), French(form, words[1]), French("que", words[2])]
    elif adjective.english in COMPARED:
        words = english(COMPARED[adjective.english] + " than")
        side = [French("plus", words[0]), French(form, words[0]), French("que", words[1])]
    else:
        words = english(f"more {adjective.english} than")
        side = [French("plus", words[0]), French(form, words[1]), French("que", words[2])]
    other = compared_with(m, subject)
    return copula(subject, words + other.english, side + other.french, mood)


def compared_with(m: Maker, subject: NounPhrase) -> NounPhrase:
    if subject.noun is not None and not subject.noun.person:
        noun = m.rng.choice([noun for noun in BY_CLASS[subject.noun.kind] if not noun.mass] or [subject.noun])
        return m.pick([(definite, 2), (possessive, 1), (this_one, 1)])(m.rng, Core(m.rng, noun, False, 0))
    if m.chance(0.4):
        link = English(m.rng.choice(sorted(STRESSED)))
        text = "vous" if link.text == "you" and m.polite else STRESSED[link.text]
        return NounPhrase([link], [French(text, link, "stressed")])
    return person_phrase(m.rng)


@rule
def superlative(m: Maker, subject: NounPhrase, mood: Mood) -> Clause:
    """X is the biggest: X est le plus grand"""
    adjective = m.rng.choice([a for a in adjectives_for(subject) if a.english in COMPARED] or [a for a in ADJECTIVES if a.english == "big"])
    words = english("the " + COMPARED[adjective.english][:-1] + "st")
    first = French("les" if subject.plural else "la" if subject.gender == "f" else "le", words[0])
    return copula(subject, words, [first, French("plus", words[1]), French(adjective.form(subject.gender, subject.plural), words[1])], mood)


@rule
def somewhere(m: Maker, subject: NounPhrase, mood: Mood) -> Clause:
    """X is in the kitchen, at home, in Paris: X est dans la cuisine, à la maison, à Paris"""
    words, side = m.pick([(in_a_place, 5), (at_a_place, 2), (at_home, 1), (lambda maker: city_or_country(maker, "in"), 2)])(m)
    return copula(subject, words, side, mood)


@rule
def profession(m: Maker, subject: NounPhrase, mood: Mood) -> Clause:
    """he is a doctor: il est médecin, without an article"""
    both = {"teacher", "doctor", "engineer", "writer", "artist"}
    jobs = [noun for noun in BY_CLASS["j"] if noun.gender == subject.gender or noun.english in both]
    noun = m.rng.choice(jobs)
    if subject.plural:
        link = English(noun.english_plural)
        return copula(subject, [link], [French(noun.french_plural[0], link)], mood)
    link = English(noun.english)
    return copula(subject, [English(article(noun.english)), link], [French(noun.french[0], link)], mood)


def avoir_clause(subject: NounPhrase, words: list, side: list, mood: Mood) -> Clause:
    """English with to be, French with avoir."""
    made = copula(subject, words, side, mood)
    forms = {"present": AVOIR["present"], "past": AVOIR["past"], "future": AVOIR["future"]}[mood.tense]
    verb = made.french[len(subject.french) + (1 if mood.negation else 0)]
    verb.text = forms[subject.person]
    return made


@rule
def feeling(m: Maker, subject: NounPhrase, mood: Mood) -> Clause:
    """I am hungry: j'ai faim; afraid of X: peur de X"""
    link = English(m.rng.choice(sorted(WITH_AVOIR)))
    words, side = [link], french(WITH_AVOIR[link.text], link)
    if link.text in ("hungry", "thirsty", "hot", "cold", "afraid", "sleepy") and m.chance(0.25):
        degree = English("very")
        words, side = [degree, link], [French("très", degree)] + side
    elif link.text == "afraid" and m.chance(0.6):
        of, noun = English("of"), m.rng.choice(nouns_in("ap"))
        other = m.pick([(definite, 3), (this_one, 1), (possessive, 1)])(m.rng, Core(m.rng, noun, number_of(m.rng, noun, 0.3), 0.1))
        words, side = [link, of] + other.english, side + [French("de", of, "preposition")] + other.french
    if link.text == "lucky" and mood.negation:
        side = french("de chance", link)
    return avoir_clause(subject, words, side, mood)


@rule
def age(m: Maker, subject: NounPhrase, mood: Mood) -> Clause:
    """she is ten years old: elle a dix ans"""
    words = english(f"{m.rng.choice(sorted(NUMBERS))} years old")
    return avoir_clause(subject, words, [French(NUMBERS[words[0].text], words[0]), French("ans", words[1])], mood)


def state_clause(m: Maker, subject: NounPhrase, question: bool) -> Clause:
    kind = m.pick([(adjective_state, 10), (comparison, 2), (superlative, 0.7), (somewhere, 4), (profession, 2), (feeling, 3.5), (age, 1)])
    return kind(m, subject, mood_of(m, question))


def marked(m: Maker, made: Clause) -> Clause:
    mark = "?" if made.question else m.pick([(".", 55), ("", 40), ("!", 5)])
    if mark:
        link = English(mark)
        made.english, made.french = made.english + [link], made.french + [French(mark, link)]
    return made


@rule
def thing_is(m: Maker) -> Clause:
    """the car is red, it is not heavy: la voiture est rouge, il n'est pas lourd"""
    asks = m.chance(0.25)
    if m.chance(0.12):
        subject = subject_pronoun(m.rng, "it")
        made = adjective_state(m, subject, mood_of(m, asks))
    else:
        noun = choose_noun(m.rng, nouns_in("afdtbcvmlxs"))
        subject = m.pick([(definite, 4), (possessive, 3), (this_one, 2), (counted, 0)])(m.rng, Core(m.rng, noun, number_of(m.rng, noun), 0.1))
        kind = m.pick([(adjective_state, 8), (comparison, 1.5), (superlative, 0.5), (somewhere, 2.5 if noun.kind in "atbcvfd" else 0)])
        made = kind(m, subject, mood_of(m, asks))
    return marked(m, est_ce_que(made) if asks else made)


@rule
def there_is(m: Maker) -> Clause:
    """there is a dog in the garden: il y a un chien dans le jardin; there is no bread: il n'y a pas de pain"""
    noun = choose_noun(m.rng, nouns_in("pafdtbcvml"))
    core = Core(m.rng, noun, number_of(m.rng, noun, 0.5), 0.2)
    asks, denies = m.chance(0.2), m.chance(0.25)
    thing = (indefinite if not core.plural or m.chance(0.4) else m.rng.choice([counted, quantified, partitive]))(m.rng, core)
    if denies:
        thing = indefinite(m.rng, core)
    plural = core.plural and "little" not in [word.text for word in thing.english]
    past = m.chance(0.2)
    there, be = English("there"), English({(False, False): "is", (False, True): "are", (True, False): "was", (True, True): "were"}[past, plural])
    finite = French("avait" if past else "a", be)
    words, side = in_a_place(m) if m.chance(0.65) else ([], [])
    if denies:
        no = English("no")
        thing.french = [French("de", no)] + [word for word in thing.french if word.link is not thing.english[0]]
        thing.english = [no] + thing.english[1:]
        french_side = [French("il", there), French("ne", no), French("y", there), finite, French("pas", no)]
    else:
        french_side = [French("il", there), French("y", there), finite]
    made = Clause([there, be] + thing.english + words, french_side + thing.french + side, False, [be])
    if asks and not denies:
        made.english, made.question = [be, there] + thing.english + words, True
        made = est_ce_que(made)
    return marked(m, made)


@rule
def this_is(m: Maker) -> Clause:
    """it is a dog, this is my friend, these are my books: c'est un chien, c'est mon ami, ce sont mes livres"""
    noun = choose_noun(m.rng, nouns_in("pafdtbcvmlnx"))
    plural = number_of(m.rng, noun, 0.2)
    words = english(m.rng.choice(["these are"] if plural else ["it is", "it 's", "this is", "that is", "that 's"]))
    core = Core(m.rng, noun, plural, 0.35)
    thing = m.pick([(indefinite, 4), (possessive, 4), (definite, 2)])(m.rng, core)
    if m.chance(0.15) and not plural:
        thing = person_phrase(m.rng)
        while thing.plural:
            thing = person_phrase(m.rng)
    denies, asks = m.chance(0.2), m.chance(0.2) and words[1].text == "is"
    negation = [English("not")] if denies and not asks else []
    verb = French("sont" if plural else "est", words[1])
    if negation:
        side = [French("ce", words[0]), French("ne", negation[0]), verb, French("pas", negation[0])]
    else:
        side = [French("ce", words[0]) if plural else French("c'", words[0]), verb]
    if asks:
        made = Clause([words[1], words[0]] + thing.english, side + thing.french, True, [words[1]])
        return marked(m, est_ce_que(made))
    return marked(m, Clause(words + negation + thing.english, side + thing.french))


@rule
def it_rains(m: Maker) -> Clause:
    """it rains, it will snow, it rained: il pleut, il va neiger, il a plu"""
    kind = m.rng.choice(["rain", "snow"])
    forms = {"rain": ("pleut", "pleuvoir", "plu"), "snow": ("neige", "neiger", "neigé")}[kind]
    it, when = English("it"), m.rng.choice(["now", "future", "past"])
    if when == "future":
        will, word = English(m.rng.choice(["will", "'ll"])), English(kind)
        return marked(m, Clause([it, will, word], [French("il", it), French("va", will), French(forms[1], word)]))
    word = English(kind + ("ed" if when == "past" else "s"))
    side = [French("il", it), French("a", word), French(forms[2], word)] if when == "past" else [French("il", it), French(forms[0], word)]
    return marked(m, Clause([it, word], side))


HURTING = {"head": "tête", "leg": "jambe", "arm": "bras", "hand": "main", "foot": "pied", "nose": "nez", "eyes": "yeux", "feet": "pieds",
           "legs": "jambes", "teeth": "dents", "ears": "oreilles", "fingers": "doigts", "arms": "bras"}


@rule
def hurting(m: Maker) -> Clause:
    """my head hurts: j'ai mal à la tête; her eyes hurt: elle a mal aux yeux"""
    owner, body = English(m.rng.choice(["my", "my", "your", "his", "her", "our"])), English(m.rng.choice(sorted(HURTING)))
    plural = body.text.endswith("s") or body.text in ("feet", "teeth")
    text, person = {"my": ("je", 0), "your": ("tu", 1), "his": ("il", 2), "her": ("elle", 2), "our": ("nous", 3)}[owner.text]
    hurts = English("hurt" if plural else "hurts")
    le = "les" if plural else "le" if body.text in ("arm", "foot", "nose") else "la"
    side = [French(text, owner), French(AVOIR["present"][person], hurts), French("mal", hurts), French("à", body, "preposition"),
            French(le, body, "article"), French(HURTING[body.text], body)]
    return marked(m, Clause([owner, body, hurts], side))


WEATHER = {"cold": "froid", "hot": "chaud", "sunny": "soleil", "windy": "du vent", "nice": "beau"}


@rule
def weather(m: Maker) -> Clause:
    """it is cold, it is raining: il fait froid, il pleut"""
    it, mood = English("it"), mood_of(m, m.chance(0.2))
    subject = NounPhrase([it], [French("il", it)], pronoun="it")
    if m.chance(0.35):
        words, falls = m.rng.choice([("raining", "pleut"), ("snowing", "neige")])
        link, mood.tense = English(words), "present"
        made = copula(subject, [link], [], mood)
        verb = next(word for word in made.french if word.text == "est")
        verb.text, verb.link = falls, link
    else:
        link = English(m.rng.choice(sorted(WEATHER)))
        made = copula(subject, [link], french(WEATHER[link.text], link), mood)
        verb = made.french[2 if mood.negation else 1]
        verb.text = {"present": "fait", "past": "faisait", "future": "fera"}[mood.tense]
        if link.text == "windy" and mood.negation:
            next(word for word in made.french if word.text == "du").text = "de"
        if m.chance(0.3) and mood.tense != "future":
            word, text = m.rng.choice([("today", "aujourd' hui"), ("here", "ici"), ("outside", "dehors")])
            place = English(word)
            made.english, made.french = made.english + [place], made.french + french(text, place)
    return marked(m, est_ce_que(made) if mood.question else made)


@rule
def hour(m: Maker) -> Clause:
    """it is three o'clock: il est trois heures; half past three; noon and midnight"""
    it, be = english(m.rng.choice(["it is", "it 's", "it was"]))
    verb = French("était" if be.text == "was" else "est", be)
    kind = m.pick([("o'clock", 5), ("half", 3), ("noon", 1)])
    if kind == "noon":
        link = English(m.rng.choice(["noon", "midnight"]))
        return marked(m, Clause([it, be, link], [French("il", it), verb, French({"noon": "midi", "midnight": "minuit"}[link.text], link)]))
    number = m.rng.choice(sorted(HOURS))
    hours = "heure" if number == "one" else "heures"
    if kind == "half":
        words = english(f"half past {number}")
        side = [French(HOURS[number], words[2]), French(hours, words[2]), French("et", words[1]), French("demie", words[0])]
    else:
        words = english(f"{number} o 'clock")
        side = [French(HOURS[number], words[0]), French(hours, words[2])]
    return marked(m, Clause([it, be] + words, [French("il", it), verb] + side))


SENTENCES = [(it_rains, 0.4), (hurting, 0.8), (thing_is, 6), (there_is, 3.5), (this_is, 3.5), (weather, 0.8), (hour, 0.5)]
