"""Rules for whole sentences, and the mixture that they are drawn from.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import random

import states
from clauses import WOULD_LIKE, Clause, Mood, copula, est_ce_que, imperative, imperative_negated, let_us, simple_clause
from lexicon import AVOIR, VERBS
from noun_phrases import (BY_CLASS, PRONOUNS, STRESSED, Core, English, French, NounPhrase, another, container, counted, definite, english, french,
                          indefinite, nouns_in, number_of, person_phrase, possessive, proper_name, rule, subject_phrase, subject_pronoun,
                          this_one)
from text import spell_french
from verb_phrases import (NARROW, PLAIN, Maker, VerbPhrase, add, direct_pronoun, objects_of, other_than, random_mood, suits, time_phrase,
                          verb_phrase)

ADDRESSES = {"sir": ("monsieur", "m"), "madam": ("madame", "f"), "my friends": ("mes amis", "p")}


@dataclasses.dataclass
class Pair:
    english: list[str]
    french: list[str]
    links: list[int]  # for each French word the place of its English word
    pairs: frozenset
    rule: str


def clause(m: Maker, question=False, plain=False, extras=0.35, subject=None) -> Clause:
    subject = subject or subject_phrase(m.rng, bool(m.polite))
    if m.chance(0.2):
        return states.state_clause(m, subject, question)
    mood = random_mood(m, subject, question, plain)
    return simple_clause(subject, verb_phrase(m, mood, subject, extras), mood)


def end(made: Clause, mark: str) -> Clause:
    if mark:
        link = English(mark)
        made.english, made.french = made.english + [link], made.french + [French(mark, link)]
    return made


def statement_mark(m: Maker) -> str:
    return m.pick([(".", 55), ("", 40), ("!", 5)])


@rule
def statement(m: Maker) -> Clause:
    """S V O."""
    return end(clause(m), statement_mark(m))


@rule
def question(m: Maker) -> Clause:
    """do you V?: est-ce que tu V ?"""
    return end(est_ce_que(clause(m, question=True)), m.pick([("?", 9), ("", 1)]))


@rule
def intonation(m: Maker) -> Clause:
    """you V?: tu V ?"""
    return end(clause(m, plain=True), "?")


@rule
def addressed(m: Maker) -> Clause:
    """do you V, sir?: est-ce que vous V, monsieur ?"""
    name = m.rng.choice(sorted(ADDRESSES))
    m.polite = ADDRESSES[name][1]
    subject = subject_pronoun(m.rng, "you", True) if m.chance(0.7) else subject_phrase(m.rng, True)
    if subject.pronoun == "you":
        subject.gender, subject.plural = {"m": ("m", False), "f": ("f", False), "p": ("m", True)}[m.polite]
    asks = m.chance(0.5)
    made = clause(m, question=asks, subject=subject)
    made = est_ce_que(made) if asks else made
    comma, words = English(","), english(name)
    side = [French(text, words[min(index, len(words) - 1)]) for index, text in enumerate(ADDRESSES[name][0].split())]
    made.english, made.french = made.english + [comma] + words, made.french + [French(",", comma)] + side
    return end(made, "?" if asks else m.pick([(".", 3), ("", 1)]))


@rule
def called_by_name(m: Maker) -> Clause:
    """Mary, do you V?: Marie, est-ce que tu V ?"""
    name, comma = proper_name(m.rng), English(",")
    asks = m.chance(0.6)
    made = clause(m, question=asks)
    made = est_ce_que(made) if asks else made
    if m.chance(0.5):
        made.english, made.french = name.english + [comma] + made.english, name.french + [French(",", comma)] + made.french
    else:
        made.english, made.french = made.english + [comma] + name.english, made.french + [French(",", comma)] + name.french
    return end(made, "?" if asks else m.pick([(".", 3), ("", 1)]))


QUESTION_WORDS = {"where": "où", "when": "quand", "why": "pourquoi", "how": "comment"}


@rule
def where_when_why(m: Maker) -> Clause:
    """where do you V?: où est-ce que tu V ?"""
    word = English(m.rng.choice(sorted(QUESTION_WORDS)))
    subject = subject_phrase(m.rng)
    mood = random_mood(m, subject, True, plain=word.text != "why")
    made = est_ce_que(simple_clause(subject, verb_phrase(m, mood, subject, 0), mood))
    made.english, made.french = [word] + made.english, [French(QUESTION_WORDS[word.text], word)] + made.french
    return end(made, m.pick([("?", 9), ("", 1)]))


def without_object(m: Maker, subject: NounPhrase, mood: Mood, classes: str) -> VerbPhrase:
    fitting = [verb for verb in PLAIN if set(verb.objects) & set(classes) and suits(verb, mood, subject) and verb.key != "have"]
    return VerbPhrase(m.rng.choice(fitting))


def open_question(m: Maker, classes: str):
    subject = subject_phrase(m.rng)
    mood = random_mood(m, subject, True)
    mood.negation = ""
    phrase = without_object(m, subject, mood, classes)
    if m.chance(0.2):
        add(phrase, time_phrase(m, mood))
    return simple_clause(subject, phrase, mood)


@rule
def what(m: Maker) -> Clause:
    """what do you V?: qu'est-ce que tu V ?"""
    word, made = English("what"), open_question(m, "fdtb")
    link = made.front[0]
    made.english = [word] + made.english
    made.french = [French("qu'", word), French("est-ce", link), French("que", link)] + made.french
    return end(made, m.pick([("?", 9), ("", 1)]))


