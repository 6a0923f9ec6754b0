#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "core/random/rng.h"
#include "harness.h"
#include "kernel/string_kernel.h"
#include "kernel/string_suffix.h"

using namespace granary;
using namespace granary::kernel;

namespace {

// Every increasing choice of q places of s, with its tokens.
void each_choice(const Tokens& s, std::size_t q, const std::function<void(const std::vector<std::size_t>&)>& use) {
  std::vector<std::size_t> at(q);
  const std::function<void(std::size_t, std::size_t)> go = [&](std::size_t k, std::size_t from) {
    if (k == q) return use(at);
    for (std::size_t i = from; i < s.size(); ++i) {
      if (s[i] < 0) continue;
      at[k] = i;
      go(k + 1, i + 1);
    }
  };
  go(0, 0);
}

// phi by its definition.
std::map<Tokens, double> brute_features(const Tokens& s, std::size_t q, const GapModel& model, Index max_gap) {
  std::map<Tokens, double> phi;
  each_choice(s, q, [&](const std::vector<std::size_t>& at) {
    if (max_gap >= 0 && at.back() - at.front() + 1 > q + static_cast<std::size_t>(max_gap)) return;
    double weight = 1;
    Tokens u;
    for (std::size_t k = 0; k < q; ++k) {
      u.push_back(s[at[k]]);
      if (!model.match.empty()) weight *= model.match[static_cast<std::size_t>(u.back())];
      if (k == 0) continue;
      if (model.by_number && at[k] > at[k - 1] + 1) weight *= model.lambda;
      for (std::size_t i = at[k - 1] + 1; !model.by_number && i < at[k]; ++i)
        weight *= model.skip.empty() || s[i] < 0 ? model.lambda : model.skip[static_cast<std::size_t>(s[i])];
    }
    phi[u] += weight;
  });
  return phi;
}

double dot(const std::map<Tokens, double>& a, const std::map<Tokens, double>& b) {
  double sum = 0;
  for (const auto& [u, v] : a) {
    const auto at = b.find(u);
    if (at != b.end()) sum += v * at->second;
  }
  return sum;
}
double brute(const Tokens& s, const Tokens& t, std::size_t q, const GapModel& model, Index max_gap = -1) {
  return dot(brute_features(s, q, model, max_gap), brute_features(t, q, model, max_gap));
}

Tokens random_tokens(Rng& rng, std::size_t n, std::uint64_t alphabet, bool holes = false) {
  Tokens s(n);
  for (int& token : s) token = holes && rng.uniform() < 0.1 ? -1 : static_cast<int>(rng.below(alphabet));
  return s;
}

double relative(double a, double b) { return std::abs(a - b) / std::max(1e-300, std::max(std::abs(a), std::abs(b))); }

MatrixXd gram(const StringKernel& k) {
  std::vector<Index> all(static_cast<std::size_t>(k.size()));
  std::iota(all.begin(), all.end(), Index{0});
  MatrixXd out(k.size(), k.size());
  Monitor monitor;
  k.block(all, all, out, monitor);
  return out;
}
MatrixXd gram(const std::vector<std::string>& texts, const StringOptions& o) {
  return gram(StringKernel(number_tokens(texts, o), o));
}

const std::vector<std::string> cats{"the cat was chased by the fat dog", "the fat cat bit the dog"};

StringOptions of(StringType type, int q, int p, double lambda = 0.5) {
  StringOptions o;
  o.type = type;
  o.min_length = q;
  o.max_length = p;
  o.lambda = lambda;
  o.rescale = false;
  return o;
}

}  // namespace

