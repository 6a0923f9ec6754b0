// The door between R and C++. Everything that crosses, crosses here:
//
//   // [[Rcpp::export(rng = false)]]
//   SEXP core_quic(SEXP s, SEXP options, SEXP progress) {
//     return crossing(progress, [&](Monitor& monitor) {
//       return write(quic(matrix(s), read<QuicOptions>(options), monitor));
//     });
//   }
//
//   crossing(progress, body)   runs body(monitor): Ctrl-C, the progress bar, and C++ errors as R conditions with their class
//   read<T>(list)              options: a field that is not in the list, or NULL, keeps its default; a name that is no field is an error
//   read_state<T>(list)        a state or a fit: every field must be there, whole, finite, and pass check(); more names may be there
//   write(x)                   numbers, texts, matrices, enums, structs with fields, vectors of them
//   matrix(x), vector(x), sparse(x), design(x)   views of R's memory, no copy; text(x), number(x), count(x), flag(x), numbers(x), texts(x)
//   rng(seed)                  from core_seed(): two integers of R's stream
//   Callback                   an R function as a C++ one
//
// An export takes SEXPs only: data, options, state, seed, progress; six at most. It makes no decisions and has no loops.
#pragma once

#include <Rcpp/Lightest>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/linalg/design.h"
#include "core/random/rng.h"

