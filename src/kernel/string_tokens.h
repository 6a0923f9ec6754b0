// Texts and lists of tokens as sequences of whole numbers, over one alphabet for all of them.
//
// Characters are code points, not bytes; words are runs of letters and digits of any script, in lower case. A text that is not
// valid UTF-8 is refused. With an alphabet that is given, tokens outside it are -1: they match nothing, themselves not
// excepted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::kernel {

enum class Token { character, word };
inline Names<Token> names(Token) { return {{Token::character, "character"}, {Token::word, "word"}}; }

using Tokens = std::vector<int>;

struct TokenAlphabet {
  std::vector<std::string> symbols;  // empty: whatever occurs, in the order of its first occurrence
  bool fold_case = false;            // a and A are one
};

struct TokenSet {
  std::vector<Tokens> sequences;
  std::vector<std::string> alphabet;
  Index longest() const;
};

std::vector<std::uint32_t> decode_utf8(const std::string& text, const std::string& name);  // `name` is for the message
std::string encode_utf8(std::uint32_t code);
std::uint32_t lower_case(std::uint32_t code);
bool is_word_part(std::uint32_t code);

std::vector<std::string> split_text(const std::string& text, Token token, const std::string& name);

std::vector<std::vector<std::string>> split_texts(const std::vector<std::string>& texts, Token token);

TokenSet number_tokens(const std::vector<std::string>& texts, Token token, const TokenAlphabet& alphabet);
TokenSet number_tokens(const std::vector<std::vector<std::string>>& lists, const TokenAlphabet& alphabet);

}  // namespace granary::kernel
