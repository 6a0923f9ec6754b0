#' Perceptron, conditional random field and generative models for structured outputs
#'
#' What [structured_svm()] has to beat, over the same problems: the averaged perceptron, the conditional random field (for probabilities), and the classical
#' model by counting (hard to beat when data are very few).
#'
#' @details
#' `"perceptron"`: \deqn{w \leftarrow w + \Psi(x_i, y_i) - \Psi(x_i, f(x_i)) \quad\mathrm{if}\ f(x_i) \ne y_i}{w <- w + Psi(x_i, y_i) - Psi(x_i, f(x_i))
#' if f(x_i) != y_i}
#' If the examples can be separated with margin \eqn{\gamma}{gamma}, at most \eqn{(R/\gamma)^2}{(R/gamma)^2} mistakes are made in all. With
#' `averaged = TRUE` the result is the mean of \eqn{w} over all steps, which predicts better. The loss of the problem plays no part.
#'
#' `"crf"`, for [output_chain()] and for [output_multiclass()] with unit class features, without a kernel:
#' \deqn{\min_w \tfrac12\|w\|^2 - \frac{C}{n}\sum_i \log P(y_i | x_i), \quad P(y | x) \propto \exp F(x, y)}{min 1/2 |w|^2 - (C/n)
#' sum_i log P(y_i | x_i),  P(y | x) = exp F(x, y) / sum_z exp F(x, z)}
#' by L-BFGS with the forward-backward recursion, in the logarithm. The problem is strictly convex. `predict(fit, type = "marginal")` gives the
#' probabilities of the labels at every position.
#'
#' `"generative"`: for label sequences a hidden Markov model, the probability of the first label, of a label after another and of the features given
#' the label, by counts plus `laplace` (features must not be negative: several at a position are taken as independent draws); for parse trees the
#' weight of a rule is the logarithm of its share among the rules of its left-hand side, the probabilistic grammar of maximum likelihood
#' (`laplace = 0`); for alignments \eqn{\Pi_{ij} = \log \frac{P(i, j)}{P(i) P(j)}}{Pi_ij = log P(i, j) / (P(i) P(j))} with \eqn{P(i, j)} from the pairs
#' of the given alignments and \eqn{P(i)} from all their sequences, by counts plus `laplace`; gaps get the score `gap`, which counting does not tell.
#'
#' @section Which method when:
#' `"perceptron"` for a quick first answer, `"crf"` when probabilities are wanted, `"generative"` when examples are very few; [structured_svm()] where a
#' loss counts.
#'
#' @param problem From [output_multiclass()], [output_chain()], [output_align()], [output_cfg()] or [output_custom()].
#' @param method `"perceptron"`, `"crf"` or `"generative"`.
#' @param ... For `"perceptron"`: `epochs` (20), the largest number of passes, `averaged` (`TRUE`), `shuffle` (`TRUE`). For `"crf"`: `cost` (1), `tol` (1e-6),
#'   the relative size of the gradient at which to stop, `max_iter` (1000), `threads`. For `"generative"`: `laplace`, the number added to every count
#'   (`NULL` for 1, or 0 for parse trees), `gap` (-0.2), the score of a symbol beside a gap. For the methods of generics not used.
#' @param object A fit.
#' @return An object of class `granary_structured` with `weights`, `problem`, and `mistakes` per pass, or `objective` and `log_likelihood` (per example), or
#'   `model` (its name). `coef()`, `predict()`, `tidy()` and `plot()` work as for [structured_svm()].
#' @references
#' Collins (2002). Discriminative training methods for hidden Markov models: theory and experiments with perceptron algorithms. *Conference on
#' Empirical Methods in Natural Language Processing*, 1--8.
#'
#' Lafferty, McCallum and Pereira (2001). Conditional random fields: probabilistic models for segmenting and labeling sequence data. *International
#' Conference on Machine Learning*, 282--289.
#'
#' Durbin, Eddy, Krogh and Mitchison (1998). *Biological sequence analysis*. Cambridge University Press.
#' @seealso [structured_svm()], [structured_bounds()], [output_multiclass()], [output_chain()], [output_align()], [output_cfg()]
#' @export
#' @examples
#' words <- strsplit(c("the dog saw a cat", "a cat ran", "the old dog ran", "a man saw the dog"), " ")
#' tags <- strsplit(c("D N V D N", "D N V", "D A N V", "D N V D N"), " ")
#' problem <- output_chain(words, tags)
#' fit <- structured_baseline(problem)
#' fit
#' predict(fit, strsplit("the man saw a old cat", " "))
#' field <- structured_baseline(problem, "crf", cost = 10)
#' lapply(predict(field, strsplit("the man saw a cat", " "), type = "marginal"), round, 2)
#' structured_baseline(problem, "generative")
structured_baseline <- function(problem, method = c("perceptron", "crf", "generative"), ...) {
  problem <- check_output(problem)
  methods <- list(perceptron = structured_perceptron, crf = structured_crf, generative = structured_generative)
  method <- check_choice(method, names(methods))
  refuse_dots_of(methods[[method]], ...)
  fit <- methods[[method]](problem, ...)
  fit$call <- shorten_call(match.call())
  fit
}