namespace granary {

// ---- what comes ---------------------------------------------------------------------------------------------------------------

namespace door {

[[noreturn]] inline void unexpected(const std::string& what, const std::string& expected) {
  throw InputError(message("`", what, "` must be ", expected, "."));
}

inline bool is_number(SEXP x) { return (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) && Rf_xlength(x) == 1; }

inline double as_double(SEXP x, const std::string& what) {
  if (!is_number(x)) unexpected(what, "one number");
  if (TYPEOF(x) == REALSXP) return REAL(x)[0];
  const int value = TYPEOF(x) == INTSXP ? INTEGER(x)[0] : LOGICAL(x)[0];
  return value == NA_INTEGER ? NA_REAL : value;
}

inline std::string as_text(SEXP x, const std::string& what) {
  if (TYPEOF(x) != STRSXP || Rf_xlength(x) != 1 || STRING_ELT(x, 0) == NA_STRING) unexpected(what, "one text");
  return Rf_translateCharUTF8(STRING_ELT(x, 0));
}

// Doubles without a copy where R has doubles; integers and logicals are converted into `store`.
inline const double* as_doubles(SEXP x, const std::string& what, std::vector<double>& store) {
  if (TYPEOF(x) == REALSXP) return REAL(x);
  if (TYPEOF(x) != INTSXP && TYPEOF(x) != LGLSXP) unexpected(what, "numbers");
  const int* from = TYPEOF(x) == INTSXP ? INTEGER(x) : LOGICAL(x);
  store.resize(static_cast<std::size_t>(Rf_xlength(x)));
  for (std::size_t i = 0; i < store.size(); ++i) store[i] = from[i] == NA_INTEGER ? NA_REAL : from[i];
  return store.data();
}

inline std::pair<Index, Index> dimensions(SEXP x, const std::string& what) {
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  if (TYPEOF(dim) != INTSXP || Rf_xlength(dim) != 2) unexpected(what, "a matrix");
  return {INTEGER(dim)[0], INTEGER(dim)[1]};
}

inline double whole(double value, const std::string& what) {
  if (!(value == std::floor(value)) || std::abs(value) > 9007199254740992.0) unexpected(what, "a whole number");
  return value;
}

inline SEXP element(SEXP list, const char* name) {  // R_NilValue's address is no valid element: nullptr where there is none
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  if (TYPEOF(names) != STRSXP) return nullptr;
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i)
    if (std::strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  return nullptr;
}

}  // namespace door

inline bool is_sparse(SEXP x) { return Rf_inherits(x, "dgCMatrix"); }
inline bool is_null(SEXP x) { return Rf_isNull(x); }

inline MatrixView matrix(SEXP x, const std::string& what = "x") {
  if (TYPEOF(x) != REALSXP) door::unexpected(what, "a numeric matrix");
  const auto [rows, columns] = door::dimensions(x, what);
  return MatrixView(REAL(x), rows, columns);
}

inline VectorView vector(SEXP x, const std::string& what = "x") {
  if (TYPEOF(x) != REALSXP) door::unexpected(what, "a numeric vector");
  return VectorView(REAL(x), Rf_xlength(x));
}

inline ConstSparseMap sparse(SEXP x, const std::string& what = "x") {
  if (!is_sparse(x)) door::unexpected(what, "a sparse matrix (dgCMatrix)");
  static const SEXP dim = Rf_install("Dim"), p = Rf_install("p"), i = Rf_install("i"), values = Rf_install("x");
  const int* size = INTEGER(R_do_slot(x, dim));
  SEXP entries = R_do_slot(x, values);
  return ConstSparseMap(size[0], size[1], Rf_xlength(entries), INTEGER(R_do_slot(x, p)), INTEGER(R_do_slot(x, i)), REAL(entries));
}

// A matrix of numbers or a dgCMatrix, whichever it is.
inline Design design(SEXP x, const std::string& what = "x") { return is_sparse(x) ? Design(sparse(x, what)) : Design(matrix(x, what)); }

inline double number(SEXP x, const std::string& what = "x") { return door::as_double(x, what); }
inline int count(SEXP x, const std::string& what = "x") { return static_cast<int>(door::whole(door::as_double(x, what), what)); }
inline bool flag(SEXP x, const std::string& what = "x") { return door::as_double(x, what) != 0; }
inline std::string text(SEXP x, const std::string& what = "x") { return door::as_text(x, what); }

inline Rng rng(SEXP seed) {
  const VectorView s = vector(seed, "seed");
  return Rng((static_cast<std::uint64_t>(s[0]) << 32) ^ static_cast<std::uint64_t>(s[1]));
}

// The converters of single fields. More types are taught by overloading convert() in the same way (see r_core_kernel.h).
namespace door {

struct Source {
  SEXP value;
  std::string name;
  bool state;  // a state: numbers must be finite
};

inline void finite(const Source& s, const double* x, Index size) {
  if (!s.state) return;
  for (Index i = 0; i < size; ++i)
    if (!std::isfinite(x[i])) throw InputError(message("`", s.name, "` holds numbers that are not finite."));
}

inline void convert(const Source& s, bool& t) {
  const double value = as_double(s.value, s.name);
  if (std::isnan(value)) unexpected(s.name, "TRUE or FALSE");
  t = value != 0;
}
inline void convert(const Source& s, double& t) {
  t = as_double(s.value, s.name);
  finite(s, &t, 1);
}
inline void convert(const Source& s, int& t) {
  const double value = whole(as_double(s.value, s.name), s.name);
  if (std::abs(value) > 2147483647.0) unexpected(s.name, "a whole number below 2^31");
  t = static_cast<int>(value);
}
inline void convert(const Source& s, Index& t) { t = static_cast<Index>(whole(as_double(s.value, s.name), s.name)); }
inline void convert(const Source& s, std::size_t& t) {
  const double value = whole(as_double(s.value, s.name), s.name);
  if (value < 0) unexpected(s.name, "a whole number, not negative");
  t = static_cast<std::size_t>(value);
}
inline void convert(const Source& s, std::string& t) { t = as_text(s.value, s.name); }
inline void convert(const Source& s, VectorXd& t) {
  std::vector<double> store;
  const double* x = as_doubles(s.value, s.name, store);
  t = VectorView(x, Rf_xlength(s.value));
  finite(s, t.data(), t.size());
}
inline void convert(const Source& s, MatrixXd& t) {
  std::vector<double> store;
  const double* x = as_doubles(s.value, s.name, store);
  const auto [rows, columns] = dimensions(s.value, s.name);
  t = MatrixView(x, rows, columns);
  finite(s, t.data(), t.size());
}
inline void convert(const Source& s, MatrixView& t) {  // no copy: the list must outlive the view
  new (&t) MatrixView(matrix(s.value, s.name));
  finite(s, t.data(), t.size());
}
inline void convert(const Source& s, std::vector<MatrixView>& t) {
  if (TYPEOF(s.value) != VECSXP) unexpected(s.name, "a list of matrices");
  t.clear();
  for (R_xlen_t i = 0; i < Rf_xlength(s.value); ++i) {
    t.push_back(matrix(VECTOR_ELT(s.value, i), message(s.name, "[[", i + 1, "]]")));
    finite(s, t.back().data(), t.back().size());
  }
}
inline void convert(const Source& s, VectorView& t) {
  new (&t) VectorView(vector(s.value, s.name));
  finite(s, t.data(), t.size());
}
inline void convert(const Source& s, SparseMatrix& t) { t = sparse(s.value, s.name); }
inline void convert(const Source& s, Design& t) { t = design(s.value, s.name); }
template <class Real>
void convert_whole(const Source& s, Real* to, Index size) {
  std::vector<double> store;
  const double* x = as_doubles(s.value, s.name, store);
  for (Index i = 0; i < size; ++i) to[i] = static_cast<Real>(whole(x[i], s.name));
}
inline void convert(const Source& s, VectorXi& t) {
  t.resize(Rf_xlength(s.value));
  convert_whole(s, t.data(), t.size());
}
inline void convert(const Source& s, Eigen::MatrixXi& t) {
  const auto [rows, columns] = dimensions(s.value, s.name);
  t.resize(rows, columns);
  convert_whole(s, t.data(), t.size());
}
inline void convert(const Source& s, std::vector<double>& t) {
  std::vector<double> store;
  const double* x = as_doubles(s.value, s.name, store);
  t.assign(x, x + Rf_xlength(s.value));
  finite(s, t.data(), static_cast<Index>(t.size()));
}
inline void convert(const Source& s, std::vector<int>& t) {
  t.resize(static_cast<std::size_t>(Rf_xlength(s.value)));
  convert_whole(s, t.data(), static_cast<Index>(t.size()));
}
inline void convert(const Source& s, std::vector<Index>& t) {
  t.resize(static_cast<std::size_t>(Rf_xlength(s.value)));
  convert_whole(s, t.data(), static_cast<Index>(t.size()));
}
inline void convert(const Source& s, std::vector<char>& t) {  // flags
  t.resize(static_cast<std::size_t>(Rf_xlength(s.value)));
  convert_whole(s, t.data(), static_cast<Index>(t.size()));
}
inline void convert(const Source& s, std::vector<bool>& t) {
  std::vector<char> flags;
  convert(s, flags);
  t.assign(flags.begin(), flags.end());
}
inline void convert(const Source& s, std::vector<std::string>& t) {
  if (TYPEOF(s.value) != STRSXP) unexpected(s.name, "texts");
  t.clear();
  for (R_xlen_t i = 0; i < Rf_xlength(s.value); ++i) t.push_back(Rf_translateCharUTF8(STRING_ELT(s.value, i)));
}
template <class T>
void convert(const Source& s, T& t);  // structs, enums, vectors of them, optionals

inline void shift(int& t) { --t; }
inline void shift(Index& t) { --t; }
inline void shift(VectorXi& t) { t.array() -= 1; }
inline void shift(Eigen::MatrixXi& t) { t.array() -= 1; }
template <class T>
void shift(std::vector<T>& t) {
  for (T& one : t) shift(one);
}

template <class T>
void convert(const Source& s, Positions<T>& t) {
  convert(s, t.value);
  shift(t.value);
}
template <class T>
void convert(const Source& s, Any<T>& t) {
  convert(Source{s.value, s.name, false}, t.value);
}

class Reader {
 public:
  Reader(SEXP list, bool state) : list_(list), state_(state), used_(static_cast<std::size_t>(Rf_xlength(list)), false) {}

