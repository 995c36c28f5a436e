/**
 * What a setting's error consists of, and what to change: the same options, choice and words as
 * Python's `dt.advise`, of which this is the part without a budget.
 *
 * With n samples per model, "widen_a_little" adds a tenth of P, or half of P - n where that is less.
 */
import { exactError, optimalRidge, PARAMETERS } from "./theory.js";

const ERROR_TOLERANCE = 1e-10; // relative difference of equal errors
const WORTH = 0.01; // the least share of the error that a recommended change removes
const LITTLE_WIDER = 1.1;
const CHOICES = ["regularize", "widen", "ensemble", "divide", "collect"]; // the cheapest first

/** A number with some significant digits, without exponent between 1e-3 and 1e6; ties to even, as in Python. */
export function rounded(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  const near = Number(toEven(value, digits)) + 0; // not -0
  const plain = near === 0 || (Math.abs(near) >= 1e-3 && Math.abs(near) < 1e6);
  if (plain) return String(Number(near.toPrecision(Math.max(digits, 6))));
  const [mantissa, [sign, ...power]] = near.toExponential(digits - 1).split("e");
  return `${Number(mantissa)}e${sign}${power.join("").padStart(2, "0")}`;
}

/** The decimal of some digits nearest to a number; of two equally near, the one with an even digit. */
function toEven(value, digits) {
  const [exact, exponent] = value.toExponential(60).split("e"); // the digits of a tie end before that
  const sign = exact[0] === "-" ? "-" : "";
  const figures = exact.replace(/[-.]/g, "");
  const rest = figures.slice(digits);
  const odd = "13579".includes(figures[digits - 1]);
  if (!/^50*$/.test(rest) || odd) return value.toExponential(digits - 1);
  return `${sign}${figures[0]}.${figures.slice(1, digits)}e${exponent}`;
}

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

function wider(P, factor) {
  return P === Infinity ? P : Math.min(factor * P, PARAMETERS.features_per_dim.high);
}

/** Label and value of a slightly larger width, for models on N/parts samples. */
function aLittle(P, N, parts) {
  const n = N / parts;
  const half = (P - n) / 2;
  const nearPeak = P < Infinity && half > 0 && half < (LITTLE_WIDER - 1) * P;
  if (!nearPeak) return ["P → 1.1P", wider(P, LITTLE_WIDER)];
  return [`P → P + (P-N${parts > 1 ? "/K" : ""})/2`, P + half];
}

function option(name, label, problem, scheme) {
  const error = exactError(problem, scheme);
  const { features_per_dim: P, samples_per_dim: N } = problem;
  const K = scheme.n_members;
  return {
    name,
    label,
    problem,
    scheme,
    parts: error,
    total: error.total,
    cost: { features: P * K, samples: N, training: trainingCost(P, N, K, scheme.name) },
  };
}

/**
 * The error now, after every single change, and the change of least error.
 *
 * Arguments as of `exactError`, with features_per_dim, samples_per_dim and ridge. Returns {now, options,
 * choice, sentence}: the sentence names the choice. Only ensembles and divided data have options.
 */
export function remedies(problem, scheme) {
  const { features_per_dim: P, samples_per_dim: N } = problem;
  const K = scheme.n_members;
  const divided = scheme.name === "divide";
  const now = option("now", "now", problem, scheme);
  if (!divided && scheme.name !== "ensemble") {
    return { now, options: [], choice: now, sentence: alternative(problem, scheme) };
  }
  const allData = divided ? ", all data each" : "";
  const [label, little] = aLittle(P, N, divided ? K : 1);
  const ridge = optimalRidge(problem, scheme).ridge;
  const wide = { ...problem, features_per_dim: wider(P, 2) };
  const twice = { ...problem, samples_per_dim: Math.min(2 * N, PARAMETERS.samples_per_dim.high) };
  const shared = (n_members) => ({ name: "ensemble", n_members });
  const options = [
    option("widen", "P → 2P", wide, scheme),
    option("widen_a_little", label, { ...problem, features_per_dim: little }, scheme),
    option("ensemble", `K → 2K${allData}`, problem, shared(2 * K)),
    option("divide", `divide among ${rounded(2 * K, 6)}`, problem, { name: "divide", n_members: 2 * K }),
    option("regularize", "λ → λ*", { ...problem, ridge }, scheme),
    option("collect", "N → 2N", twice, scheme),
    option("many", `K → ∞${allData}`, problem, shared(Infinity)),
  ];
  const choice = chosen(now, options);
  return { now, options, choice, sentence: sentence(now, choice) };
}

/** The finite change of least error; `now` if none removes 1 % of the error. */
function chosen(now, options) {
  let least = now;
  for (const name of CHOICES) {
    const one = options.find((each) => each.name === name);
    if (one.total < least.total * (1 - ERROR_TOLERANCE)) least = one;
  }
  return least.total <= (1 - WORTH) * now.total ? least : now;
}

function sentence(now, choice) {
  if (choice === now) {
    return `No finite single change reduces the error of ${rounded(now.total)} by 1 % or more.`;
  }
  const ridge = choice.name === "regularize" ? ` = ${rounded(choice.problem.ridge)}` : "";
  const paid = [];
  for (const name in choice.cost) {
    const factor = relative(choice.cost[name], now.cost[name]);
    if (factor !== 1) paid.push(`${name} ×${rounded(factor)}`);
  }
  return (
    `Of the finite single changes, ${choice.label}${ridge} reduces the error most, from ` +
    `${rounded(now.total)} to ${rounded(choice.total)} (${paid.join(", ") || "at no cost"}).`
  );
}

/** For schemes without advice: the error of the same models on all samples, or with own features. */
function alternative(problem, scheme) {
  const own = scheme.name === "feature_bank" ? "with features of its own" : "on all samples";
  const models = scheme.n_members === 1 ? "the model" : "each model";
  const { total } = exactError(problem, scheme.n_members);
  return `With ${models} ${own}, it would be ${rounded(total)}.`;
}

/**
 * The meaning sentence of a setting: the largest part of its error and what it is (`meanings`), then the
 * sentence of `remedies`.
 */
export function meaning({ now: { parts }, sentence: advice }, meanings) {
  if (!(parts.total > 0)) return `The error is 0. ${advice}`;
  if (parts.total === Infinity) return `The error is infinite. ${advice}`;
  const names = Object.keys(meanings).filter((name) => name !== "total" && name in parts);
  const largest = names.reduce((a, b) => (parts[b] > parts[a] ? b : a));
  const share = `${((100 * parts[largest]) / parts.total).toFixed(0)} %`;
  return `${share} of the error of ${rounded(parts.total)} is ${largest}: ${meanings[largest]}. ${advice}`;
}