TEST("gapped kernels by table and by tree are those of the definition, gaps measured or counted, tokens weighted or not") {
  Monitor monitor;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Rng rng(seed);
    const std::uint64_t alphabet = 2 + rng.below(4);
    const Tokens s = random_tokens(rng, 3 + rng.below(8), alphabet, seed % 3 == 0),
                 t = random_tokens(rng, 3 + rng.below(8), alphabet, seed % 3 == 0);
    for (const bool by_number : {false, true}) {
      for (const bool weighted : {false, true}) {
        GapModel model;
        model.by_number = by_number;
        model.lambda = seed % 2 == 0 ? 0.5 : 0.83;
        model.levels = 6;
        for (std::uint64_t a = 0; weighted && a < alphabet; ++a) {
          model.match.push_back(rng.uniform(0.2, 2));
          if (!by_number) model.skip.push_back(rng.uniform(0.1, 1));
        }
        const VectorXd dense = gap_levels_dense(s, t, model, monitor),
                       sparse = gap_levels_sparse(s, t, TokenPlaces(t), model, monitor);
        double all = 0;
        for (std::size_t q = 1; q <= 10; ++q) {
          const double expected = brute(s, t, q, model);
          all += expected;
          if (q > 6) continue;
          CHECK_NEAR(dense[static_cast<Index>(q) - 1], expected, 1e-10 * (1 + expected));
          CHECK_NEAR(sparse[static_cast<Index>(q) - 1], expected, 1e-10 * (1 + expected));
        }
        CHECK_NEAR(gap_all_lengths(s, t, model, monitor), all, 1e-10 * (1 + all));
      }
    }
  }
}

TEST("table and tree agree on longer sequences, where powers of lambda underflow, and the transpose is the same") {
  Monitor monitor;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    const std::uint64_t alphabet = seed <= 2 ? 3 : 400;
    const Tokens s = random_tokens(rng, 1500, alphabet), t = random_tokens(rng, 700 + 100 * seed, alphabet);
    GapModel model;
    model.by_number = seed % 2 == 0;
    model.lambda = seed <= 2 ? 0.5 : 0.02;
    model.levels = 9;
    const VectorXd dense = gap_levels_dense(s, t, model, monitor),
                   sparse = gap_levels_sparse(s, t, TokenPlaces(t), model, monitor);
    const VectorXd turned = gap_levels_sparse(t, s, TokenPlaces(s), model, monitor);
    for (Index q = 0; q < 9; ++q) {
      CHECK(relative(dense[q], sparse[q]) < 1e-9);
      CHECK(relative(turned[q], sparse[q]) < 1e-9);
    }
    CHECK_NEAR(dense[0], TokenPlaces(s).common(TokenPlaces(t)), 0);
  }
}

TEST("the running example of the paper in words") {
  Monitor monitor;
  const auto levels = [&](StringType type, double lambda, Index a, Index b) {
    StringOptions o = of(type, 1, 4, lambda);
    o.token = Token::word;
    return StringKernel(number_tokens(cats, o), o).levels(a, b, monitor);
  };
  const auto near = [](const VectorXd& found, std::vector<double> expected) {
    for (std::size_t q = 0; q < expected.size(); ++q) CHECK_NEAR(found[static_cast<Index>(q)], expected[q], 1e-8);
  };
  near(levels(StringType::gapped, 1, 0, 1), {7, 11, 6, 1});
  near(levels(StringType::gapped, 0.5, 0, 1), {7, 2.2822265625, 0.19921875, 0.015625});
  near(levels(StringType::gapped, 0.7, 0, 1), {7, 3.6298451249, 0.85208403, 0.117649});
  near(levels(StringType::gap_count, 0.5, 0, 1), {7, 4.75, 1.25, 0.0625});
  near(levels(StringType::gapped, 0.5, 0, 0), {10, 8.967041015625, 9.544921875});
  near(levels(StringType::gapped, 0.5, 1, 1), {8, 6.34765625, 5.9375});
  for (int q = 1; q <= 3; ++q) {
    StringOptions o = of(StringType::gapped, q, q);
    o.token = Token::word;
    o.max_gap = 2;
    CHECK_NEAR(gram(cats, o)(0, 1), q == 1 ? 7 : q == 2 ? 2 : 0, 1e-12);
  }
}