  template <class T>
  void operator()(const char* name, T&& t) {
    known_.push_back(name);
    SEXP names = Rf_getAttrib(list_, R_NamesSymbol);
    for (R_xlen_t i = 0; TYPEOF(names) == STRSXP && i < Rf_xlength(list_); ++i) {
      if (std::strcmp(CHAR(STRING_ELT(names, i)), name) != 0) continue;
      used_[static_cast<std::size_t>(i)] = true;
      if (!state_ && is_null(VECTOR_ELT(list_, i))) return;  // NULL in R: the default
      convert(Source{VECTOR_ELT(list_, i), name, state_}, t);
      return;
    }
    if (state_) throw InputError(message("`", name, "` is missing."));
  }

  void refuse_unknown() const {
    SEXP names = Rf_getAttrib(list_, R_NamesSymbol);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      std::string possible;
      for (const std::string& name : known_) possible += (possible.empty() ? "" : ", ") + name;
      throw InputError(message("there is no option `", TYPEOF(names) == STRSXP ? CHAR(STRING_ELT(names, static_cast<R_xlen_t>(i))) : "",
                               "`; there are ", possible, "."));
    }
  }

 private:
  SEXP list_;
  bool state_;
  std::vector<bool> used_;
  std::vector<std::string> known_;
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
void read_into(SEXP list, T& t, const std::string& what, bool state) {
  if (TYPEOF(list) != VECSXP) unexpected(what, "a list");
  Reader reader(list, state);
  fields(reader, t);
  if (!state) reader.refuse_unknown();
  if constexpr (has_check<T>) check(t);
}

template <class T>
void convert(const Source& s, T& t) {
  if constexpr (has_fields<T>) {
    read_into(s.value, t, s.name, s.state);
  } else if constexpr (std::is_enum_v<T>) {
    t = value_of<T>(as_text(s.value, s.name), s.name);
  } else if constexpr (IsOptional<T>::value) {
    t.reset();
    if (!is_null(s.value)) convert(s, t.emplace());
  } else {
    static_assert(is_std_vector<T>, "this type needs a list of fields, a table of names, or a convert() of its own");
    if (TYPEOF(s.value) != VECSXP) {
      if constexpr (std::is_enum_v<typename T::value_type>) {  // a vector of words
        std::vector<std::string> words;
        convert(s, words);
        t.clear();
        for (const std::string& word : words) t.push_back(value_of<typename T::value_type>(word, s.name));
        return;
      }
      unexpected(s.name, "a list");
    }
    t.resize(static_cast<std::size_t>(Rf_xlength(s.value)));
    for (std::size_t i = 0; i < t.size(); ++i)
      convert(Source{VECTOR_ELT(s.value, static_cast<R_xlen_t>(i)), message(s.name, "[[", i + 1, "]]"), s.state}, t[i]);
  }
}

}  // namespace door

template <class T>
T read(SEXP list, const std::string& what = "options") {
  T t = T();
  if constexpr (has_fields<T>) {
    door::read_into(list, t, what, false);
  } else {
    convert(door::Source{list, what, false}, t);
  }
  return t;
}

// InputError is told as what it is: a fit that was changed by hand, cut short, or saved by another version.
template <class T>
T read_state(SEXP list, const std::string& what = "object") {
  T t = T();
  try {
    door::read_into(list, t, what, true);
  } catch (const InputError& e) {
    throw InputError(message("`", what, "` is damaged or was saved by another version of granary: ", e.what(), " Fit the model again."));
  }
  return t;
}

inline std::vector<std::string> texts(SEXP x, const std::string& what = "x") {
  std::vector<std::string> t;
  door::convert(door::Source{x, what, false}, t);
  return t;
}
inline std::vector<double> numbers(SEXP x, const std::string& what = "x") {
  std::vector<double> t;
  door::convert(door::Source{x, what, false}, t);
  return t;
}
// A matrix of row or column numbers of R as numbers from 0.
inline Eigen::MatrixXi matrix_of_places(SEXP x, const std::string& what = "x") {
  Eigen::MatrixXi t;
  door::convert(door::Source{x, what, false}, t);
  door::shift(t);
  return t;
}
// Row or column numbers of R as numbers from 0.
inline VectorXi labels(SEXP x, const std::string& what = "labels") {  // numbers of groups: from 1 in R, from 0 here
  VectorXi out;
  door::convert(door::Source{x, what, false}, out);
  door::shift(out);
  return out;
}
inline std::vector<Index> places(SEXP x, const std::string& what = "x") {
  std::vector<Index> t;
  door::convert(door::Source{x, what, false}, t);
  door::shift(t);
  return t;
}

inline std::vector<std::vector<int>> sets_of_places(SEXP x, const std::string& what = "sets") {
  std::vector<std::vector<int>> t;
  door::convert(door::Source{x, what, false}, t);
  door::shift(t);
  return t;
}

// ---- what goes back -----------------------------------------------------------------------------------------------------------

inline SEXP write(SEXP x) { return x; }
inline SEXP write(bool x) { return Rf_ScalarLogical(x); }
inline SEXP write(int x) { return Rf_ScalarInteger(x); }
inline SEXP write(double x) { return Rf_ScalarReal(x); }
inline SEXP write(Index x) { return std::abs(x) <= 2147483647 ? Rf_ScalarInteger(static_cast<int>(x)) : Rf_ScalarReal(static_cast<double>(x)); }
inline SEXP write(std::size_t x) { return write(static_cast<Index>(x)); }
inline SEXP write(const char* x) { return Rf_mkString(x); }
inline SEXP write(const std::string& x) {
  Rcpp::Shield<SEXP> out(Rf_allocVector(STRSXP, 1));
  SET_STRING_ELT(out, 0, Rf_mkCharLenCE(x.data(), static_cast<int>(x.size()), CE_UTF8));
  return out;
}

namespace door {

inline SEXP doubles(const double* x, Index size) {
  SEXP out = Rf_allocVector(REALSXP, size);
  if (size > 0) std::memcpy(REAL(out), x, sizeof(double) * static_cast<std::size_t>(size));
  return out;
}
template <class T>
SEXP integers(const T& x, Index size) {
  SEXP out = Rf_allocVector(INTSXP, size);
  for (Index i = 0; i < size; ++i) INTEGER(out)[i] = static_cast<int>(x[i]);
  return out;
}
template <class T>
SEXP logicals(const T& x, Index size) {
  SEXP out = Rf_allocVector(LGLSXP, size);
  for (Index i = 0; i < size; ++i) LOGICAL(out)[i] = x[i] ? 1 : 0;
  return out;
}

}  // namespace door

inline SEXP write(const VectorXd& x) { return door::doubles(x.data(), x.size()); }
inline SEXP write(const Eigen::RowVectorXd& x) { return door::doubles(x.data(), x.size()); }
inline SEXP write(const MatrixXd& x) {
  SEXP out = Rf_allocMatrix(REALSXP, static_cast<int>(x.rows()), static_cast<int>(x.cols()));
  if (x.size() > 0) std::memcpy(REAL(out), x.data(), sizeof(double) * static_cast<std::size_t>(x.size()));
  return out;
}
inline SEXP write(const MatrixView& x) { return write(MatrixXd(x)); }
inline SEXP write(const VectorView& x) { return write(VectorXd(x)); }
inline SEXP write(const VectorXi& x) { return door::integers(x, x.size()); }
inline SEXP write(const Eigen::MatrixXi& x) {
  SEXP out = Rf_allocMatrix(INTSXP, static_cast<int>(x.rows()), static_cast<int>(x.cols()));
  if (x.size() > 0) std::memcpy(INTEGER(out), x.data(), sizeof(int) * static_cast<std::size_t>(x.size()));
  return out;
}
inline SEXP write(const std::vector<double>& x) { return door::doubles(x.data(), static_cast<Index>(x.size())); }
inline SEXP write(const std::vector<int>& x) { return door::integers(x, static_cast<Index>(x.size())); }
inline SEXP write(const std::vector<Index>& x) { return door::integers(x, static_cast<Index>(x.size())); }
inline SEXP write(const std::vector<char>& x) { return door::logicals(x, static_cast<Index>(x.size())); }
inline SEXP write(const std::vector<bool>& x) { return door::logicals(x, static_cast<Index>(x.size())); }
inline SEXP write(const std::vector<std::string>& x) {
  Rcpp::Shield<SEXP> out(Rf_allocVector(STRSXP, static_cast<R_xlen_t>(x.size())));
  for (std::size_t i = 0; i < x.size(); ++i)
    SET_STRING_ELT(out, static_cast<R_xlen_t>(i), Rf_mkCharLenCE(x[i].data(), static_cast<int>(x[i].size()), CE_UTF8));
  return out;
}
SEXP write_sparse(const SparseMatrix& x);  // r_core.cpp
inline SEXP write(const SparseMatrix& x) { return write_sparse(x); }

// A named list, element by element.
class ListWriter {
 public:
  template <class T>
  void operator()(const char* name, T&& t);
  template <class T>
  ListWriter& add(const char* name, const T& t);
  SEXP list() const {
    Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(names_.size())));
    for (std::size_t i = 0; i < names_.size(); ++i) SET_VECTOR_ELT(out, static_cast<R_xlen_t>(i), VECTOR_ELT(held_.get(), static_cast<R_xlen_t>(i)));
    Rcpp::Shield<SEXP> labels(write(names_));
    Rf_setAttrib(out, R_NamesSymbol, labels);
    return out;
  }

 private:
  // Values are kept in a list that R protects; it doubles when full.
  class Held {
   public:
    Held() : list_(Rf_allocVector(VECSXP, 16)) { R_PreserveObject(list_); }
    ~Held() { R_ReleaseObject(list_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    SEXP get() const { return list_; }
    void put(std::size_t at, SEXP value) {
      Rcpp::Shield<SEXP> kept(value);
      if (static_cast<R_xlen_t>(at) >= Rf_xlength(list_)) {
        SEXP longer = Rf_lengthgets(list_, 2 * Rf_xlength(list_));
        R_PreserveObject(longer);
        R_ReleaseObject(list_);
        list_ = longer;
      }
      SET_VECTOR_ELT(list_, static_cast<R_xlen_t>(at), value);
    }

   private:
    SEXP list_;
  };
  Held held_;
  std::vector<std::string> names_;
};

namespace door {

template <class T>
struct IsSharedPointer : std::false_type {};
template <class T>
struct IsSharedPointer<std::shared_ptr<T>> : std::true_type {};

}  // namespace door

template <class T>
SEXP write(const T& x) {
  if constexpr (has_fields<T>) {
    ListWriter out;
    fields(out, const_cast<T&>(x));  // a writer changes nothing
    return out.list();
  } else if constexpr (std::is_enum_v<T>) {
    return write(name_of(x));
  } else if constexpr (door::IsOptional<T>::value) {
    return x ? write(*x) : R_NilValue;
  } else if constexpr (is_std_vector<T>) {
    if constexpr (std::is_enum_v<typename T::value_type>) {
      std::vector<std::string> words;
      for (const auto& one : x) words.push_back(name_of(one));
      return write(words);
    } else {
      Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(x.size())));
      for (std::size_t i = 0; i < x.size(); ++i) SET_VECTOR_ELT(out, static_cast<R_xlen_t>(i), write(x[i]));
      return out;
    }
  } else if constexpr (std::is_base_of_v<Eigen::EigenBase<T>, T>) {
    return write(typename T::PlainObject(x));
  } else {
    static_assert(has_fields<T>, "this type needs a list of fields, a table of names, or a write() of its own");
    return R_NilValue;
  }
}

