"""Rules for clauses: tenses, negation, questions, pronouns that move before the verb, agreement of participles.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses

from lexicon import ALLER, AVOIR, ETRE, VERBS, Verb
from noun_phrases import English, French, NounPhrase, english, french, rule

CLITIC_ORDER = ["me", "te", "se", "nous", "vous", "le", "la", "les", "lui", "leur", "y", "en"]
REFLEXIVE = ["me", "te", "se", "nous", "vous", "se"]
MODALS = {  # English: the "do" that it needs, third person or past, words before the verb, French forms, words before the infinitive
    "can": ("", "can", "", "peux peux peut pouvons pouvez peuvent", ""),
    "must": ("", "must", "", "dois dois doit devons devez doivent", ""),
    "want": ("do", "wants", "to", "veux veux veut voulons voulez veulent", ""),
    "need": ("do", "needs", "to", "ai as a avons avez ont", "besoin de"),
    "hope": ("do", "hopes", "to", "espère espères espère espérons espérez espèrent", ""),
    "like": ("do", "likes", "to", "aime aimes aime aimons aimez aiment", ""),
    "know": ("do", "knows", "how to", "sais sais sait savons savez savent", ""),
    "try": ("do", "tries", "to", "essaie essaies essaie essayons essayez essaient", "de"),
    "have": ("do", "has", "to", "dois dois doit devons devez doivent", ""),
    "start": ("do", "starts", "to", "commence commences commence commençons commencez commencent", "à"),
    "could": ("", "could", "", "pouvais pouvais pouvait pouvions pouviez pouvaient", ""),
    "should": ("", "should", "", "devrais devrais devrait devrions devriez devraient", ""),
    "want/past": ("did", "wanted", "to", "voulais voulais voulait voulions vouliez voulaient", "")}
WOULD_LIKE = "voudrais voudrais voudrait voudrions voudriez voudraient".split()
NEGATIONS = {"not": "pas", "never": "jamais"}
BE = {"present": ["am", "are", "is", "are", "are", "are"], "past": ["was", "were", "was", "were", "were", "were"]}
MIDDLE = {"always": "toujours", "often": "souvent", "sometimes": "parfois", "already": "déjà", "really": "vraiment"}


@dataclasses.dataclass
class VerbPhrase:
    """What follows the subject: English words after the verb, French ones after it, and the pronouns that go before it."""
    verb: Verb
    english: list = dataclasses.field(default_factory=list)
    clitics: list = dataclasses.field(default_factory=list)  # French words
    french: list = dataclasses.field(default_factory=list)
    agreement: tuple | None = None  # gender and plural of an object that stands before the participle
    after_finite: list = dataclasses.field(default_factory=list)  # (English, French) adverbs: at the end in English, after the verb in French
    middle: str = ""  # an adverb before the English verb, after the French one


@dataclasses.dataclass
class Mood:
    tense: str = "present"  # present, progressive, past, future, going, a modal, would like
    negation: str = ""  # not, n't, never
    question: bool = False
    contracted: bool = False  # 'm, 're, 'll


@dataclasses.dataclass
class Clause:
    english: list
    french: list
    question: bool = False
    front: list = dataclasses.field(default_factory=list)  # the English auxiliary, for the link of est-ce que


def third(subject: NounPhrase) -> bool:
    return subject.person == 2


def be_form(subject: NounPhrase, tense: str) -> str:
    return "are" if subject.pronoun == "you" and tense == "present" else BE[tense][subject.person]


def contract(word: str) -> str:
    return {"am": "'m", "are": "'re", "is": "'s", "will": "'ll", "have": "'ve", "has": "'s", "would": "'d"}.get(word, word)


def negate(auxiliary: English, negation: str) -> list[English]:
    """do not, do n't; can n't and will n't are spelled ca n't and wo n't."""
    if not negation:
        return []
    if negation == "n't":
        auxiliary.text = {"can": "ca", "will": "wo"}.get(auxiliary.text, auxiliary.text)
    return [English(negation)]