@rule
def whom(m: Maker) -> Clause:
    """who do you V?: qui est-ce que tu V ?"""
    word, made = English("who"), est_ce_que(open_question(m, "p"))
    made.english, made.french = [word] + made.english, [French("qui", word)] + made.french
    return end(made, "?")


@rule
def who(m: Maker) -> Clause:
    """who eats the apple?: qui mange la pomme ?"""
    word = English("who")
    subject = NounPhrase([word], [French("qui", word)])
    mood = random_mood(m, subject, plain=True)
    return end(simple_clause(subject, verb_phrase(m, mood, subject), mood), "?")


@rule
def which(m: Maker) -> Clause:
    """which book do you V?: quel livre est-ce que tu V ?"""
    subject = subject_phrase(m.rng)
    mood = random_mood(m, subject, True)
    mood.negation = ""
    phrase = without_object(m, subject, mood, "fdtbc")
    noun = m.rng.choice([noun for noun in objects_of(phrase.verb) if noun.kind in "fdtbcxs"] or BY_CLASS["t"])
    m.pairs.append((phrase.verb.key, noun.english))
    core = Core(m.rng, noun, number_of(m.rng, noun), 0.2)
    word, many = English("which"), core.plural and m.chance(0.5)
    if many:
        words = english("how many")
        asked = words + core.english
        side = [French("combien", words[0]), French("de", words[1])] + core.french
    else:
        asked = [word] + core.english
        side = [French(("quelle" if noun.gender == "f" else "quel") + ("s" if core.plural else ""), word)] + core.french
    if mood.tense == "past":
        phrase.agreement = (noun.gender, core.plural)
    made = est_ce_que(simple_clause(subject, phrase, mood))
    made.english, made.french = asked + made.english, side + made.french
    return end(made, "?")


@rule
def where_is(m: Maker) -> Clause:
    """where is X?: où est X ?; who is X?: qui est X ?"""
    word = English(m.rng.choice(["where", "where", "who"]))
    noun = m.rng.choice(nouns_in("ptcvla" if word.text == "where" else "p"))
    subject = m.pick([(definite, 3), (possessive, 3), (this_one, 1)])(m.rng, Core(m.rng, noun, number_of(m.rng, noun), 0.2))
    if word.text == "where" and m.chance(0.35):
        subject = m.rng.choice([proper_name, subject_pronoun])(m.rng)
    made = copula(subject, [], [], Mood("past" if m.chance(0.15) else "present", question=True))
    front = made.front[0]
    made.english = [word, front] + subject.english
    verb, rest = [w for w in made.french if w not in subject.french], subject.french
    ask = [French({"where": "où", "who": "qui"}[word.text], word)]
    if subject.pronoun:
        made.french = ask + [French("est-ce", front), French("que", front)] + rest + verb
    else:
        made.french = ask + verb + rest
    return end(made, m.pick([("?", 9), ("", 1)]))


