#include "kernel/string_tokens.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

struct CodeRange {
  std::uint32_t first, last;
};

// What is no part of a word above the Latin-1 block: marks, punctuation, symbols, private use.
constexpr CodeRange not_words[] = {
    {0x37E, 0x37E},   {0x387, 0x387},     {0x55A, 0x55F},     {0x589, 0x58A},     {0x5BE, 0x5BE},     {0x5C0, 0x5C0},
    {0x5C3, 0x5C3},   {0x5F3, 0x5F4},     {0x609, 0x60F},     {0x61B, 0x61F},     {0x66A, 0x66D},     {0x6D4, 0x6D4},
    {0x700, 0x70D},   {0x964, 0x965},     {0xDF4, 0xDF4},     {0xE3F, 0xE3F},     {0xE4F, 0xE4F},     {0xE5A, 0xE5B},
    {0xF04, 0xF12},   {0x104A, 0x104F},   {0x10FB, 0x10FB},   {0x1360, 0x1368},   {0x166D, 0x166E},   {0x1680, 0x1680},
    {0x17D4, 0x17DB}, {0x1800, 0x180A},   {0x2000, 0x200B},   {0x200E, 0x2070},   {0x2072, 0x207E},   {0x2080, 0x208F},
    {0x20A0, 0x20CF}, {0x2190, 0x2BFF},   {0x2E00, 0x2E7F},   {0x3000, 0x3004},   {0x3008, 0x3020},   {0x3030, 0x3030},
    {0x303D, 0x303F}, {0x30A0, 0x30A0},   {0x30FB, 0x30FB},   {0xA490, 0xA4CF},   {0xD800, 0xF8FF},   {0xFD3E, 0xFD3F},
    {0xFE10, 0xFE1F}, {0xFE30, 0xFE6F},   {0xFEFF, 0xFF0F},   {0xFF1A, 0xFF20},   {0xFF3B, 0xFF40},   {0xFF5B, 0xFF65},
    {0xFFE0, 0xFFFF}, {0x10100, 0x1018F}, {0x1D000, 0x1D3FF}, {0x1F000, 0x1FBEF}, {0xE0000, 0x10FFFF}};

bool odd(std::uint32_t c) { return (c & 1) != 0; }
bool within(std::uint32_t c, std::uint32_t first, std::uint32_t last) { return c >= first && c <= last; }

// Numbers of symbols: characters through a table of pages, all else by hashing.
class Numbering {
 public:
  explicit Numbering(const TokenAlphabet& alphabet) : fold_(alphabet.fold_case), open_(alphabet.symbols.empty()) {
    for (std::string symbol : alphabet.symbols) {
      if (fold_) symbol = folded(symbol);
      if (symbol.empty()) throw InputError("a symbol of the alphabet is empty.");
      if (number_of_.count(symbol) != 0) throw InputError(message("the alphabet has the symbol \"", symbol, "\" twice."));
      add(symbol);
    }
  }
  int of(const std::string& token) {
    const std::string key = fold_ ? folded(token) : token;
    const auto at = number_of_.find(key);
    if (at != number_of_.end()) return at->second;
    return open_ ? add(key) : -1;
  }
  int of(std::uint32_t code) {
    if (fold_) code = lower_case(code);
    std::vector<int>& page = pages_[code >> 8];
    if (page.empty()) page.assign(256, unknown);
    int& place = page[code & 255];
    if (place == unknown) {
      const std::string symbol = encode_utf8(code);
      const auto at = number_of_.find(symbol);
      place = at != number_of_.end() ? at->second : open_ ? add(symbol) : -1;
    }
    return place;
  }
  std::vector<std::string> symbols() && { return std::move(symbols_); }

 private:
  static constexpr int unknown = -2;
  static std::string folded(const std::string& symbol) {
    std::string out;
    for (std::uint32_t code : decode_utf8(symbol, "a token")) out += encode_utf8(lower_case(code));
    return out;
  }
  int add(const std::string& symbol) {
    const int number = static_cast<int>(symbols_.size());
    number_of_.emplace(symbol, number);
    symbols_.push_back(symbol);
    return number;
  }

  bool fold_, open_;
  std::unordered_map<std::string, int> number_of_;
  std::vector<std::string> symbols_;
  std::vector<std::vector<int>> pages_{0x1100};
};

std::string text_name(std::size_t i) { return message("text ", i + 1); }

}  // namespace

Index TokenSet::longest() const {
  std::size_t most = 0;
  for (const Tokens& s : sequences) most = std::max(most, s.size());
  return static_cast<Index>(most);
}