structured_perceptron <- function(problem, epochs = 20, averaged = TRUE, shuffle = TRUE) {
  call <- match.call()
  problem <- check_output(problem)
  epochs <- check_count(epochs)
  averaged <- check_flag(averaged)
  shuffle <- check_flag(shuffle)
  raw <- core_structured_perceptron(crossing_core(problem$core), list(epochs = epochs, averaged = averaged, shuffle = shuffle), core_seed(),
                                    progress_bar("perceptron"))
  # a pass with mistakes left is how most runs end: nothing to warn about
  raw$convergence$message <- if (raw$convergence$converged) "" else "mistakes are left on the training examples"
  new_fit(c("structured_perceptron", "structured"), weights = as.double(raw$weights), mistakes = raw$mistakes, averaged = averaged,
          problem = problem, call = call, convergence = raw$convergence)
}

structured_crf <- function(problem, cost = 1, tol = 1e-6, max_iter = 1000, threads = NULL) {
  call <- match.call()
  problem <- check_output(problem)
  cost <- check_number(cost, lower = 0, strict_lower = TRUE)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 0.1)
  max_iter <- check_count(max_iter)
  threads <- thread_count(threads)
  raw <- core_structured_crf(crossing_core(likelihood_core(problem)), list(cost = cost, tol = tol, max_iter = max_iter, threads = threads),
                             progress_bar("conditional random field"))
  weights <- as.double(raw$weights)
  if (inherits(problem, "granary_output_multiclass")) weights <- weights[seq_len(ncol(problem$core$x) * length(problem$classes))]
  fit <- new_fit(c("structured_crf", "structured"), weights = weights, objective = raw$objective,
                 log_likelihood = as.double(raw$loglik), cost = cost, problem = problem, call = call, convergence = raw$convergence)
  check_convergence(fit)
  fit
}

# Classes are sequences of length one without transitions.
likelihood_core <- function(problem) {
  if (!is.null(problem$kernel)) abort_input("A conditional random field needs features, not a `kernel`.", "problem")
  if (inherits(problem, "granary_output_chain")) return(problem$core)
  plain <- inherits(problem, "granary_output_multiclass") && identical(unname(problem$core$class_features), diag(length(problem$classes)))
  if (!plain) abort_input("`problem` must be made by output_chain(), or by output_multiclass() without class features.", "problem")
  core <- problem$core
  list(type = "chain", x = core$x, gram = NULL, codes = core$codes, start = 0L:problem$n, labels = length(problem$classes), transition_scale = 0,
       order = 1L, input_transitions = FALSE, first = FALSE, loss = "hamming")
}

#' @export
logLik.granary_structured_crf <- function(object, ...) {
  structure(sum(object$log_likelihood), df = length(object$weights), nobs = object$problem$n, class = "logLik")
}

structured_generative <- function(problem, laplace = NULL, gap = -0.2) {
  call <- match.call()
  problem <- check_output(problem)
  laplace <- check_number(laplace, lower = 0, allow_null = TRUE)
  gap <- check_number(gap)
  type <- problem$core$type
  if (!type %in% c("chain", "cfg", "align")) {
    abort_input("There is a generative model for output_chain(), output_cfg() and output_align() only.", "problem")
  }
  if (is.null(laplace)) laplace <- if (type == "cfg") 0 else 1
  model <- switch(type, chain = hidden_markov(problem, laplace), cfg = rule_shares(problem, laplace), align = log_odds(problem, laplace, gap))
  new_fit(c("structured_generative", "structured"), weights = model$weights, model = model$name, laplace = laplace, problem = model$problem,
          call = call, convergence = list())
}

hidden_markov <- function(problem, laplace) {
  if (!is.null(problem$kernel)) abort_input("A hidden Markov model needs features, not a `kernel`.", "problem")
  weights <- core_hidden_markov(crossing_core(problem$core), list(laplace = laplace, intercept = isTRUE(problem$intercept)))
  problem$core <- utils::modifyList(problem$core, list(transition_scale = 1, order = 1L, input_transitions = FALSE, first = TRUE))
  list(weights = weights, name = "hidden Markov model", problem = problem)
}

rule_shares <- function(problem, laplace) {
  weights <- core_rule_shares(crossing_core(problem$core), list(laplace = laplace))
  list(weights = weights, name = "probabilistic context-free grammar", problem = problem)
}

log_odds <- function(problem, laplace, gap) {
  list(weights = core_log_odds(crossing_core(problem$core), list(laplace = laplace, gap = gap)), name = "log-odds alignment scores", problem = problem)
}