@rule
def command(m: Maker) -> Clause:
    """eat the apple!, do not eat it!, let's eat!, please eat: mange ..., s'il te plaît"""
    kind = m.pick([("do", 5), ("do not", 2.5), ("let us", 2)])
    mood = Mood("imperative", "not" if kind == "do not" else "")
    subject = subject_pronoun(m.rng, "we" if kind == "let us" else "you")
    phrase = verb_phrase(m, mood, subject, 0.25)
    while phrase.verb.key in ("come", "have", "fall", "live", "receive", "lose", "find") or "self" in phrase.verb.flags:
        phrase = verb_phrase(m, mood, subject, 0.25)
    formal = kind != "let us" and m.chance(0.15)
    m_person = 4 if formal else 1
    if kind == "do":
        made = imperative(phrase, m_person)
    elif kind == "do not":
        made = imperative_negated(phrase, m.rng.choice(["not", "n't"]), m_person)
    else:
        made = let_us(phrase)
    words = english("please" + (" , sir" if formal else ""))
    if formal:
        comma = English(",")
        made.english += [comma] + words
        made.french += [French(",", comma)] + french("s' il vous plaît", words[0]) + [French(",", words[1]), French("monsieur", words[2])]
    elif kind != "let us" and m.chance(0.3):
        comma = English(",")
        if m.chance(0.5):
            made.english = words + made.english
            made.french += [French(",", words[0])] + french("s' il te plaît", words[0])
        else:
            made.english += [comma] + words
            made.french += [French(",", comma)] + french("s' il te plaît", words[0])
    return end(made, m.pick([("!", 4), (".", 4), ("", 3)]))


CONJUNCTIONS = {"and": ["et"], "but": ["mais"], "because": ["parce", "que"], "when": ["quand"], "so": ["donc"], "or": ["ou"],
                "while": ["pendant", "que"]}


@rule
def two_clauses(m: Maker) -> Clause:
    """S and S, S because S, S when S"""
    link = English(m.pick([("and", 4), ("but", 4), ("because", 4), ("when", 2), ("so", 1.5), ("or", 1), ("while", 1)]))
    extras = 0.1
    first, second = clause(m, extras=extras), clause(m, extras=extras)
    side = [French(text, link) for text in CONJUNCTIONS[link.text]]
    made = Clause(first.english + [link] + second.english, first.french + side + second.french)
    return end(made, statement_mark(m))


@rule
def if_and_when(m: Maker) -> Clause:
    """if S, S; when S, S: si S, S"""
    word = m.rng.choice(["if", "when"])
    link, comma = English(word), English(",")
    subject = subject_phrase(m.rng)
    mood = Mood("present", m.pick([("", 3), ("not", 1)]))
    first = simple_clause(subject, verb_phrase(m, mood, subject, 0.1), mood)
    other = subject_phrase(m.rng)
    later = Mood(m.rng.choice(["present", "future", "going", "can", "must", "want"]), m.pick([("", 3), ("not", 1)]), contracted=m.chance(0.5))
    second = simple_clause(other, verb_phrase(m, later, other, 0.1), later)
    made = Clause([link] + first.english + [comma] + second.english,
                  [French({"if": "si", "when": "quand"}[word], link)] + first.french + [French(",", comma)] + second.french)
    return end(made, statement_mark(m))


REPORTS = {"think": "pense penses pense pensons pensez pensent", "know": "sais sais sait savons savez savent",
           "hope": "espère espères espère espérons espérez espèrent", "believe": "crois crois croit croyons croyez croient",
           "say": "dis dis dit disons dites disent"}


