"""The translators' data: what the grammar makes, how it is split, and that its text becomes the same tokens again.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import random
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tools/samples/translator"
sys.path.insert(0, str(FOLDER))
sys.dont_write_bytecode = True
import data  # noqa: E402
import fragments  # noqa: E402
import sentences  # noqa: E402
from noun_phrases import RULES  # noqa: E402
from text import join_english, join_french, tokenize_english, tokenize_french  # noqa: E402

GENERATED = ("random", "pairs", "long", "reorder", "tuning")


class Translator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rng = random.Random(7)
        cls.drawn = [sentences.sentence(rng, data.LONGEST) for _ in range(6000)]
        cls.drawn += [fragments.fragment(rng, data.LONGEST) for _ in range(2000)]

    def test_tokens_survive_text(self):
        for pair in self.drawn:
            self.assertEqual(tokenize_english(join_english(pair.english)), pair.english)
            self.assertEqual(tokenize_french(join_french(pair.french)), pair.french)

    def test_tokens(self):
        for text, tokens in (("I don't love Mary\u2019s cat.", "i do n't love mary 's cat ."), ("can't", "ca n't"), ("at two o'clock?", "at two o 'clock ?")):
            self.assertEqual(tokenize_english(text), tokens.split())
        for text, tokens in (("je t'aime !", "je t' aime !"), ("donne-le-moi.", "donne -le -moi ."), ("ce chien-l\u00e0", "ce chien -l\u00e0"),
                             ("est-ce que ton grand-p\u00e8re", "est-ce que ton grand-p\u00e8re"), ("aujourd'hui, l'eau", "aujourd' hui , l' eau")):
            self.assertEqual(tokenize_french(text), tokens.split())
            self.assertEqual(join_french(tokens.split()), text)

    def test_draws_follow_from_the_seed_alone(self):
        code = ("import random, sentences; r = random.Random(3); print([sentences.sentence(r).english for _ in range(300)])")
        made = {subprocess.run([sys.executable, "-B", "-c", code], cwd=FOLDER, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
                for seed in ("1", "2")}
        self.assertEqual(len(made), 1)

    def test_one_translation_for_each_sentence(self):
        known = {}
        for pair in self.drawn:
            self.assertEqual(known.setdefault(tuple(pair.english), pair.french), pair.french, pair.english)

    def test_links_are_places(self):
        for pair in self.drawn:
            self.assertEqual(len(pair.links), len(pair.french))
            self.assertTrue(all(0 <= link < len(pair.english) for link in pair.links))

    def test_size_of_the_language(self):
        english, _ = data.vocabularies([data.Example(tuple(pair.english), tuple(pair.french)) for pair in self.drawn])
        self.assertGreaterEqual(len(english), 800)
        self.assertGreaterEqual(len(RULES), 60)

    def test_held_out_sets_are_held_out(self):
        held = {name: {data.plain(example.english) for example in data.held_out(name)} for name in GENERATED}
        everyday = {data.plain(example.english) for example in data.phrases()}
        trained = {data.plain(pair.english) for pair in self.drawn if data.destination(pair) == "training"} | everyday
        self.assertGreater(len(trained), 4000)
        for name in GENERATED + ("hand_written",):
            sentences_held = held.get(name) or {data.plain(example.english) for example in data.held_out(name)}
            self.assertFalse(sentences_held & trained, name)
        for name, lowest, highest in (("random", 0, 12), ("reorder", 12, 36), ("tuning", 36, 42)):
            self.assertTrue(all(lowest <= data.bucket(text, 1000) < highest for text in held[name]), name)

    def test_fragments_are_held_out_by_the_same_rule(self):
        trained = data.training_fragments()
        held = {data.plain(example.english) for name in GENERATED + ("hand_written",) for example in data.held_out(name)}
        self.assertEqual(len(trained), data.FRAGMENTS)
        self.assertFalse(held & {data.plain(example.english) for example in trained})
        self.assertTrue(all(data.bucket(data.plain(example.english), 1000) >= 42 for example in trained))

    def test_training_never_puts_a_held_pair_together(self):
        self.assertTrue(any(data.held_pair(used) for pair in self.drawn for used in pair.pairs))
        for pair in self.drawn:
            if data.destination(pair) != "pairs":
                self.assertFalse(any(data.held_pair(used) for used in pair.pairs))

    def test_lengths(self):
        self.assertTrue(all(len(example.english) >= 1.3 * data.LONGEST for example in data.held_out("long")))
        self.assertTrue(all(len(pair.english) <= data.LONGEST for pair in self.drawn))

    def test_sizes_of_the_sets(self):
        for name, size in data.SIZES.items():
            self.assertEqual(len(data.held_out(name)), size)
        self.assertEqual(len(data.held_out("hand_written")), 100)

    def test_reordering_set_reorders(self):
        for example in data.held_out("reorder"):
            self.assertTrue(any(left > right for left, right in zip(example.links, example.links[1:])))


if __name__ == "__main__":
    unittest.main()