namespace door {

template <class T>
T lifted(T x) {  // numbers from 0 as numbers from 1
  if constexpr (is_std_vector<T>) {
    for (auto& one : x) one = lifted(one);
  } else if constexpr (std::is_integral_v<T>) {
    ++x;
  } else {
    x.array() += 1;
  }
  return x;
}

// One field of every element: what a table needs.
template <class S>
class ColumnWriter {
 public:
  explicit ColumnWriter(const S& rows) : rows_(rows) {}
  template <class T>
  void operator()(const char* name, T&& t) {
    (void)t;
    names_.push_back(name);
  }
  const std::vector<std::string>& field_names() const { return names_; }

 private:
  const S& rows_;
  std::vector<std::string> names_;
};

template <class T>
class Gather {  // the values of field `wanted` of one element after the other
 public:
  Gather(std::size_t wanted, SEXP out, R_xlen_t row) : wanted_(wanted), out_(out), row_(row) {}
  void operator()(const char*, const bool& t) { if (seen_++ == wanted_) LOGICAL(out_)[row_] = t; }
  void operator()(const char*, const int& t) { if (seen_++ == wanted_) INTEGER(out_)[row_] = t; }
  void operator()(const char*, const Index& t) { if (seen_++ == wanted_) INTEGER(out_)[row_] = static_cast<int>(t); }
  void operator()(const char*, const double& t) { if (seen_++ == wanted_) REAL(out_)[row_] = t; }
  void operator()(const char*, const std::string& t) {
    if (seen_++ == wanted_) SET_STRING_ELT(out_, row_, Rf_mkCharLenCE(t.data(), static_cast<int>(t.size()), CE_UTF8));
  }
  template <class U>
  void operator()(const char* n, Positions<U>&& t) { (*this)(n, lifted(t.value)); }
  template <class U>
  void operator()(const char* n, Any<U>&& t) { (*this)(n, static_cast<const U&>(t.value)); }
  template <class E, class = std::enable_if_t<std::is_enum_v<E>>>
  void operator()(const char* n, E& t) { (*this)(n, name_of(t)); }