@rule
def report(m: Maker) -> Clause:
    """I think that S, she knows S: je pense que S"""
    subject, word = subject_phrase(m.rng), m.rng.choice(sorted(REPORTS))
    verb = English(word if subject.person != 2 else word + "s")
    that = [English("that")] if m.chance(0.6) else []
    second = clause(m, extras=0.1)
    link = that[0] if that else verb
    made = Clause(subject.english + [verb] + that + second.english,
                  subject.french + [French(REPORTS[word].split()[subject.person], verb), French("que", link)] + second.french)
    return end(made, statement_mark(m))


@rule
def antecedent(m: Maker) -> Clause:
    """I buy the pie and I eat it: j'achète la tarte et je la mange; the pronoun takes the noun's gender"""
    noun = m.rng.choice(nouns_in("fdtbcv"))
    verbs = [verb for verb in PLAIN if noun.kind in verb.objects and verb.key not in NARROW and verb.key not in ("have", "want")]
    subject, link = subject_phrase(m.rng), English(m.rng.choice(["and", "and", "but"]))
    core = Core(m.rng, noun, number_of(m.rng, noun, 0.35), 0.15)
    thing = m.pick([(definite, 3), (indefinite, 2), (possessive, 1)])(m.rng, core)
    mood = Mood(m.rng.choice(["present", "past", "past"]))
    fitting = [verb for verb in verbs if suits(verb, mood, subject)]
    first, second = m.rng.choice(fitting), m.rng.choice(fitting)
    m.pairs += [(first.key, noun.english)]
    opening = simple_clause(subject, VerbPhrase(first, list(thing.english), french=list(thing.french)), mood)
    again = subject_pronoun(m.rng, subject.pronoun) if subject.pronoun else subject_phrase(m.rng)
    later = Mood(mood.tense, m.pick([("", 3), ("not", 1), ("n't", 1)]))
    phrase = VerbPhrase(second)
    direct_pronoun(m, phrase, "them" if core.plural else "it", noun.gender, core.plural)
    closing = simple_clause(again, phrase, later)
    made = Clause(opening.english + [link] + closing.english, opening.french + [French(CONJUNCTIONS[link.text][0], link)] + closing.french)
    return end(made, statement_mark(m))


@rule
def antecedent_subject(m: Maker) -> Clause:
    """I have a car and it is red: j'ai une voiture et elle est rouge"""
    noun = m.rng.choice([noun for noun in nouns_in("tbcvlm") if not noun.mass])
    core = Core(m.rng, noun, False, 0)
    subject, it, link = subject_phrase(m.rng), English("it"), English(m.rng.choice(["and", "but"]))
    thing = m.pick([(indefinite, 2), (definite, 1)])(m.rng, core)
    opening = simple_clause(subject, VerbPhrase(m.rng.choice([verb for verb in PLAIN if verb.key in ("have", "see", "buy", "find", "love")]),
                                                list(thing.english), french=list(thing.french)), Mood("present"))
    pronoun = NounPhrase([it], [French("elle" if noun.gender == "f" else "il", it)], noun.gender, pronoun="it", noun=noun)
    closing = states.adjective_state(m, pronoun, Mood("present", m.pick([("", 3), ("not", 1)])))
    made = Clause(opening.english + [link] + closing.english, opening.french + [French(CONJUNCTIONS[link.text][0], link)] + closing.french)
    return end(made, statement_mark(m))


@rule
def who_clause(m: Maker) -> Clause:
    """I know the man who V: je connais l'homme qui V; the man who V is happy"""
    noun, word = m.rng.choice(nouns_in("p")), English("who")
    person = definite(m.rng, Core(m.rng, noun, False, 0.15))
    inner_subject = NounPhrase([word], [French("qui", word)], person.gender, person.plural)
    mood = random_mood(m, inner_subject, plain=True)
    inner = simple_clause(inner_subject, verb_phrase(m, mood, inner_subject, 0.1), mood)
    return end(around(m, person, inner, "see know love hear look_for call hate invite".split()), statement_mark(m))


