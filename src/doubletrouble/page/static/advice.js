/**
 * What a setting's error consists of, and what to change: the same options, choice and words as
 * Python's `dt.advise`, of which this is the part without a budget.
 *
 * With n samples per model, "slightly more features" adds a tenth of P, or half of P - n where that is less.
 */
import { percent, plain, whole } from "./numbers.js";
import { exactError, optimalRidge, PARAMETERS } from "./theory.js";

const ERROR_TOLERANCE = 1e-10; // relative difference of equal errors
const WORTH = 0.01; // the least share of the error that a recommended change removes
const SLIGHTLY_MORE = 1.1;

/** Operations of K ridge fits, K n P min(n, P) with n = N, or N/K for divided data. */
function trainingCost(P, N, K, scheme) {
  const n = scheme === "divide" ? N / K : N;
  if (Math.min(n, P) === 0) return 0; // infinitely many parts: the cost falls as 1/K
  return (scheme === "divide" ? N : K * N) * P * Math.min(n, P);
}

/** The ratio of a cost to that of now; 1 for two infinite ones, and for two of 0. */
function relative(cost, now) {
  if (cost === now) return 1;
  return now > 0 ? cost / now : Infinity;
}

function times(P, factor) {
  return P === Infinity ? P : Math.min(factor * P, PARAMETERS.features_per_dim.high);
}

/** Slightly more features, for models on n samples each. */
function slightlyMore(P, n) {
  const half = (P - n) / 2;
  const nearPeak = P < Infinity && half > 0 && half < (SLIGHTLY_MORE - 1) * P;
  return nearPeak ? P + half : times(P, SLIGHTLY_MORE);
}

function option(name, problem, scheme) {
  const error = exactError(problem, scheme);
  const { features_per_dim: P, samples_per_dim: N } = problem;
  const K = scheme.n_members;
  return {
    name,
    problem,
    scheme,
    parts: error,
    total: error.total,
    cost: { features: P * K, data: N, training: trainingCost(P, N, K, scheme.name) },
  };
}

/**
 * The error now, after every single change, and the change of least error.
 *
 * Arguments as of `exactError`, with features_per_dim, samples_per_dim and ridge. Returns {now, options,
 * choice, sentence}: the sentence names the choice. Only ensembles and divided data have options.
 */
export function advise(problem, scheme) {
  const { features_per_dim: P, samples_per_dim: N } = problem;
  const K = scheme.n_members;
  const divided = scheme.name === "divide";
  const now = option("now", problem, scheme);
  if (!divided && scheme.name !== "ensemble") {
    return { now, options: [], choice: now, sentence: alternative(problem, scheme) };
  }
  const more = slightlyMore(P, divided ? N / K : N);
  const ridge = optimalRidge(problem, scheme).ridge;
  const twice = { ...problem, samples_per_dim: Math.min(2 * N, PARAMETERS.samples_per_dim.high) };
  const shared = (n_members) => ({ name: "ensemble", n_members });
  const options = [
    option("best ridge", { ...problem, ridge }, scheme),
    option("2x features", { ...problem, features_per_dim: times(P, 2) }, scheme),
    option("slightly more features", { ...problem, features_per_dim: more }, scheme),
    option("2x models", problem, shared(2 * K)),
    option("divided data", problem, { name: "divide", n_members: 2 * K }),
    option("2x data", twice, scheme),
    option("∞ models", problem, shared(Infinity)),
  ];
  const choice = chosen(now, options);
  return { now, options, choice, sentence: sentence(now, choice) };
}

/** The finite change of least error, of equal ones the first; `now` if none removes 1% of the error. */
function chosen(now, options) {
  let least = now;
  for (const one of options) {
    const multiples = Object.keys(one.cost).map((name) => relative(one.cost[name], now.cost[name]));
    const isFinite = one.name !== "∞ models" && Math.max(...multiples) < Infinity;
    const isBetter = one.total < least.total * (1 - ERROR_TOLERANCE);
    if (isFinite && isBetter && gain(now, one) >= WORTH) least = one;
  }
  return least;
}

/** The share of the present error that an option removes. */
function gain(now, { total }) {
  if (total === now.total) return 0;
  return now.total < Infinity ? 1 - total / now.total : 1;
}

function sentence(now, choice) {
  if (choice === now) {
    return `No finite single change reduces the squared error of ${plain(now.total)} by 1% or more.`;
  }
  const ridge = choice.name === "best ridge" ? ` (λ = ${whole(choice.problem.ridge)})` : "";
  const paid = [];
  for (const name in choice.cost) {
    const factor = relative(choice.cost[name], now.cost[name]);
    if (factor !== 1) paid.push(`${whole(factor)} times the ${name}`);
  }
  const by = Number.isFinite(now.total) ? ` by ${percent(gain(now, choice))}` : "";
  const cost = paid.length ? `for ${paid.join(" and ")}` : "at no cost";
  return (
    `Best change: ${choice.name}${ridge}, which reduces the squared error from ` +
    `${plain(now.total)} to ${plain(choice.total)}${by}, ${cost}.`
  );
}

/** For schemes without advice: the error of the same models on all samples, or with own features. */
function alternative(problem, scheme) {
  const own = scheme.name === "feature_bank" ? "with features of its own" : "on all samples";
  const models = scheme.n_members === 1 ? "the model" : "each model";
  const { total } = exactError(problem, scheme.n_members);
  return `With ${models} ${own}, it would be ${plain(total)}.`;
}

/** The largest part of the error of a setting, as in its verdict in Python, then the sentence of `advise`. */
export function meaning({ now: { parts }, sentence: advice }, words) {
  return `${verdict(parts, words)} ${advice}`;
}

function verdict(parts, { names, in_sentences: inSentences }) {
  const { total } = parts;
  const causes = Object.keys(names).filter((name) => name !== "total" && name in parts);
  const infinite = causes.filter((name) => parts[name] === Infinity).map((name) => names[name]);
  if (infinite.length) return `The error is infinite: ${infinite.join(", ")}.`;
  if (!(total > 0 && total < Infinity)) return `The total is ${plain(total)}.`;
  const largest = causes.reduce((a, b) => (parts[b] > parts[a] ? b : a));
  return `${percent(Math.min(parts[largest] / total, 1))} of the error is ${inSentences[largest]}.`;
}
