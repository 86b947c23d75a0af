// What words become: the normalizer's settings, unknown words, long words, special tokens in a text.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "support/tokenizers.h"

namespace heed::test {
namespace {

tools::NormalizerOptions accents_and_case(bool strip_accents, bool lowercase) {
  tools::NormalizerOptions options;
  options.strip_accents = strip_accents;
  options.lowercase = lowercase;
  return options;
}

TEST_CASE("TOK-01 A letter loses its accent, composed or decomposed, and not itself") {
  const TextModel model({"kara", "##dzic", "fili", "##povic", "kan", "##jiza"});
  const std::string composed = "Karad\xC5\xBEi\xC4\x87 Filipovi\xC4\x87 Kanji\xC5\xBE" "a";
  const std::string decomposed = "Karadz\xCC\x8Cic\xCC\x81 Filipovic\xCC\x81 Kanjiz\xCC\x8C" "a";
  CHECK(pieces(model, "karadzic filipovic kanjiza") == "kara ##dzic fili ##povic kan ##jiza");
  CHECK(pieces(model, composed) == "kara ##dzic fili ##povic kan ##jiza");
  CHECK(pieces(model, decomposed) == "kara ##dzic fili ##povic kan ##jiza");
}

TEST_CASE("TOK-02 Accents and case are settings of their own, and every non-spacing mark counts as an accent") {
  const std::string text = "NA\xC3\x8FVE ma\xC3\xB1" "a";
  const std::vector<std::string> all = {"naive", "na\xC3\xAFve", "NAIVE", "NA\xC3\x8FVE", "mana", "ma\xC3\xB1" "a"};
  CHECK(pieces(TextModel(all, accents_and_case(true, true)), text) == "naive mana");
  CHECK(pieces(TextModel(all, accents_and_case(false, false)), text) == "NA\xC3\x8FVE ma\xC3\xB1" "a");
  CHECK(pieces(TextModel(all, accents_and_case(false, true)), text) == "na\xC3\xAFve ma\xC3\xB1" "a");
  CHECK(pieces(TextModel(all, accents_and_case(true, false)), text) == "NAIVE mana");
  // Marks outside U+0300..036F: Hebrew points, an Arabic vowel, Devanagari's virama; a spacing mark stays.
  const TextModel other(
      {"\xD7\xA9\xD7\x9C", "\xD8\xB5\xD9\x81", "\xE0\xA4\x95\xE0\xA4\xB7", "\xE0\xA4\x95\xE0\xA4\xBE"});
  CHECK(pieces(other, "\xD7\xA9\xD6\xB8\xD7\x81\xD7\x9C") == "\xD7\xA9\xD7\x9C");
  CHECK(pieces(other, "\xD8\xB5\xD9\x90\xD9\x81") == "\xD8\xB5\xD9\x81");
  CHECK(pieces(other, "\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7") == "\xE0\xA4\x95\xE0\xA4\xB7");
  CHECK(pieces(other, "\xE0\xA4\x95\xE0\xA4\xBE") == "\xE0\xA4\x95\xE0\xA4\xBE");
}

TEST_CASE("TOK-03 A cased model gets decomposed letters as they are") {
  const TextModel model({"\xC3\xA1", "a", "##\xCC\x81"}, accents_and_case(false, false));
  CHECK(pieces(model, "\xC3\xA1") == "\xC3\xA1");
  CHECK(pieces(model, "a\xCC\x81") == "a ##\xCC\x81");
}

TEST_CASE("TOK-05 A word of more than a hundred characters is one unknown token") {
  const TextModel model({"hello", "##hello", "e", "##e"});
  const auto times = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  CHECK(tokenize(model, times("Hello", 20)).size() == 22);
  CHECK(shown(tokenize(model, times("Hello", 21))) == "2:0:0 1:0:105 3:105:105");
  CHECK(tokenize(model, times("\xC3\xA9", 60)).size() == 62);    // 120 bytes
  CHECK(tokenize(model, times("e\xCC\x81", 100)).size() == 102);  // accents are gone before characters are counted
  CHECK(tokenize(model, times("e\xCC\x81", 101)).size() == 3);
  // The limit is the file's.
  schema::TokenizerT tokenizer;
  tools::WordPieceSpec spec = spec_of({"hello", "##hello"});
  spec.max_word_chars = 10;
  tools::build_wordpiece(spec, tokenizer);
  CHECK(pieces(TextModel(tokenizer), "hellohello hellohellohello") == "hello ##hello [UNK]");
}

TEST_CASE("TOK-06 One character that no piece has makes the whole word unknown") {
  const TextModel model({"hello", "##s", "s"});
  CHECK(shown(tokenize(model, "hello\xF0\x9F\x98\x80 hellos")) == "2:0:0 1:0:9 4:10:15 5:15:16 3:16:16");
  CHECK(pieces(model, "\xF0\x9F\x98\x80hello") == "[UNK]");
  CHECK(pieces(model, "hello \xF0\x9F\x98\x80") == "hello [UNK]");
  CHECK(pieces(model, "\xE4\xBD\xA0\xE5\xA5\xBDhello") == "[UNK] [UNK] hello");  // ideographs are words of their own
  const TextModel cased({"hello"}, accents_and_case(false, false));
  CHECK(pieces(cased, "hello HELLO") == "hello [UNK]");
}

TEST_CASE("The longest piece wins, even where it leaves nothing for the rest") {
  const TextModel model({"un", "una", "##aff", "##able", "##a", "##b"});
  CHECK(pieces(model, "unaffable") == "[UNK]");  // una leaves ffable
  CHECK(pieces(model, "unab") == "una ##b");
  CHECK(pieces(model, "un") == "un");
}

TEST_CASE("TOK-14 The text of a special token is plain text") {
  const TextModel model({"[", "]", "sep", "cls", "hello", "##p"});
  const Tokens tokens = tokenize(model, "hello[SEP] [CLS]");
  CHECK(shown(tokens) == "2:0:0 8:0:5 4:5:6 6:6:9 5:9:10 4:11:12 7:12:15 5:15:16 3:16:16");
  for (size_t i = 1; i + 1 < tokens.size(); ++i) CHECK(tokens[i].id > kEnd);
  CHECK(pieces(TextModel(std::vector<std::string>{"a"}), "[SEP]") == "[UNK] [UNK] [UNK]");
}

TEST_CASE("A span covers what its token stands for in the original text") {
  const TextModel model({"cafe", "##s", "b", "\xE1\x84\x92", "##\xE1\x85\xA1", "##\xE1\x86\xAB"});
  CHECK(shown(tokenize(model, "CAF\xC3\x89s!")) == "2:0:0 4:0:5 5:5:6 1:6:7 3:7:7");
  CHECK(shown(tokenize(model, " cafe\xCC\x81s")) == "2:0:0 4:1:5 5:7:8 3:8:8");  // a removed mark belongs to no piece
  CHECK(shown(tokenize(model, "\xE2\x80\x8B" "b\xE2\x80\x8B b")) == "2:0:0 6:3:4 6:8:9 3:9:9");
  // One syllable, three letters, three tokens.
  CHECK(shown(tokenize(model, "\xED\x95\x9C")) == "2:0:0 7:0:3 8:0:3 9:0:3 3:3:3");
}

}  // namespace
}  // namespace heed::test