@rule
def that_clause(m: Maker) -> Clause:
    """the book that I V: le livre que je V; the participle agrees with it"""
    mood = Mood(m.rng.choice(["present", "past", "past", "progressive"]))
    inner_subject = subject_phrase(m.rng)
    phrase = without_object(m, inner_subject, mood, "fdtbcv")
    noun = m.rng.choice([noun for noun in objects_of(phrase.verb) if noun.kind in "fdtbcv"] or BY_CLASS["t"])
    m.pairs.append((phrase.verb.key, noun.english))
    core = Core(m.rng, noun, number_of(m.rng, noun), 0)
    thing, that = definite(m.rng, core), English("that")
    phrase.agreement = (noun.gender, core.plural)
    inner = simple_clause(inner_subject, phrase, mood)
    inner.english, inner.french = [that] + inner.english, [French("que", that)] + inner.french
    return end(around(m, thing, inner, [verb.key for verb in PLAIN if noun.kind in verb.objects and verb.key not in NARROW]), statement_mark(m))


def around(m: Maker, phrase: NounPhrase, inner: Clause, verbs: list) -> Clause:
    """The noun phrase with its relative clause, as an object or as a subject."""
    phrase.english, phrase.french = phrase.english + inner.english, phrase.french + inner.french
    if m.chance(0.5):
        return states.adjective_state(m, phrase, Mood("present", m.pick([("", 4), ("not", 1)])))
    subject = subject_phrase(m.rng)
    mood = Mood("present")
    usable = [verb for verb in PLAIN if verb.key in verbs and suits(verb, mood, subject)]
    return simple_clause(subject, VerbPhrase(m.rng.choice(usable), phrase.english, french=phrase.french), mood)


@rule
def time_first(m: Maker) -> Clause:
    """tomorrow I V: demain je V"""
    subject = subject_phrase(m.rng)
    mood = random_mood(m, subject)
    words, side = time_phrase(m, mood)
    made = simple_clause(subject, verb_phrase(m, mood, subject, 0), mood)
    if m.chance(0.3):
        comma = English(",")
        words, side = words + [comma], side + [French(",", comma)]
    return end(Clause(words + made.english, side + made.french), statement_mark(m))


NOTHING = {"nothing": "rien", "nobody": "personne", "anything": "rien", "anybody": "personne"}


@rule
def nothing_and_nobody(m: Maker) -> Clause:
    """I see nothing, I do not see anybody: je ne vois rien, je ne vois personne"""
    subject = subject_phrase(m.rng)
    word = English(m.rng.choice(sorted(NOTHING)))
    negation = m.rng.choice(["not", "n't"]) if word.text.startswith("any") else ""
    mood = Mood(m.rng.choice(["present", "present", "past", "can"]), negation)
    phrase = without_object(m, subject, mood, "p" if word.text.endswith("body") else "fdtb")
    phrase.english.append(word)
    made = simple_clause(subject, phrase, Mood(mood.tense, "never" if not negation else negation))
    # The negation above placed "ne" and its second half; here the second half is the object itself.
    if not negation:
        made.english = [w for w in made.english if w.text != "never"]
    half = next(w for w in made.french if w.text in ("pas", "jamais"))
    next(w for w in made.french if w.text == "ne").link = word
    half.text, half.link = NOTHING[word.text], word
    if half.text == "personne" and mood.tense != "present":
        made.french = [w for w in made.french if w is not half] + [half]
    return end(made, statement_mark(m))


@rule
def nobody_does(m: Maker) -> Clause:
    """nobody eats the pie: personne ne mange la tarte; everybody: tout le monde"""
    if m.chance(0.4):
        word = English("everybody")
        subject = NounPhrase([word], french("tout le monde", word))
    else:
        word = English("nobody")
        subject = NounPhrase([word], [French("personne", word), French("ne", word)])
    mood = Mood(m.rng.choice(["present", "past", "progressive"]))
    made = simple_clause(subject, verb_phrase(m, mood, subject, 0.2), mood)
    return end(made, statement_mark(m))


@rule
def no_longer(m: Maker) -> Clause:
    """he does not V anymore: il ne V plus"""
    subject = subject_phrase(m.rng)
    mood = Mood("present", m.rng.choice(["not", "n't"]))
    made = simple_clause(subject, verb_phrase(m, mood, subject, 0), mood)
    anymore = English("anymore")
    made.english.append(anymore)
    pas = next(w for w in made.french if w.text == "pas")
    pas.text, pas.link = "plus", anymore
    return end(made, statement_mark(m))


