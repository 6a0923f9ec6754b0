// The type and the size of R objects as text: what a seal is made of (R/shared-damage.R).
#include "r_door.h"

using namespace granary;

namespace {

constexpr R_xlen_t most_fields = 64;  // of a list whose fields are described one by one

std::string described(const char* type, SEXP size) {
  std::string text = type;
  for (R_xlen_t i = 0; i < Rf_xlength(size); ++i) text += " " + std::to_string(INTEGER(size)[i]);
  return text;
}

// Sparse matrices and their like: the class, and what dim() says.
std::string shape_of_s4(SEXP x) {
  Rcpp::Shield<SEXP> ask(Rf_lang2(Rf_install("dim"), x));
  Rcpp::Shield<SEXP> size(Rcpp::Rcpp_fast_eval(ask, R_BaseEnv));
  SEXP name = Rf_getAttrib(x, R_ClassSymbol);
  return described(Rf_translateCharUTF8(STRING_ELT(name, 0)), size);
}

std::string shape_of(SEXP x, int depth) {
  const int type = TYPEOF(x);
  if (type == S4SXP) return shape_of_s4(x);
  const bool numbers = type == LGLSXP || type == INTSXP || type == REALSXP || type == CPLXSXP;
  const bool sized = numbers || type == STRSXP || type == RAWSXP || type == VECSXP;
  if (!sized) return Rf_type2char(type);
  SEXP size = Rf_getAttrib(x, R_DimSymbol);
  std::string text = Rf_type2char(type);
  text = Rf_isNull(size) ? text + " " + std::to_string(Rf_xlength(x)) : described(text.c_str(), size);
  if (type != VECSXP || depth == 0 || Rf_xlength(x) == 0 || Rf_xlength(x) > most_fields) return text;
  Rcpp::Shield<SEXP> names(Rf_getAttrib(x, R_NamesSymbol));
  text += " (";
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    if (i > 0) text += ", ";
    if (!Rf_isNull(names)) text += std::string(Rf_translateCharUTF8(STRING_ELT(names, i))) + ": ";
    text += shape_of(VECTOR_ELT(x, i), depth - 1);
  }
  return text + ")";
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_shapes(SEXP parts) {
  return crossing([&] {
    std::vector<std::string> out;
    for (R_xlen_t i = 0; i < Rf_xlength(parts); ++i) out.push_back(shape_of(VECTOR_ELT(parts, i), 2));
    return write(out);
  });
}
