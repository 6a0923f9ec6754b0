#' Data sets of classifiers' benchmarks that are drawn
#'
#' The data sets among the 121 of Fernandez-Delgado and others (2014) that have a generator: Breiman's ringnorm, twonorm
#' and waveform, the display with seven segments, the monks' problems, the balance scale and tic-tac-toe.
#'
#' @details
#' \describe{
#' \item{`"twonorm"`}{20 normal columns, means \eqn{\pm 2/\sqrt{20}}{+-2/sqrt(20)}; the best accuracy there is is
#'   \eqn{\Phi(2) = 0.977}{pnorm(2) = 0.977}.}
#' \item{`"ringnorm"`}{20 columns, the first class \eqn{N(0, 4I)}, the second \eqn{N(m, I)} with
#'   \eqn{m_j = 1/\sqrt{20}}{m_j = 1/sqrt(20)} (best error about 0.013).}
#' \item{`"waveform"`, `"waveform_noise"`}{convex combinations of two of three triangles at 21 points, plus noise
#'   (best error 0.14); with 19 columns of noise.}
#' \item{`"led"`}{seven segments of a digit, each wrong with probability 0.1.}
#' \item{`"monks1"`, `"monks2"`, `"monks3"`}{the three rules over six attributes; in the third 5% of the labels are
#'   wrong.}
#' \item{`"balance"`}{all 625 states of a balance, or `n` of them: left, balanced, right.}
#' \item{`"tictactoe"`}{all 958 final boards of the game, or `n` of them: whether the first player wins.}
#' }
#'
#' @section Which method when:
#' `sim_benchmark()` for runs of [benchmark_classifiers()] without any file; `uci_datasets` lists what the paper used.
#'
#' @param type Which data.
#' @param n Number of rows; `NULL` for 300, or for all states of `"balance"` and `"tictactoe"`.
#' @return A data frame with the class as its last column.
#' @references Breiman, L. (1998). Arcing classifiers. *Annals of Statistics* 26, 801-849.
#' @seealso [benchmark_classifiers()]
#' @export
#' @examples
#' set.seed(1)
#' head(sim_benchmark("twonorm", 5)[18:21])
#' table(sim_benchmark("balance")$class)
sim_benchmark <- function(type = c("twonorm", "ringnorm", "waveform", "waveform_noise", "led", "monks1", "monks2",
                                   "monks3", "balance", "tictactoe"),
                          n = NULL) {
  type <- check_choice(type, c("twonorm", "ringnorm", "waveform", "waveform_noise", "led", "monks1", "monks2", "monks3",
                               "balance", "tictactoe"))
  n <- check_count(n, allow_null = TRUE, upper = 1e7)
  if (is.null(n) && !type %in% c("balance", "tictactoe")) n <- 300L
  switch(type,
    twonorm = sim_norms(n, c(2, -2) / sqrt(20), c(1, 1)), ringnorm = sim_norms(n, c(0, 1 / sqrt(20)), c(2, 1)),
    waveform = sim_waves(n, 0L), waveform_noise = sim_waves(n, 19L), led = sim_led(n), monks1 = , monks2 = ,
    monks3 = sim_monks(n, type),
    balance = some_rows(all_balances(), n), tictactoe = some_rows(all_boards(), n)
  )
}

sim_norms <- function(n, mean, sd) {
  class <- sample.int(2L, n, TRUE)
  x <- matrix(stats::rnorm(20 * n), n) * sd[class] + mean[class]
  data.frame(x, class = factor(class))
}

sim_waves <- function(n, noise) {
  at <- 1:21
  wave <- rbind(pmax(6 - abs(at - 11), 0), pmax(6 - abs(at - 15), 0), pmax(6 - abs(at - 7), 0))
  first <- c(1L, 1L, 2L)
  second <- c(2L, 3L, 3L)
  class <- sample.int(3L, n, TRUE)
  u <- stats::runif(n)
  x <- u * wave[first[class], , drop = FALSE] + (1 - u) * wave[second[class], , drop = FALSE] +
    matrix(stats::rnorm(21 * n), n)
  if (noise > 0L) x <- cbind(x, matrix(stats::rnorm(noise * n), n))
  data.frame(x, class = factor(class))
}

sim_led <- function(n) {
  digits <- matrix(c(1, 1, 1, 0, 1, 1, 1,  0, 0, 1, 0, 0, 1, 0,  1, 0, 1, 1, 1, 0, 1,  1, 0, 1, 1, 0, 1, 1,  0, 1, 1, 1,
                     0, 1, 0, 1, 1, 0, 1, 0, 1, 1,  1, 1, 0, 1, 1, 1, 1,  1, 0, 1, 0, 0, 1, 0,  1, 1, 1, 1, 1, 1, 1,  1,
                     1, 1, 1, 0, 1, 1), 10L, byrow = TRUE)
  class <- sample.int(10L, n, TRUE)
  flip <- matrix(stats::runif(7 * n) < 0.1, n)
  data.frame(abs(digits[class, , drop = FALSE] - flip), class = factor(class - 1L, 0:9))
}

sim_monks <- function(n, type) {
  a <- vapply(c(3L, 3L, 2L, 3L, 4L, 2L), function(k) sample.int(k, n, TRUE), integer(n))
  a <- matrix(a, n)
  yes <- switch(type,
    monks1 = a[, 1L] == a[, 2L] | a[, 5L] == 1L, monks2 = rowSums(a == 1L) == 2L,
    monks3 = (a[, 5L] == 3L & a[, 4L] == 1L) | (a[, 5L] != 4L & a[, 2L] != 3L)
  )
  if (type == "monks3") yes <- xor(yes, stats::runif(n) < 0.05)
  colnames(a) <- paste0("a", 1:6)
  data.frame(a, class = factor(ifelse(yes, "yes", "no"), c("no", "yes")))
}

all_balances <- function() {
  out <- expand.grid(left_weight = 1:5, left_distance = 1:5, right_weight = 1:5, right_distance = 1:5)
  side <- sign(out$left_weight * out$left_distance - out$right_weight * out$right_distance)
  out$class <- factor(c("right", "balanced", "left")[side + 2], c("left", "balanced", "right"))
  out
}

# Boards on which a game has ended, x first: five x and four o, or one side with three in a row and the right numbers.
all_boards <- function() {
  boards <- as.matrix(expand.grid(rep(list(0:2), 9L)))  # 0 empty, 1 x, 2 o
  lines <- rbind(1:3, 4:6, 7:9, c(1, 4, 7), c(2, 5, 8), c(3, 6, 9), c(1, 5, 9), c(3, 5, 7))
  has <- function(who) Reduce(`|`, lapply(1:8, function(l) rowSums(boards[, lines[l, ]] == who) == 3))
  crosses <- rowSums(boards == 1)
  noughts <- rowSums(boards == 2)
  x_wins <- has(1) & !has(2) & crosses == noughts + 1
  o_wins <- has(2) & !has(1) & crosses == noughts
  drawn <- !has(1) & !has(2) & crosses == 5 & noughts == 4
  end <- x_wins | o_wins | drawn
  out <- as.data.frame(lapply(seq_len(9L), function(j) factor(c("b", "x", "o")[boards[end, j] + 1], c("b", "x", "o"))))
  names(out) <- paste0("square", 1:9)
  out$class <- factor(ifelse(x_wins[end], "positive", "negative"), c("negative", "positive"))
  out
}

some_rows <- function(x, n) {
  if (is.null(n)) return(x)
  reset_rows(x[sample.int(nrow(x), n, replace = n > nrow(x)), ])
}