 private:
  std::size_t wanted_, seen_ = 0;
  SEXP out_;
  R_xlen_t row_;
};

class Kinds {  // what vectors the fields of a struct need
 public:
  void operator()(const char* n, const bool&) { add(n, LGLSXP); }
  void operator()(const char* n, const int&) { add(n, INTSXP); }
  void operator()(const char* n, const Index&) { add(n, INTSXP); }
  void operator()(const char* n, const double&) { add(n, REALSXP); }
  void operator()(const char* n, const std::string&) { add(n, STRSXP); }
  template <class U>
  void operator()(const char* n, Positions<U>&&) { add(n, INTSXP); }
  template <class U>
  void operator()(const char* n, Any<U>&& t) { (*this)(n, static_cast<const U&>(t.value)); }
  template <class E, class = std::enable_if_t<std::is_enum_v<E>>>
  void operator()(const char* n, E&) { add(n, STRSXP); }

  std::vector<std::string> names;
  std::vector<int> types;

 private:
  void add(const char* n, int type) {
    names.push_back(n);
    types.push_back(type);
  }
};

}  // namespace door

// A vector of structs with plain fields as a data frame without the class: one vector per field.
template <class S>
SEXP write_columns(const std::vector<S>& rows) {
  door::Kinds kinds;
  S example{};
  fields(kinds, example);
  Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(kinds.names.size())));
  for (std::size_t f = 0; f < kinds.names.size(); ++f) {
    SEXP column = Rf_allocVector(static_cast<SEXPTYPE>(kinds.types[f]), static_cast<R_xlen_t>(rows.size()));
    SET_VECTOR_ELT(out, static_cast<R_xlen_t>(f), column);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      door::Gather<S> gather(f, column, static_cast<R_xlen_t>(i));
      fields(gather, const_cast<S&>(rows[i]));
    }
  }
  Rcpp::Shield<SEXP> labels(write(kinds.names));
  Rf_setAttrib(out, R_NamesSymbol, labels);
  return out;
}