class Assembly:
    """English and French sides of one clause while its tense is built."""

    def __init__(self, subject: NounPhrase, phrase: VerbPhrase, mood: Mood):
        self.subject, self.phrase, self.mood = subject, phrase, mood
        self.main = English("")
        self.auxiliary: English | None = None
        self.between: list[English] = []  # English words between auxiliary and main verb
        self.rest: list[French] = []  # French infinitive or participle with what belongs before it
        self.finite: French | None = None

    def with_do(self, third_form: str, base: str, past: bool = False):
        """The English verb stands alone, or with do in questions and negations."""
        verb = self.main
        if self.mood.question or self.mood.negation in ("not", "n't"):
            self.auxiliary = English("did" if past else "does" if third(self.subject) else "do")
            verb.text = base
        else:
            verb.text = third_form if third(self.subject) or past else base


def clitics_of(assembly: Assembly) -> list[French]:
    words = assembly.phrase.clitics
    if "self" in assembly.phrase.verb.flags:
        words = [French(REFLEXIVE[assembly.subject.person], assembly.main)] + words
    return sorted(words, key=lambda word: CLITIC_ORDER.index(word.text))


@rule
def present(a: Assembly):
    """I eat, she eats, do you eat: the present"""
    verb = a.phrase.verb
    a.with_do(verb.third, verb.english)
    a.finite = French(verb.present[a.subject.person], a.main)


@rule
def progressive(a: Assembly):
    """I am eating: the present too"""
    verb = a.phrase.verb
    a.auxiliary, a.main.text = English(be_form(a.subject, "present")), verb.ing
    a.finite = French(verb.present[a.subject.person], a.main)


@rule
def past(a: Assembly):
    """I ate, did you eat: passé composé with avoir"""
    verb = a.phrase.verb
    if verb.key == "have":
        return past_of_have(a)
    if "être" in verb.flags or "self" in verb.flags:
        return past_with_etre(a)
    a.with_do(verb.past, verb.english, past=True)
    a.finite = French(AVOIR["present"][a.subject.person], a.auxiliary or a.main)
    a.rest = [French(participle(a.phrase), a.main)]


def participle(phrase: VerbPhrase) -> str:
    return preceding_object(phrase) if phrase.agreement else phrase.verb.participle


@rule
def preceding_object(phrase: VerbPhrase) -> str:
    """I saw her: je l'ai vue; the participle agrees with an object before it"""
    return phrase.verb.agreed(*phrase.agreement)


@rule
def past_with_etre(a: Assembly):
    """she went: elle est allée; with être the participle agrees with the subject"""
    verb = a.phrase.verb
    a.with_do(verb.past, verb.english, past=True)
    a.finite = French(ETRE["present"][a.subject.person], a.auxiliary or a.main)
    a.rest = [French(verb.agreed(a.subject.gender, a.subject.plural), a.main)]


@rule
def perfect(a: Assembly):
    """I have eaten: j'ai mangé"""
    verb = a.phrase.verb
    a.auxiliary, a.main.text = English("has" if third(a.subject) else "have"), verb.english_participle
    if "être" in verb.flags or "self" in verb.flags:
        a.finite, text = French(ETRE["present"][a.subject.person], a.auxiliary), verb.agreed(a.subject.gender, a.subject.plural)
    else:
        a.finite, text = French(AVOIR["present"][a.subject.person], a.auxiliary), participle(a.phrase)
    a.rest = [French(text, a.main)]


@rule
def past_of_have(a: Assembly):
    """I had: j'avais"""
    a.with_do("had", "have", past=True)
    a.finite = French(AVOIR["past"][a.subject.person], a.main)


@rule
def future(a: Assembly):
    """I will eat: je vais manger"""
    a.auxiliary, a.main.text = English("will"), a.phrase.verb.english
    a.finite = French(ALLER[a.subject.person], a.auxiliary)
    a.rest = clitics_of(a) + [French(a.phrase.verb.infinitive, a.main)]