@rule
def only(m: Maker) -> Clause:
    """I only eat apples: je ne mange que des pommes"""
    subject = subject_phrase(m.rng)
    mood, word = Mood("present"), English("only")
    phrase = without_object(m, subject, mood, "fdcb")
    noun = m.rng.choice([noun for noun in objects_of(phrase.verb) if noun.kind in "fdcb"] or BY_CLASS["f"])
    m.pairs.append((phrase.verb.key, noun.english))
    thing = m.rng.choice([indefinite, definite])(m.rng, Core(m.rng, noun, number_of(m.rng, noun), 0.2))
    verb = made_verb = simple_clause(subject, phrase, mood)
    finite = verb.french[-1]
    made_verb.english = subject.english + [word, verb.english[-1 - len(phrase.verb.particle)]] + english(" ".join(phrase.verb.particle)) + thing.english
    made_verb.french = subject.french + [French("ne", word), finite, French("que", word)] + thing.french
    return end(made_verb, statement_mark(m))


@rule
def missing(m: Maker) -> Clause:
    """I miss you: tu me manques; the one who is missed is the French subject"""
    who, word, missed = subject_phrase(m.rng), English("miss"), m.chance(0.6)
    word.text += "es" if who.person == 2 else ""
    if missed:
        link = English(m.rng.choice([w for w in STRESSED if w not in other_than(who)]))
        subject = {"me": "i", "you": "you", "him": "he", "her": "she", "us": "we", "them": "they"}[link.text]
        target = NounPhrase([link], [French(PRONOUNS[subject][0], link)], person=PRONOUNS[subject][1])
    else:
        target = person_phrase(m.rng, 0.1)
    verb = French("manque manques manque manquons manquez manquent".split()[target.person], word)
    if who.pronoun:
        by = {"i": "me", "you": "te", "he": "lui", "she": "lui", "we": "nous", "they": "leur"}[who.pronoun]
        side = target.french + [French(by, who.english[0]), verb]
    else:
        side = target.french + [verb, French("à", who.english[-1] if not who.noun else who.english[0], "preposition")] + who.french
    return end(Clause(who.english + [word] + target.english, side), statement_mark(m))


@rule
def called(m: Maker) -> Clause:
    """my name is Mary: je m'appelle Marie"""
    word, name_word, be = english(m.rng.choice(["my name is", "his name is", "her name is", "your name is"]))
    text, person = {"my": ("je", 0), "his": ("il", 2), "her": ("elle", 2), "your": ("tu", 1)}[word.text]
    name = proper_name(m.rng)
    while {"his": "m", "her": "f"}.get(word.text, name.gender) != name.gender:
        name = proper_name(m.rng)
    self_word = French(["me", "te", "se"][person], name_word)
    side = [French(text, word), self_word, French(VERBS["call"].present[person], name_word)] + name.french
    return end(Clause([word, name_word, be] + name.english, side), statement_mark(m))


@rule
def price(m: Maker) -> Clause:
    """how much is the X?: combien coûte le X ?"""
    how, much, be = english("how much is")
    noun = m.rng.choice(nouns_in("ftbcvm"))
    core = Core(m.rng, noun, number_of(m.rng, noun, 0.3), 0.2)
    be.text = "are" if core.plural else "is"
    thing = m.pick([(definite, 3), (this_one, 3)])(m.rng, core)
    side = [French("combien", much), French("coûtent" if core.plural else "coûte", be)] + thing.french
    return end(Clause([how, much, be] + thing.english, side), m.pick([("?", 9), ("", 1)]))