template <class T>
SEXP write(const Positions<T>& x) {
  return write(door::lifted(std::decay_t<T>(x.value)));
}
template <class T>
SEXP write(const Any<T>& x) {
  return write(static_cast<const std::decay_t<T>&>(x.value));
}
template <class T>
SEXP write(const Columns<T>& x) {
  return write_columns(x.value);
}

template <class T>
void ListWriter::operator()(const char* name, T&& t) {
  const std::decay_t<T>& value = t;
  held_.put(names_.size(), write(value));
  names_.push_back(name);
}
template <class T>
ListWriter& ListWriter::add(const char* name, const T& t) {
  (*this)(name, t);
  return *this;
}

// list(a = x, b = y) for an answer of two or three parts that is no struct: write_list("a", x, "b", y).
namespace door {
inline void add_all(ListWriter&) {}
template <class T, class... Rest>
void add_all(ListWriter& out, const char* name, const T& value, const Rest&... rest) {
  out.add(name, value);
  add_all(out, rest...);
}
}  // namespace door
template <class... Parts>
SEXP write_list(const Parts&... parts) {
  ListWriter out;
  door::add_all(out, parts...);
  return out.list();
}

// ---- the crossing -------------------------------------------------------------------------------------------------------------

// `progress` is NULL or an R function of the share done; both it and the interrupt check run on R's thread only (see Monitor).
class RMonitor : public Monitor {
 public:
  explicit RMonitor(SEXP progress) : progress_(progress) {}

