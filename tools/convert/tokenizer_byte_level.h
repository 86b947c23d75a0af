// Pieces of bytes: GPT-2's spelling of bytes as characters, and SentencePiece's <0x..>.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convert/tokenizer_subwords.h"

namespace heed::tools {

std::map<std::string, uint32_t> ids_of(const std::vector<std::string>& pieces);

// Appends a merge of two pieces, of lower rank than those before. Their joined spelling has to be a piece of `ids`.
void add_merge(SubwordSpec& spec, const std::map<std::string, uint32_t>& ids, uint32_t left, uint32_t right, const std::string& where);

// Turns GPT-2's characters into the bytes that they stand for, in all pieces but added tokens. Pieces that are not spelled in
// these characters are found in no text.
void spell_out_bytes(SubwordSpec& spec);

// The byte of a piece "<0x41>"; -1 if it does not look like one. What only looks like one is an Error.
int32_t byte_of_piece(const std::string& piece, const std::string& where);
// Enters a byte's piece into a list of 256; two for one byte, or none for another, is an Error.
void add_byte_piece(std::vector<uint32_t>& pieces, int32_t byte, uint32_t id, const std::string& where);
void check_byte_pieces(const std::vector<uint32_t>& pieces, const std::string& where);

}  // namespace heed::tools
