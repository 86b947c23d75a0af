"""Rules for what people write without a verb: "my brother and the two cats", "in Paris, with her or without her?".

SPDX-License-Identifier: Apache-2.0
"""
import random

from clauses import Clause
from noun_phrases import English, French, NOUNS, choose_noun, object_phrase, person_phrase, rule
from sentences import Pair, end, finish
from verb_phrases import Maker, at_a_place, at_an_hour, at_home, city_or_country, in_a_place, with_somebody, without_any

JOINTS = {"and": "et", "or": "ou", ",": ",", "": ""}


@rule
def something_or_somebody(m: Maker) -> tuple[list, list]:
    """a red car, my sister: une voiture rouge, ma sœur"""
    phrase = person_phrase(m.rng) if m.chance(0.3) else object_phrase(m.rng, choose_noun(m.rng, NOUNS))
    return phrase.english, phrase.french


@rule
def circumstance(m: Maker) -> tuple[list, list]:
    """in the garden, with Paul, at two o'clock: dans le jardin, avec Paul, à deux heures"""
    make = m.pick([(in_a_place, 4), (at_a_place, 2), (at_home, 0.5), (with_somebody, 4), (without_any, 1), (at_an_hour, 1), (city_or_country, 2)])
    return make(m, m.rng.choice(["in", "from"])) if make is city_or_country else make(m)


@rule
def fragments(m: Maker) -> Clause:
    """X and Y, X or Y, X in Y: X et Y, X ou Y, X dans Y"""
    make = m.pick([(something_or_somebody, 3), (circumstance, 1)])
    words, side = make(m)
    for _ in range(m.pick([(0, 3), (1, 5), (2, 2)])):
        joint = m.pick([("and", 4), ("or", 2), (",", 2), ("", 2)])
        more = circumstance(m) if make is circumstance or not joint else something_or_somebody(m)
        link = [English(joint)] if joint else []
        words, side = words + link + more[0], side + [French(JOINTS[one.text], one) for one in link] + more[1]
    return end(Clause(words, side), m.pick([("", 5), (".", 3), ("?", 1.5), ("!", 0.5)]))


def fragment(rng: random.Random, longest: int) -> Pair:
    while True:
        m = Maker(rng)
        pair = finish(fragments(m), m, "fragments")
        if len(pair.english) <= longest:
            return pair