TEST("small examples: characters with weights of their own, closed form of one letter") {
  Monitor monitor;
  StringOptions o = of(StringType::gapped, 1, 4, 0.5);
  o.gap_weights = {{"a", "b", "c"}, {0.5, 0.25, 0.8}};
  o.match_weights = {{"a", "b", "c"}, {1, 2, 0.5}};
  const VectorXd k = StringKernel(number_tokens({std::string("abcab"), "acbab"}, o), o).levels(0, 1, monitor);
  const double expected[] = {20.25, 23.0875, 18.48625, 10.3025};
  for (Index q = 0; q < 4; ++q) CHECK_NEAR(k[q], expected[q], 1e-10);
  const VectorXd plain =
      StringKernel(number_tokens({std::string("gatta"), "cata"}, of(StringType::gapped, 1, 3)), of(StringType::gapped, 1, 3))
          .levels(0, 1, monitor);
  CHECK_NEAR(plain[0], 6, 1e-12);
  CHECK_NEAR(plain[1], 3.125, 1e-12);
  CHECK_NEAR(plain[2], 1, 1e-12);
  CHECK_NEAR(gram({"cat", "car"}, of(StringType::gapped, 2, 2))(0, 1), 1, 1e-12);
  for (int p = 2; p <= 5; ++p) {
    const int n = 40;
    double sum = 0;
    for (int l = p; l <= n; ++l)
      sum += (n - l + 1) * std::exp(std::lgamma(l - 1) - std::lgamma(p - 1) - std::lgamma(l - p + 1)) * std::pow(0.6, l - p);
    CHECK(relative(gram({std::string(n, 'a')}, of(StringType::gapped, p, p, 0.6))(0, 0), sum * sum) < 1e-10);
  }
}

TEST("bounded gaps: the trie is the truncated kernel, and the whole one once the bound is large") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Rng rng(seed);
    TokenSet set;
    for (int i = 0; i < 4; ++i) set.sequences.push_back(random_tokens(rng, 5 + rng.below(6), 3, seed % 2 == 0));
    set.alphabet = {"a", "b", "c"};
    for (const StringType type : {StringType::gapped, StringType::gap_count}) {
      for (const int max_gap : {0, 1, 2, 20}) {
        StringOptions o = of(type, 2, 4, 0.7);
        o.max_gap = max_gap;
        o.length_weights = {1, 0.5, 3};
        o.match_weights = {{"a", "c"}, {0.5, 2}};
        if (type == StringType::gapped) o.gap_weights = {{"b"}, {0.3}};
        const StringKernel k(set, o);
        const MatrixXd found = gram(k);
        const GapModel model = gram_model(o, set).gaps;
        for (Index a = 0; a < 4; ++a)
          for (Index b = 0; b < 4; ++b) {
            double expected = 0;
            for (std::size_t q = 2; q <= 4; ++q)
              expected += o.length_weights[q - 2] * brute(set.sequences[static_cast<std::size_t>(a)],
                                                          set.sequences[static_cast<std::size_t>(b)], q, model, max_gap);
            CHECK_NEAR(found(a, b), expected, 1e-10 * (1 + expected));
          }
      }
    }
  }
}

TEST("grams by trie and by automaton, and all substrings, are counts") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    TokenSet set;
    for (int i = 0; i < 5; ++i) set.sequences.push_back(random_tokens(rng, rng.below(14), 2, seed % 2 == 0));
    set.alphabet = {"a", "b"};
    GapModel contiguous;
    const auto expected = [&](Index a, Index b, int q, int p, double ratio) {
      double sum = 0;
      for (int l = q; l <= p; ++l)
        sum += std::pow(ratio, l) * brute(set.sequences[static_cast<std::size_t>(a)], set.sequences[static_cast<std::size_t>(b)],
                                          static_cast<std::size_t>(l), contiguous, 0);
      return sum;
    };
    StringOptions grams = of(StringType::spectrum, 2, 4), runs = of(StringType::substring, 1, 0, 0.8),
                  some = of(StringType::substring, 2, 3, 0.8);
    const MatrixXd trie = gram(StringKernel(set, grams)), all = gram(StringKernel(set, runs)),
                   bounded = gram(StringKernel(set, some));
    grams.method = StringMethod::automaton;
    const MatrixXd automaton = gram(StringKernel(set, grams));
    for (Index a = 0; a < 5; ++a)
      for (Index b = 0; b < 5; ++b) {
        CHECK_NEAR(trie(a, b), expected(a, b, 2, 4, 1), 0);
        CHECK_NEAR(automaton(a, b), expected(a, b, 2, 4, 1), 0);
        CHECK_NEAR(all(a, b), expected(a, b, 1, 14, 0.8), 1e-9 * (1 + all(a, b)));
        CHECK_NEAR(bounded(a, b), expected(a, b, 2, 3, 0.8), 1e-9 * (1 + bounded(a, b)));
      }
  }
}