@rule
def wish(m: Maker) -> Clause:
    """I would like some bread: je voudrais du pain; I need the key: j'ai besoin de la clé"""
    subject = subject_phrase(m.rng, bool(m.polite))
    noun = m.rng.choice(nouns_in("fdtbc"))
    core = Core(m.rng, noun, number_of(m.rng, noun, 0.3), 0.2)
    if m.chance(0.5):
        would, like = english(m.rng.choice(["would", "would", "'d"] if subject.pronoun else ["would"]) + " like")
        thing = m.pick([(indefinite, 4), (container, 2), (definite, 1), (counted, 1), (another, 1)])
        thing = thing(m.rng) if thing is container else thing(m.rng, core if thing is not counted or not noun.mass else Core(m.rng, BY_CLASS["t"][0], True, 0))
        m.pairs.append(("would_like", noun.english))
        made = Clause(subject.english + [would, like] + thing.english, subject.french + [French(WOULD_LIKE[subject.person], like)] + thing.french)
        if m.chance(0.3):
            comma, please = english(", please")
            made.english, made.french = made.english + [comma, please], made.french + [French(",", comma)] + french("s' il te plaît", please)
        return end(made, statement_mark(m))
    need = English("needs" if subject.person == 2 else "need")
    core = core if not core.plural else Core(m.rng, noun, False, 0)
    thing = m.pick([(definite, 3), (possessive, 3), (indefinite, 3 if not noun.mass else 0), (this_one, 1)])(m.rng, core)
    m.pairs.append(("need", noun.english))
    side = [French(AVOIR["present"][subject.person], need), French("besoin", need), French("de", need, "preposition")]
    return end(Clause(subject.english + [need] + thing.english, subject.french + side + thing.french), statement_mark(m))


@rule
def please_question(m: Maker) -> Clause:
    """can you V, please?: est-ce que tu peux V, s'il te plaît ?"""
    subject = subject_pronoun(m.rng, m.rng.choice(["you", "you", "i", "we"]))
    mood = Mood(m.rng.choice(["can", "can", "could"]), question=True)
    made = est_ce_que(simple_clause(subject, verb_phrase(m, mood, subject, 0.1), mood))
    comma, please = english(", please")
    made.english, made.french = made.english + [comma, please], made.french + [French(",", comma)] + french("s' il te plaît", please)
    return end(made, "?")


STATEMENTS = [(missing, 0.8), (called, 0.5), (price, 0.7), (wish, 3), (please_question, 1), (statement, 36), (question, 11), (intonation, 1), (addressed, 4.5), (called_by_name, 2.5), (where_when_why, 3), (what, 2.2), (whom, 0.7),
              (who, 1.5), (which, 1.5), (where_is, 1.5), (command, 6), (two_clauses, 6), (if_and_when, 2), (report, 3.5), (antecedent, 4),
              (antecedent_subject, 1.2), (who_clause, 2), (that_clause, 3), (time_first, 1.8), (nothing_and_nobody, 1.5), (nobody_does, 1),
              (no_longer, 0.8), (only, 0.8)] + states.SENTENCES


def finish(made: Clause, m: Maker, name: str) -> Pair:
    words = spell_french(made.french)
    places = {id(word): index for index, word in enumerate(made.english)}
    return Pair([word.text for word in made.english], [word.text for word in words], [places[id(word.link)] for word in words],
                frozenset(m.pairs), name)


def sentence(rng: random.Random, longest: int = 14) -> Pair:
    while True:
        m = Maker(rng)
        make = m.pick(STATEMENTS)
        pair = finish(make(m), m, make.__name__)
        if len(pair.english) <= longest:
            return pair


def long_sentence(rng: random.Random, shortest: int) -> Pair:
    """Two or three clauses joined, longer than any that sentence() makes."""
    while True:
        m = Maker(rng)
        made = two_clauses(m) if m.chance(0.5) else report(m)
        link = English(m.rng.choice(["and", "but", "because"]))
        made.english = [word for word in made.english if word.text not in ".!"]
        made.french = [word for word in made.french if word.text not in ".!"]
        last = clause(m)
        made = Clause(made.english + [link] + last.english, made.french + [French(text, link) for text in CONJUNCTIONS[link.text]] + last.french)
        pair = finish(end(made, "."), m, "long")
        if shortest <= len(pair.english) <= shortest + 8:
            return pair