 protected:
  bool poll() override {
    return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
  }
  void show(double share) override {
    if (is_null(progress_)) return;
    Rcpp::Shield<SEXP> value(Rf_ScalarReal(share));
    Rcpp::Shield<SEXP> call(Rf_lang2(progress_, value));
    Rcpp::Rcpp_fast_eval(call, R_GlobalEnv);
  }

 private:
  SEXP progress_;  // an argument of the exported function, so R keeps it alive
};

[[noreturn]] void raise(const char* kind, const std::string& text);  // r_core.cpp: an R condition of granary's, as R signals it

// body(monitor) with everything that can go wrong told in R's way. An R error inside (in a callback) passes through untouched.
template <class Body>
SEXP crossing(SEXP progress, const Body& body) {
  std::string kind, text;
  try {
    RMonitor monitor(progress);
    return body(static_cast<Monitor&>(monitor));
  } catch (const Rcpp::LongjumpException&) {
    throw;
  } catch (const Rcpp::internal::InterruptedException&) {
    kind = "interrupt";
  } catch (const Interrupted&) {
    kind = "interrupt";
  } catch (const InputError& e) {
    kind = "input", text = e.what();
  } catch (const NumericalError& e) {
    kind = "numeric", text = e.what();
  } catch (const std::bad_alloc&) {
    kind = "memory";
  } catch (const std::exception& e) {
    kind = "defect", text = e.what();
  }
  raise(kind.c_str(), text);
}
template <class Body>
SEXP crossing(const Body& body) {  // for what cannot take long
  return crossing(R_NilValue, [&](Monitor&) { return body(); });
}