std::vector<std::uint32_t> decode_utf8(const std::string& text, const std::string& name) {
  std::vector<std::uint32_t> out;
  out.reserve(text.size());
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t n = text.size();
  for (std::size_t i = 0; i < n;) {
    const unsigned lead = p[i];
    if (lead < 0x80) {
      out.push_back(lead);
      ++i;
      continue;
    }
    const int extra = lead >= 0xC2 && lead <= 0xDF ? 1 : lead >= 0xE0 && lead <= 0xEF ? 2 : lead >= 0xF0 && lead <= 0xF4 ? 3 : 0;
    std::uint32_t code = lead & (0x3Fu >> extra);
    bool good = extra > 0 && i + static_cast<std::size_t>(extra) < n;
    for (int k = 1; good && k <= extra; ++k) {
      good = (p[i + k] & 0xC0) == 0x80;
      code = code << 6 | (p[i + k] & 0x3Fu);
    }
    const bool overlong = (extra == 2 && code < 0x800) || (extra == 3 && code < 0x10000);
    if (!good || overlong || within(code, 0xD800, 0xDFFF) || code > 0x10FFFF)
      throw InputError(message(name, " is not valid UTF-8 at byte ", i + 1,
                               ". Convert it with iconv(x, from = \"latin1\", to = \"UTF-8\") or whatever it is."));
    out.push_back(code);
    i += 1 + static_cast<std::size_t>(extra);
  }
  return out;
}

std::string encode_utf8(std::uint32_t c) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

// Latin, Greek, Cyrillic, Armenian and full-width letters: the scripts with two cases.
std::uint32_t lower_case(std::uint32_t c) {
  if (c < 0x80) return within(c, 'A', 'Z') ? c + 32 : c;
  if (c < 0x100) return within(c, 0xC0, 0xDE) && c != 0xD7 ? c + 32 : c;
  if (c < 0x180) {
    if (c == 0x130) return 'i';
    if (c == 0x178) return 0xFF;
    const bool odd_is_upper = within(c, 0x139, 0x148) || within(c, 0x179, 0x17E);
    if (odd_is_upper) return odd(c) ? c + 1 : c;
    return c != 0x138 && c != 0x149 && c != 0x17F && !odd(c) ? c + 1 : c;
  }
  if (within(c, 0x391, 0x3AB) && c != 0x3A2) return c + 32;
  if (c == 0x386) return 0x3AC;
  if (within(c, 0x388, 0x38A)) return c + 37;
  if (c == 0x38C) return 0x3CC;
  if (c == 0x38E || c == 0x38F) return c + 63;
  if (within(c, 0x400, 0x40F)) return c + 80;
  if (within(c, 0x410, 0x42F)) return c + 32;
  if (c == 0x4C0) return 0x4CF;
  if (within(c, 0x4C1, 0x4CE)) return odd(c) ? c + 1 : c;
  if (within(c, 0x460, 0x481) || within(c, 0x48A, 0x4BF) || within(c, 0x4D0, 0x52F)) return odd(c) ? c : c + 1;
  if (within(c, 0x531, 0x556)) return c + 48;
  if (c == 0x1E9E) return 0xDF;
  if (within(c, 0x1E00, 0x1E95) || within(c, 0x1EA0, 0x1EFF)) return odd(c) ? c : c + 1;
  if (within(c, 0xFF21, 0xFF3A)) return c + 32;
  return c;
}

bool is_word_part(std::uint32_t c) {
  if (c < 0x80) return within(c, '0', '9') || within(c, 'A', 'Z') || within(c, 'a', 'z');
  if (c < 0x100) return c == 0xAA || c == 0xB5 || c == 0xBA || (c >= 0xC0 && c != 0xD7 && c != 0xF7);
  const auto after = std::upper_bound(std::begin(not_words), std::end(not_words), c,
                                      [](std::uint32_t code, const CodeRange& r) { return code < r.first; });
  return after == std::begin(not_words) || c > std::prev(after)->last;
}

std::vector<std::string> split_text(const std::string& text, Token token, const std::string& name) {
  std::vector<std::string> out;
  bool inside = false;
  for (std::uint32_t code : decode_utf8(text, name)) {
    if (token == Token::character) {
      out.push_back(encode_utf8(code));
      continue;
    }
    const bool part = is_word_part(code);
    if (part && !inside) out.emplace_back();
    if (part) out.back() += encode_utf8(lower_case(code));
    inside = part;
  }
  return out;
}

std::vector<std::vector<std::string>> split_texts(const std::vector<std::string>& texts, Token token) {
  std::vector<std::vector<std::string>> out;
  for (std::size_t i = 0; i < texts.size(); ++i) out.push_back(split_text(texts[i], token, text_name(i)));
  return out;
}

TokenSet number_tokens(const std::vector<std::string>& texts, Token token, const TokenAlphabet& alphabet) {
  Numbering numbering(alphabet);
  TokenSet set;
  set.sequences.resize(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Tokens& s = set.sequences[i];
    if (token == Token::character) {
      for (std::uint32_t code : decode_utf8(texts[i], text_name(i))) s.push_back(numbering.of(code));
    } else {
      for (const std::string& word : split_text(texts[i], token, text_name(i))) s.push_back(numbering.of(word));
    }
  }
  set.alphabet = std::move(numbering).symbols();
  return set;
}

TokenSet number_tokens(const std::vector<std::vector<std::string>>& lists, const TokenAlphabet& alphabet) {
  Numbering numbering(alphabet);
  TokenSet set;
  set.sequences.resize(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (const std::string& token : lists[i]) set.sequences[i].push_back(numbering.of(token));
  set.alphabet = std::move(numbering).symbols();
  return set;
}

}  // namespace granary::kernel