@rule
def going_to(a: Assembly):
    """I am going to eat: je vais manger"""
    going = english("going to")
    a.auxiliary, a.main.text, a.between = English(be_form(a.subject, "present")), a.phrase.verb.english, going
    a.finite = French(ALLER[a.subject.person], going[0])
    a.rest = clitics_of(a) + [French(a.phrase.verb.infinitive, a.main)]


@rule
def modal(a: Assembly):
    """I can, must, want to, need to, know how to eat: je peux, dois, veux, ai besoin de, sais manger"""
    needs_do, third_form, to, forms, before = MODALS[a.mood.tense]
    base = a.mood.tense.split("/")[0]
    finite = English(base)
    linked = english(to)
    if needs_do:
        main, a.main = a.main, finite
        a.with_do(third_form, base, needs_do == "did")
        a.main = main
        a.between = [finite] + linked
    else:
        a.auxiliary = finite
    a.main.text = a.phrase.verb.english
    a.finite = French(forms.split()[a.subject.person], finite)
    prepositions = french(before, linked[-1] if before in ("de", "à") else finite)
    a.rest = prepositions + clitics_of(a) + [French(a.phrase.verb.infinitive, a.main)]


@rule
def would_like(a: Assembly):
    """I would like to eat: je voudrais manger"""
    like = english("like to")
    a.auxiliary, a.main.text, a.between = English("would"), a.phrase.verb.english, like
    a.finite = French(WOULD_LIKE[a.subject.person], like[0])
    a.rest = clitics_of(a) + [French(a.phrase.verb.infinitive, a.main)]


TENSES = {"present": present, "progressive": progressive, "past": past, "perfect": perfect, "future": future, "going": going_to, "would like": would_like,
          **{name: modal for name in MODALS}}


def simple_clause(subject: NounPhrase, phrase: VerbPhrase, mood: Mood) -> Clause:
    a = Assembly(subject, phrase, mood)
    TENSES[mood.tense](a)
    return Clause(english_side(a), french_side(a), mood.question, [a.auxiliary])


def english_side(a: Assembly) -> list[English]:
    mood = a.mood
    negation = negate(a.auxiliary, mood.negation) if mood.negation in ("not", "n't") else english(mood.negation)
    a.negation = negation
    a.adverb = english(a.phrase.middle)
    auxiliary = [a.auxiliary] if a.auxiliary else []
    if mood.contracted and a.auxiliary and not mood.question and a.subject.pronoun and mood.negation != "n't":
        a.auxiliary.text = contract(a.auxiliary.text)
    verb = a.between + [a.main]
    verb += english(" ".join(a.phrase.verb.particle)) + a.phrase.english + [word for word, _ in a.phrase.after_finite]
    if mood.question and mood.negation == "n't":
        return auxiliary + negation + a.subject.english + a.adverb + verb
    if mood.question:
        return auxiliary + a.subject.english + negation + a.adverb + verb
    return a.subject.english + auxiliary + negation + a.adverb + verb


@rule
def negated(a: Assembly) -> tuple[list[French], list[French]]:
    """not: ne ... pas; never: ne ... jamais"""
    link = a.negation[-1]
    return [French("ne", link)], [French(NEGATIONS[link.text.replace("n't", "not")], link)]


@rule
def pronouns_before_the_verb(a: Assembly) -> list[French]:
    """I see her: je la vois; before the verb, or before its infinitive"""
    return [] if a.rest and a.mood.tense not in ("past", "perfect") else clitics_of(a)


@rule
def adverb_after_the_verb(a: Assembly) -> list[French]:
    """I always eat: je mange toujours; also before the participle"""
    return [French(MIDDLE[word.text], word) for word in a.adverb]


@rule
def liking(a: Assembly) -> list[French]:
    """I like her: je l'aime bien, but je ne l'aime pas"""
    mood = a.mood
    return [French("bien", a.main)] if a.phrase.verb.key == "like" and mood.tense == "present" and not mood.negation and not mood.question else []