// An R function that C++ calls: f(a, b) writes its arguments, evaluates, and reads the answer as Result.
template <class Result, class... Arguments>
class Callback {
 public:
  explicit Callback(SEXP function) : function_(function) {
    if (!Rf_isFunction(function)) throw InputError("a function is needed.");
  }
  Result operator()(const Arguments&... arguments) const {
    Rcpp::Shield<SEXP> call(Rf_allocVector(LANGSXP, 1 + static_cast<R_xlen_t>(sizeof...(arguments))));
    SETCAR(call, function_);
    SEXP at = CDR(call);
    ((SETCAR(at, write(arguments)), at = CDR(at)), ...);
    Rcpp::Shield<SEXP> answer(Rcpp::Rcpp_fast_eval(call, R_GlobalEnv));
    return read<Result>(answer, "the value of the function");
  }

 private:
  SEXP function_;  // an argument of the exported function, so R keeps it alive
};

// An object of C++ that R holds between calls (a tree that grows, a network that answers). Gone after saveRDS(): is_alive() asks.
template <class T>
SEXP hold(std::unique_ptr<T> object) {
  Rcpp::Shield<SEXP> pointer(R_MakeExternalPtr(object.release(), R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(
      pointer,
      [](SEXP p) {
        delete static_cast<T*>(R_ExternalPtrAddr(p));
        R_ClearExternalPtr(p);
      },
      TRUE);
  return pointer;
}
inline bool is_alive(SEXP pointer) { return TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrAddr(pointer) != nullptr; }
template <class T>
T& held(SEXP pointer) {
  if (!is_alive(pointer)) throw InputError("this object was saved and loaded, or belongs to another session; make it again.");
  return *static_cast<T*>(R_ExternalPtrAddr(pointer));
}

// The defaults of an Options type, registered under the name of the R function whose arguments they are (see r_core.cpp, and
// tests/testthat/test-shared-defaults.R, which compares both).
class Defaults {
 public:
  Defaults(const char* function, SEXP (*make)()) { table()[function] = make; }
  static std::map<std::string, SEXP (*)()>& table() {
    static std::map<std::string, SEXP (*)()> all;
    return all;
  }
};
#define GRANARY_DEFAULTS(function, Options) \
  static const granary::Defaults defaults_of_##function(#function, [] { return granary::write(Options{}); })

}  // namespace granary
