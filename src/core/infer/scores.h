// Scores of classes and of probabilities, with case weights.
//
//   confusion   C_ab = sum of the weights of rows of class a that are put into b
//   accuracy    sum_a C_aa / W,  kappa = (accuracy - chance) / (1 - chance), chance = sum_a C_a. C_.a / W^2
//   balanced    mean over the classes that occur of C_aa / C_a.
//   mcc         Gorodkin's correlation of the two labellings (Comput. Biol. Chem. 2004): Matthews' for two classes
//   F           (1 + b^2) P R / (b^2 P + R) of every class, macro (mean over the classes) and micro (from the sums)
//   auc         P(score of a positive row > score of a negative one) + P(equal) / 2; for more classes the mean over pairs of
//               classes of both directions (Hand and Till, Machine Learning 2001)
//   log loss    -sum_i w_i log p_i(y_i),  Brier  sum_i w_i sum_k (p_ik - 1{y_i = k})^2, w summing to 1
//
// What has no value is NaN: F of a class that neither occurs nor is predicted (macro leaves it out), kappa and mcc where all rows
// and all predictions are of one class, auc without both classes.
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

// Labels are numbers from 0; those of the truth are rows. InputError for labels outside 0, ..., classes - 1, negative weights, or
// weights of sum 0.
MatrixXd confusion_matrix(const VectorXi& truth, const VectorXi& predicted, ConstVectorRef weight, Index classes);

struct ClassScores {
  double accuracy = 0, error = 0, kappa = 0, balanced = 0, mcc = 0, macro_f = 0, micro_f = 0;
  VectorXd precision, recall, f;  // by class
};
template <class V>
void fields(V& v, ClassScores& t) {
  v("accuracy", t.accuracy);
  v("error", t.error);
  v("kappa", any_number(t.kappa));
  v("balanced", any_number(t.balanced));
  v("mcc", any_number(t.mcc));
  v("macro_f", any_number(t.macro_f));
  v("micro_f", any_number(t.micro_f));
  v("precision", any_number(t.precision));
  v("recall", any_number(t.recall));
  v("f", any_number(t.f));
}
ClassScores class_scores(ConstMatrixRef confusion, double beta = 1);

// `positive`: above 0 for rows of the positive class.
double area_under_roc(ConstVectorRef score, ConstVectorRef positive, ConstVectorRef weight);

struct ProbabilityScores {
  double log_loss = 0, brier = 0, auc = 0;
};
template <class V>
void fields(V& v, ProbabilityScores& t) {
  v("log_loss", t.log_loss);
  v("brier", t.brier);
  v("auc", any_number(t.auc));
}
// One row per case, one column per class; InputError for probabilities outside [0, 1] and rows that do not sum to 1 up to 1e-6.
// Of a row whose class has probability 0 the log loss takes that of the smallest normal double.
ProbabilityScores probability_scores(ConstMatrixRef prob, const VectorXi& truth, ConstVectorRef weight);

}  // namespace granary