def french_side(a: Assembly) -> list[French]:
    ne, pas = negated(a) if a.mood.negation else ([], [])
    adverbs = (adverb_after_the_verb(a) if a.adverb else []) + [word for _, word in a.phrase.after_finite]
    adverbs += liking(a)
    return a.subject.french + ne + pronouns_before_the_verb(a) + [a.finite] + pas + adverbs + a.rest + a.phrase.french


@rule
def copula(subject: NounPhrase, predicate_english: list, predicate_french: list, mood: Mood) -> Clause:
    """X is Y: X est Y; was: était; will be: sera"""
    main = None
    if mood.negation == "n't" and mood.tense == "present" and subject.person == 0:
        mood = dataclasses.replace(mood, negation="not", contracted=True)  # there is no "am n't"
    if mood.tense == "future":
        auxiliary, main = English("will"), English("be")
    else:
        auxiliary = English(be_form(subject, mood.tense))
    link = main or auxiliary
    negation = negate(auxiliary, mood.negation) if mood.negation in ("not", "n't") else english(mood.negation)
    if mood.contracted and not mood.question and subject.pronoun and mood.negation != "n't" and mood.tense != "past":
        auxiliary.text = contract(auxiliary.text)
    rest = ([main] if main else []) + predicate_english
    if mood.question and mood.negation == "n't":
        words = [auxiliary] + negation + subject.english + rest
    elif mood.question:
        words = [auxiliary] + subject.english + negation + rest
    else:
        words = subject.english + [auxiliary] + negation + rest
    verb = French(ETRE[mood.tense][subject.person], link)
    ne = [French("ne", negation[0])] if negation else []
    pas = [French(NEGATIONS[negation[0].text.replace("n't", "not")], negation[0])] if negation else []
    return Clause(words, subject.french + ne + [verb] + pas + predicate_french, mood.question, [auxiliary])


@rule
def est_ce_que(clause: Clause) -> Clause:
    """do you eat?: est-ce que tu manges ?"""
    link = clause.front[0]
    clause.french = [French("est-ce", link), French("que", link)] + clause.french
    return clause


def imperative_form(verb: Verb, person: int) -> str:
    form = verb.present[person]
    return form[:-1] if person == 1 and (form.endswith("es") or form == "vas") else form


@rule
def imperative(phrase: VerbPhrase, person: int = 1) -> Clause:
    """eat the apple: mange la pomme; pronouns follow: mange-le, regarde-moi"""
    main = English(phrase.verb.english)
    words = [main] + english(" ".join(phrase.verb.particle)) + phrase.english
    order = sorted(phrase.clitics, key=lambda word: word.text not in ("le", "la", "les"))
    attached = [French("-" + {"me": "moi", "te": "toi"}.get(word.text, word.text), word.link) for word in order]
    return Clause(words, [French(imperative_form(phrase.verb, person), main)] + attached + phrase.french)


@rule
def imperative_negated(phrase: VerbPhrase, word: str, person: int = 1) -> Clause:
    """do not eat it: ne le mange pas"""
    auxiliary, main = English("do"), English(phrase.verb.english)
    negation = negate(auxiliary, word)
    clitics = sorted(phrase.clitics, key=lambda clitic: CLITIC_ORDER.index(clitic.text))
    words = [auxiliary] + negation + [main] + english(" ".join(phrase.verb.particle)) + phrase.english
    side = [French("ne", negation[0])] + clitics + [French(imperative_form(phrase.verb, person), main), French("pas", negation[0])]
    return Clause(words, side + phrase.french)


@rule
def let_us(phrase: VerbPhrase) -> Clause:
    """let's eat: mangeons"""
    clause = imperative(phrase, 3)
    clause.english = english("let 's") + clause.english
    return clause


def verb(key: str) -> Verb:
    return VERBS[key]