TEST("mismatches: features, pairs of grams and the definition agree") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    TokenSet set;
    for (int i = 0; i < 4; ++i) set.sequences.push_back(random_tokens(rng, 4 + rng.below(8), 3, seed % 2 == 0));
    set.alphabet = {"a", "b", "c"};
    for (int m = 0; m <= 3; ++m) {
      StringOptions o = of(StringType::mismatch, 3, 3);
      o.alphabet = set.alphabet;
      o.mismatches = m;
      o.method = StringMethod::trie;
      const MatrixXd trie = gram(StringKernel(set, o));
      o.method = StringMethod::pairs;
      const MatrixXd pairs = gram(StringKernel(set, o));
      MatrixXd phi = MatrixXd::Zero(4, 27);
      for (Index i = 0; i < 4; ++i) {
        const Tokens& s = set.sequences[static_cast<std::size_t>(i)];
        for (std::size_t at = 0; at + 3 <= s.size(); ++at)
          for (int u = 0; u < 27; ++u) {
            const int word[] = {u % 3, u / 3 % 3, u / 9};
            int away = 0;
            bool hole = false;
            for (std::size_t k = 0; k < 3; ++k) {
              hole = hole || s[at + k] < 0;
              away += s[at + k] != word[k];
            }
            if (!hole && away <= m) phi(i, u) += 1;
          }
      }
      const MatrixXd expected = phi * phi.transpose();
      CHECK_NEAR((trie - expected).cwiseAbs().maxCoeff(), 0, 1e-9);
      CHECK_NEAR((pairs - expected).cwiseAbs().maxCoeff(), 0, 1e-9);
    }
  }
}

TEST("blocks of many rows are those of single pairs") {
  Rng rng(3);
  TokenSet set;
  for (int i = 0; i < 600; ++i) set.sequences.push_back(random_tokens(rng, 5 + rng.below(30), 4));
  set.alphabet = {"a", "b", "c", "d"};
  const StringKernel k(set, of(StringType::spectrum, 3, 3));
  Monitor monitor;
  std::vector<Index> rows{5, 599, 300, 5}, columns;
  for (Index j = 590; j >= 0; j -= 7) columns.push_back(j);
  MatrixXd found(4, static_cast<Index>(columns.size())), one(1, 1);
  k.block(rows, columns, found, monitor);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < found.cols(); ++j) {
      k.block({rows[static_cast<std::size_t>(i)]}, {columns[static_cast<std::size_t>(j)]}, one, monitor);
      CHECK(one(0, 0) == found(i, j));
    }
}

TEST("features with names: their products are the kernel") {
  StringOptions o = of(StringType::gapped, 2, 3);
  o.token = Token::word;
  o.max_gap = 2;
  const TokenSet set = number_tokens(cats, o);
  const StringFeatures f = string_features(set, o, " ");
  const MatrixXd z = MatrixXd(f.matrix);
  CHECK_NEAR((MatrixXd(z * z.transpose()) - gram(StringKernel(set, o))).cwiseAbs().maxCoeff(), 0, 1e-12);
  const auto at = std::find(f.names.begin(), f.names.end(), "the cat");
  CHECK(at != f.names.end());
  CHECK_NEAR(z(0, at - f.names.begin()), 1, 1e-12);
  CHECK_NEAR(z(1, at - f.names.begin()), 0.5, 1e-12);
  CHECK(std::is_sorted(f.names.begin(), f.names.end()));
}

TEST("values near and beyond the range of doubles") {
  StringOptions o = of(StringType::gapped, 100, 100, 1);
  const std::vector<std::string> long_texts{std::string(2000, 'a'), std::string(1500, 'a')};
  CHECK_THROWS(gram(long_texts, o), NumericalError);
  o.rescale = true;
  const MatrixXd k = gram(long_texts, o);
  const double cosine = k(0, 1) / std::sqrt(k(0, 0)) / std::sqrt(k(1, 1));  // one feature only
  CHECK_NEAR(cosine, 1, 1e-9);
  o = of(StringType::gapped, 1, 0, 1);
  CHECK_THROWS(gram({std::string(2000, 'a'), "a"}, o), NumericalError);
  o.length_weights = {1e-6};
  CHECK(std::isfinite(gram({std::string(2000, 'a'), "a"}, o)(0, 0)));
}

TEST("text in many scripts, its words, and bytes that are no text") {
  CHECK(decode_utf8("h\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "x") == std::vector<std::uint32_t>({0x68, 0xE9, 0x20AC, 0x1F600}));
  for (const std::uint32_t code : {0x41u, 0xE9u, 0x20ACu, 0x1F600u})
    CHECK(decode_utf8(encode_utf8(code), "x") == std::vector<std::uint32_t>{code});
  for (const char* bad : {"a\xFF", "\xC3", "\xE2\x82", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80"})
    CHECK_THROWS(decode_utf8(bad, "x"), InputError);
  CHECK(split_text("The CAT, don't!  3 \xC3\x89t\xC3\xA9s", Token::word, "x") ==
        std::vector<std::string>({"the", "cat", "don", "t", "3", "\xC3\xA9t\xC3\xA9s"}));
  CHECK(split_text("", Token::word, "x").empty());
  CHECK(lower_case(0x410) == 0x430);
  CHECK(lower_case(0x3A9) == 0x3C9);
  CHECK(!is_word_part(0x2014));
  CHECK(!is_word_part(0x1F600));
  CHECK(is_word_part(0x4E2D));
  const TokenSet dna = number_tokens({std::string("acgTN")}, Token::character, {{"A", "C", "G", "T"}, true});
  CHECK(dna.sequences[0] == Tokens({0, 1, 2, 3, -1}));
  CHECK_THROWS(number_tokens({std::string("a")}, Token::character, {{"A", "a"}, true}), InputError);
}

TEST("empty texts and texts shorter than the length have no kernel") {
  for (const StringType type : {StringType::gapped, StringType::gap_count, StringType::spectrum, StringType::substring}) {
    const MatrixXd k = gram({"", "ab", "abcd"}, of(type, 3, 3));
    CHECK_NEAR(k.topRows(2).cwiseAbs().sum(), 0, 0);
    CHECK(k(2, 2) > 0);
  }
}

TEST("options that make no sense are refused") {
  const auto refused = [](StringOptions o) { CHECK_THROWS(check(o), InputError); };
  refused(of(StringType::gapped, 3, 2));
  refused(of(StringType::gapped, 0, 2));
  refused(of(StringType::gapped, 1, 2, 1.5));
  refused(of(StringType::spectrum, 1, 0));
  refused(of(StringType::gapped, 2, 0));
  refused(of(StringType::mismatch, 3, 3));
  StringOptions o = of(StringType::spectrum, 2, 2);
  o.method = StringMethod::dense;
  refused(o);
  o = of(StringType::gapped, 2, 3);
  o.length_weights = {1};
  refused(o);
  o = of(StringType::gapped, 2, 2);
  o.gap_weights = {{"a"}, {1.5}};
  refused(o);
  o = of(StringType::gap_count, 2, 2);
  o.gap_weights = {{"a"}, {0.5}};
  refused(o);
  const std::string huge(2000000, 'a');
  CHECK_THROWS(gram({huge}, of(StringType::gapped, 3, 3)), InputError);
}
