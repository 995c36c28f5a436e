/**
 * The content of the story: text, figure and sentence of each step, and notes on the claims.
 *
 * `figure` returns the specification of a plot, or of two, and `sentence` the text for it; both take the
 * setting of the step.
 */

import { curve, gridBetween, problemOf, schemeOf, stacked } from "./curves.js";
import { fitPlot, fitsOf, MOST_MEMBERS, N_SAMPLES } from "./fit.js";
import { percent } from "./numbers.js";
import { QUESTIONS } from "./questions.js";
import { shownNumber } from "./state.js";
import { ACTIVATIONS, exactError, optimalRidge, trainingError } from "./theory.js";

// with N = 4 D the error falls before the peak; with N = D, as in the paper, more of it stays
const MUCH_DATA = { features_per_sample: 1, n_members: 1, ridge: 1e-4, snr: 2, samples_per_dim: 4 };
const BASE = { features_per_sample: 1, n_members: 1, ridge: 1e-3, snr: 2 };
const NOISY = { n_members: 1, ridge: 3e-3, snr: 1 }; // of the step about the ridge
const STACK = ["bias", "sampling", "initialization", "noise"]; // from the bottom
const LASTING = ["bias", "sampling", "shared noise", "initialization", "other noise"]; // first what stays
const [LOW_TOP, TOP] = [4, 6];

// --- numbers of a setting ---

const at = (compute) => (setting) => compute(problemOf(setting), schemeOf(setting));
const [error, training, best] = [at(exactError), at(trainingError), at(optimalRidge)];
const exact = (value) => shownNumber(value, 3);
const shown = (value) => (value > 0 && value < 1e-4 ? "below 0.0001" : exact(value));
const models = (K) => (K === 1 ? "one model" : `${K === Infinity ? "infinitely many" : K} models`);

/** The F/τ below which many narrow models are best, μ₁/μ⋆ of ReLU. */
const NOISE_LIMIT = exact(ACTIVATIONS.relu.linear / ACTIVATIONS.relu.nonlinear);

function featuresAre({ features_per_sample: ratio }) {
  return ratio === Infinity ? "With infinitely many features" : `At P/N = ${exact(ratio)}`;
}

// --- figures ---

const SOFT = "var(--soft)";
const partColor = (name) => `var(--causes-${name})`;
const [ONE, OTHER] = [partColor("initialization"), partColor("noise")]; // two that are compared

const WIDE = { from: 1, to: Infinity, label: "", shaded: true };
const REGIMES = [
  { from: 0, to: 1, label: "underparametrized", short: "P < N" },
  { ...WIDE, label: "overparametrized", short: "P > N" },
];

const RATIOS = gridBetween(0.1, 10, [1]);
const FAR_RATIOS = gridBetween(0.1, 100, [1]);
const TOTALS = gridBetween(0.1, 100, [], { share: 0.3 });
const RIDGES = gridBetween(1e-5, 10);

/** The curve of a setting along P/N, or along the ridge. */
function curveOf(setting, x = RATIOS, { along = "features_per_sample", ...options } = {}) {
  const view = { along, split: "causes", x: "log", first: setting, second: null };
  return curve(view, setting, { x, best: false, ...options });
}

function frame(title, setting, x, y, regimes = [WIDE]) {
  return {
    title,
    x: { label: "features per sample, P/N", symbol: "P/N", scale: "log", range: [0.1, 10], ...x },
    y: { label: "test error", scale: "linear", ...y },
    lines: [],
    regimes,
    marks: {
      thresholds: [{ x: 1, label: "P = N" }],
      here: [{ x: setting.features_per_sample, y: error(setting).total }],
    },
  };
}

function line(name, label, { x, total }, color, options) {
  return { name, label, x, y: total, color, width: 2.5, ...options };
}

function ghost(found) {
  return line("ghost", "", found, "var(--ink)", { width: 2, dash: "2 4", ghost: true });
}

function peakFigure(first) {
  const found = curveOf(first, RATIOS, { training: true });
  const y = { label: "error", range: [0, LOW_TOP] };
  const spec = frame("Test and training error by P/N", first, {}, y);
  spec.lines.push(
    line("total", "test error", found, partColor("total"), { peak: true }),
    line("training", "training error", { x: RATIOS, total: found.training }, OTHER),
  );
  spec.marks.here.push({ x: first.features_per_sample, y: training(first), color: OTHER });
  return spec;
}

function fitFigures(first, seed) {
  const spec = frame("Test error by P/N", first, {}, { range: [0, LOW_TOP] });
  spec.lines.push(line("total", "test error", curveOf(first), partColor("total"), { peak: true }));
  return [fitPlot(first, seed), spec];
}

/** The causes as a stack, with the total of a reference as a ghost. */
function stackFigure(first, top, reference, parts = {}, names = STACK) {
  const found = curveOf(first);
  const spec = frame("Test error by P/N", first, {}, { range: [0, top] });
  const color = (name) => partColor(name.split(" ").at(-1));
  const areas = stacked({ x: RATIOS, parts: { ...found.parts, ...parts } }, names);
  spec.areas = areas.map((area) => ({ ...area, label: area.name, color: color(area.name) })).reverse();
  spec.lines.push(line("total", "", found, partColor("total"), { width: 1.5, peak: true }));
  if (reference) spec.lines.push(ghost(curveOf(reference)));
  return spec;
}

/** The causes, with shared noise below what averaging removes. */
function averagingFigure(first) {
  const many = curveOf({ ...first, n_members: Infinity });
  const shared = many.parts.noise;
  const other = curveOf(first).parts.noise.map((noise, i) => noise - shared[i]);
  const reference = first.n_members > 1 ? { ...first, n_members: 1 } : null;
  const spec = stackFigure(first, TOP, reference, { "shared noise": shared, "other noise": other }, LASTING);
  spec.lines.unshift(line("many", "", many, "var(--ink)", { width: 1.5, dash: "6 4" }));
  return spec;
}

/** The causes along P/N, and the error along the ridge. */
function ridgeFigures(first) {
  const y = { scale: "log", range: [0.2, 20] };
  const spec = frame("Test error by λ", first, { label: "ridge λ", symbol: "λ", range: [1e-5, 10] }, y, []);
  spec.marks = { here: [{ x: first.ridge, y: error(first).total }], best: [] };
  for (const n_members of new Set([1, first.n_members, Infinity])) {
    const setting = { ...first, n_members };
    const chosen = n_members === first.n_members;
    const label = n_members === Infinity ? "K → ∞" : `K = ${exact(n_members)}`;
    const [color, width] = chosen ? [partColor("total"), 3] : [SOFT, 1.75];
    spec.lines.push(line(label, label, curveOf(setting, RIDGES, { along: "ridge" }), color, { width, inside: true }));
    const { ridge, error: least } = best(setting);
    const x = Math.max(ridge, RIDGES[0]); // a best ridge of 0 is at the left end
    spec.marks.best.push({ x, y: least.total, label: chosen ? "best λ" : "" });
  }
  return [stackFigure(first, 7, { ...first, ...NOISY }), spec];
}

const totals = ({ n_members: K, features_per_sample: ratio }) => (K === Infinity ? Infinity : K * ratio);

/** The error at the best ridge along the total number of features. */
function bestAlong(setting) {
  const bestAt = (x) => best({ ...setting, features_per_sample: x / setting.n_members });
  return { x: TOTALS, total: TOTALS.map((x) => bestAt(x).error.total) };
}

function wideFigure(first) {
  const K = first.n_members;
  const x = gridBetween(0.1, 100, [1, K]);
  const narrow = curveOf(first, x.map((total) => total / K));
  const alone = { ...first, n_members: 1 };
  const axis = { label: "features of all models per sample, KP/N", symbol: "KP/N", range: [0.1, 100] };
  const spec = frame("One wide model or several narrow ones", first, axis, { scale: "log", range: [0.2, 20] }, []);
  const dashed = { width: 1.25, dash: "6 4" };
  spec.lines.push(
    line("wide", "one wide model", curveOf(alone, x), ONE, { peak: true }),
    line("narrow", `${exact(K)} narrow models`, { x, total: narrow.total }, OTHER, { peak: true }),
    line("best narrow", "", bestAlong(first), OTHER, dashed),
    line("best wide", "", bestAlong(alone), ONE, dashed),
  );
  const total = totals(first);
  spec.marks = {
    thresholds: [{ x: 1, label: "KP = N" }, ...(K > 1 ? [{ x: K, label: "P = N" }] : [])],
    here: [
      { x: total, y: error({ ...alone, features_per_sample: total }).total, color: ONE },
      { x: total, y: error(first).total, color: OTHER },
    ],
  };
  return spec;
}

function divideFigure(first) {
  const K = first.n_members;
  const x = gridBetween(0.1, 10, [1, 1 / K]);
  const shared = { ...first, scheme: "ensemble" };
  const divided = { ...first, scheme: "divide" };
  const spec = frame("Shared and divided data", first, {}, { scale: "log", range: [0.2, 50] }, []);
  spec.lines.push(
    line("single", "one model", curveOf({ ...shared, n_members: 1 }, x), SOFT, { width: 1.5, peak: true }),
    line("shared", "all data for each", curveOf(shared, x), ONE, { peak: true }),
    line("divided", "N/K samples each", curveOf(divided, x), OTHER, { peak: true }),
  );
  spec.marks = {
    thresholds: [{ x: 1, label: "P = N" }, ...(K > 1 ? [{ x: 1 / K, label: "P = N/K" }] : [])],
    here: [
      { x: first.features_per_sample, y: error(shared).total, color: ONE },
      { x: first.features_per_sample, y: error(divided).total, color: OTHER },
    ],
  };
  return spec;
}

/** The curve to many features, with the P/N of least error. */
const widely = (setting) => curveOf(setting, FAR_RATIOS, { best: true });

/** The P/N of least error, 0 or ∞ at an end, and this error. */
function leastError(setting) {
  const { x, y, edge } = widely(setting).best;
  const limit = error({ ...setting, features_per_sample: Infinity }).total;
  if (limit <= y) return { x: Infinity, y: limit, limit };
  return { x: edge && x < 1 ? 0 : x, y, limit };
}

function underFigure(first) {
  const spec = frame("The best number of features", first, { range: [0.1, 100] }, { range: [0, 3] }, REGIMES);
  spec.lines.push(line("total", models(first.n_members), widely(first), partColor("total"), { peak: true }));
  if (first.n_members > 1) spec.lines.push(ghost(widely({ ...first, n_members: 1 })));
  const least = leastError(first);
  const isInside = least.x > 0 && least.x < Infinity;
  spec.marks.here = isInside ? [] : [least]; // an arrow at the edge
  spec.marks.best = isInside ? [{ ...least, label: "least error" }] : [];
  if (!isInside) spec.level = { y: least.y, label: `least error ${least.x ? "→" : "←"}` };
  return spec;
}

// --- sentences ---

function fitSentence(first) {
  const now = error(first).total;
  const wide = error({ ...first, features_per_sample: 10 }).total;
  const whose = first.n_members === 1 ? "" : ` of the mean of ${models(first.n_members)}`;
  const ratio = Number((now / wide).toPrecision(2));
  const compared = ratio > 1.5 && ratio < Infinity ? `${exact(ratio)} times that` : `and ${shown(wide)}`;
  const more = first.features_per_sample < 10 ? `, ${compared} at P/N = 10` : "";
  return `${featuresAre(first)}, the test error${whose} is ${shown(now)} in the theory${more}.`;
}

function peakSentence(first) {
  const test = error(first).total;
  const train = training(first);
  const fitted = train < 0.03 * (1 + 1 / first.snr ** 2); // of the power of the labels
  let where = "many fits pass through the labels; the smallest weights are taken";
  if (first.features_per_sample < 0.9) where = "the model is too small to fit every label";
  else if (!fitted) where = "the ridge keeps the model from fitting every label";
  else if (first.features_per_sample <= 1.1) where = "the model only just fits every label";
  return `${featuresAre(first)}, the training error is ${shown(train)} and the test error ${shown(test)}: ${where}.`;
}

function causesSentence(first) {
  const parts = error(first);
  const infinite = ["noise", "initialization"].filter((name) => parts[name] === Infinity);
  if (infinite.length) return `${featuresAre(first)}, the error is infinite: ${infinite.join(" and ")}.`;
  const list = [...STACK].reverse().map((name) => `${name} ${percent(parts[name] / parts.total)}`);
  const total = (features_per_sample) => error({ ...first, features_per_sample }).total;
  const clean = first.snr === Infinity && total(1) > total(0.5) ? " Even without label noise there is a peak." : "";
  return `${featuresAre(first)}, the error of ${shown(parts.total)} is ${list.join(", ")}.${clean}`;
}

function whoHave(first) {
  const have = first.n_members === 1 ? "has" : "have";
  return `${featuresAre(first)}, ${models(first.n_members)} ${have} error ${shown(error(first).total)}`;
}

function change(name, { [name]: before }, { [name]: after }) {
  return before === after ? `${name} stays ${shown(after)}` : `${name} from ${shown(before)} to ${shown(after)}`;
}

function averagingSentence(first) {
  if (first.n_members === 1) return `${whoHave(first)}. Average more to see which parts fall.`;
  const alone = error({ ...first, n_members: 1 });
  const now = error(first);
  if (now.total === Infinity) return `${whoHave(first)}: without ridge, only K → ∞ removes the peak.`;
  const shared = error({ ...first, n_members: Infinity }).noise;
  return (
    `${whoHave(first)} instead of ${shown(alone.total)}: ${change("initialization", alone, now)}, ` +
    `${change("noise", alone, now)}. Bias ${shown(now.bias)}, sampling ${shown(now.sampling)} and shared noise ` +
    `${shown(shared)} stay.`
  );
}

function ridgeSentence(first) {
  const single = best({ ...first, n_members: 1 });
  const many = error({ ...first, n_members: Infinity, ridge: 0 }).total;
  const both = best({ ...first, n_members: Infinity });
  const atBest = ({ ridge, error: { total } }) => `λ = ${shownNumber(ridge, 2)}): ${shown(total)}`;
  return (
    `${whoHave(first)} at λ = ${exact(first.ridge)}.\nBest λ alone (K = 1, ${atBest(single)}\n` +
    `Averaging alone (K → ∞, λ = 0): ${shown(many)}\nBoth (K → ∞, ${atBest(both)}`
  );
}

function wideSentence(first) {
  const total = totals(first);
  const one = { ...first, n_members: 1, features_per_sample: total };
  const wide = error(one).total;
  const narrow = error(first).total;
  if (first.n_members === 1) return `${whoHave(first)}. Choose K > 1 to compare.`;
  const better = wide > narrow ? "narrow models are better" : wide < narrow ? "the wide one is better" : "no difference";
  return (
    `At KP/N = ${exact(total)}, one model has error ${shown(wide)}, and ${models(first.n_members)} of P/N = ` +
    `${exact(first.features_per_sample)} have ${shown(narrow)}: ${better}. At the best λ of each: ` +
    `${shown(best(one).error.total)} and ${shown(best(first).error.total)}.`
  );
}

/** Where divided data have the lower error: the noise is proportional to the inverse square of F/τ. */
function dividingWins(first) {
  const [shared, divided] = ["ensemble", "divide"].map((scheme) => error({ ...first, scheme, snr: 1 }));
  const saved = shared.noise - divided.noise;
  const lost = divided.total - divided.noise - (shared.total - shared.noise);
  const equal = Math.sqrt(saved / lost);
  if (equal > 0 && equal < Infinity) return `Dividing wins ${saved > 0 ? "below" : "above"} F/τ = ${exact(equal)}.`;
  return `${divided.total < shared.total ? "Dividing" : "Sharing"} wins at any F/τ.`;
}

function divideSentence(first) {
  const [shared, divided] = ["ensemble", "divide"].map((scheme) => error({ ...first, scheme }));
  if (first.n_members === 1) return `${whoHave(first)}. Choose K > 1 to divide.`;
  return (
    `${whoHave(first)} with shared data, and ${shown(divided.total)} with divided data: ` +
    `${change("noise", shared, divided)}, ${change("bias", shared, divided)}. ${dividingWins(first)}`
  );
}

function underSentence(first) {
  const { x, y, limit } = leastError(first);
  const who = `The least error of ${models(first.n_members)} at F/τ = ${exact(first.snr)} is ${shown(y)}`;
  if (x < 0.999) {
    const where = x ? `P/N = ${exact(x)}` : "P/N ≤ 0.1";
    return `${who}, at ${where}: fewer features than samples. For P → ∞ it is ${shown(limit)}.`;
  }
  return `${who}, with more features than samples${x === Infinity ? ", for P → ∞" : ""}.`;
}

const oneDotted = ({ n_members }) => (n_members > 1 ? "Dotted: one model." : "");

function fitCaption(first, seed) {
  const { features, fits, training: near, test } = fitsOf(first, seed);
  const whose = fits.length > 1 ? `the mean of ${fits.length} fits` : "the fit";
  return (
    `One draw of ${N_SAMPLES} points, ${features} features: ${whose} has squared error ${shown(near)} at the points, ` +
    `${shown(test)} from the true function. Theory:`
  );
}

// --- the steps ---

/**
 * The steps in their order.
 *
 * `ranges` narrows sliders, `most` bounds values and `labels` renames controls; `explore` adds to the view
 * that "Open in explore" shows; `show` lists moves [control, from, to, seconds]; `claims` and `paper` are the
 * claims and the parts of the paper that the step is about.
 */
export const steps = [
  {
    id: "fit",
    text: `
      A model is a sum of {P|P} {random features}: random curves that do not change. Training on {N|N} noisy points
      only chooses their {weights}.

      With few features ({underparametrized}) the fit is stiff. With as many as points it just reaches every point,
      and swings widely in between. With many more ({overparametrized}) it is smooth again. Other features give
      another fit; in the mean of {K|K} fits the swings cancel.

      The dot marks the same P/N on the exact curve of the paper’s model, whose inputs have many dimensions.`,
    controls: ["features_per_sample", "n_members", "snr"],
    setting: MUCH_DATA,
    ranges: { n_members: [1, MOST_MEMBERS] },
    most: { features_per_sample: 10, n_members: MOST_MEMBERS },
    plots: 2,
    figure: fitFigures,
    sentence: fitSentence,
    show: [
      ["features_per_sample", 0.1, 10, 6],
      ["features_per_sample", 10, 1, 2],
      ["features_per_sample", 1, 1, 1],
      ["n_members", 1, MOST_MEMBERS, 4],
    ],
    caption: fitCaption,
    paper: ["Section 2"],
  },
  {
    id: "peak",
    text: `
      Without {λ|ridge}, the {training error} reaches zero at P = N: the {interpolation threshold}. There only one
      choice of weights fits all labels, noise included, and it can be huge: {overfitting} at its worst.

      Beyond P = N, many choices fit. Training takes the {smallest weights}, and the {test error} falls a second
      time: {double descent}.`,
    controls: ["features_per_sample", "snr", "ridge"],
    setting: MUCH_DATA,
    figure: peakFigure,
    explore: () => ({ training: "1", y: "linear", top: LOW_TOP }),
    sentence: peakSentence,
    show: [
      ["features_per_sample", 0.1, 10, 6],
      ["features_per_sample", 10, 1, 2],
      ["ridge", 1e-4, 1e-4, 1],
      ["ridge", 1e-4, 0, 3],
    ],
    claims: [1],
    paper: ["Figure 2"],
  },
  {
    id: "causes",
    text: `
      Three things are random: the {label noise}, the features ({initialization}; in a network, the first weights)
      and the training inputs ({sampling}). Each causes {variance}: with another draw, the prediction would differ.
      What is left is {bias}, the error of the average prediction.

      The first fall is bias. The peak is {noise} and initialization, the “double trouble” of the paper. Without label
      noise a peak is left: what the model misses of the true function acts like noise. The weights that fit it are
      huge, and differ with features and inputs together.`,
    controls: ["features_per_sample", "snr", "ridge"],
    setting: MUCH_DATA,
    figure: (first) => stackFigure(first, LOW_TOP, { ...first, snr: MUCH_DATA.snr }),
    explore: () => ({ form: "areas", y: "linear", top: LOW_TOP }),
    sentence: causesSentence,
    show: [["snr", 1, Infinity, 5], ["snr", Infinity, Infinity, 2], ["snr", Infinity, MUCH_DATA.snr, 2]],
    caption: ({ snr }) => (snr === MUCH_DATA.snr ? "" : `Dotted: F/τ = ${MUCH_DATA.snr}.`),
    claims: [2, 3, 6],
    paper: ["Figure 3"],
  },
  {
    id: "averaging",
    text: `
      Train {K|K} models with different random features on the same data, and average their predictions. The
      initialization variance falls as 1/K, and so does the noise that each model fits differently.
      As K grows, the peak disappears.

      What is below the dashed line stays, even for K → ∞: bias, sampling variance, and the noise that all models
      fit alike because they share their labels. From here on {N/D|N = D}, as in the paper: more of the error stays.`,
    controls: ["n_members", "features_per_sample", "snr"],
    setting: BASE,
    figure: averagingFigure,
    explore: () => ({ form: "areas", y: "linear", top: TOP }),
    sentence: averagingSentence,
    show: [["n_members", 1, Infinity, 7]],
    caption: (first) => `${oneDotted(first)} Dashed: K → ∞.`,
    claims: [9, 10],
    paper: ["Figure 5", "Figure 6"],
  },
  {
    id: "ridge",
    text: `
      Yes, at the cost of bias. The peak comes from huge {weights}, and the ridge {λ|λ} makes them costly. A small λ
      leaves variance, a large one adds bias; between them is a best λ, smaller if more models are averaged.

      With clean labels, averaging alone is better than the best λ alone. With noisy labels and many features it is
      the reverse. Both together are at least as good as either.`,
    controls: ["ridge", "n_members", "features_per_sample", "snr"],
    setting: { ...BASE, ...NOISY },
    plots: 2,
    figure: ridgeFigures,
    sentence: ridgeSentence,
    show: [
      ["ridge", NOISY.ridge, 10, 4],
      ["ridge", 10, 0.92, 2],
      ["ridge", 0.92, 0.92, 1],
      ["n_members", 1, Infinity, 3],
      ["ridge", 0.92, 0.063, 2],
      ["ridge", 0.063, 0.063, 1],
      ["features_per_sample", 1, 10, 3],
    ],
    caption: () => `Dotted: one model at λ = ${NOISY.ridge}, F/τ = ${NOISY.snr}. Diamonds: the best λ.`,
    explore: () => ({ along: "ridge" }),
    claims: [8, 15, 21],
    paper: ["Figure 8"],
  },
  {
    id: "features-or-models",
    text: `
      Spend the same features on one model of KP, or on K models of P each. The wide model peaks where KP = N, the
      narrow ones where P = N. So near KP = N several narrow models are better, and near P = N the wide one.

      Beyond P = N, as λ → 0, the wide model is always better; with the best λ for each (dashed), at any size.`,
    controls: ["features_per_sample", "n_members", "ridge", "snr"],
    setting: { ...BASE, n_members: 4, features_per_sample: 0.25 },
    ranges: { n_members: [1, 20] },
    most: { n_members: 100 },
    labels: { features_per_sample: "Features of each narrow model" },
    figure: wideFigure,
    explore: (first) => ({ second: { ...first, n_members: 1, features_per_sample: totals(first) } }),
    sentence: wideSentence,
    show: [["features_per_sample", 0.1, 10, 7], ["features_per_sample", 10, 1, 2]],
    claims: [13, 14],
    paper: ["Figure 7"],
  },
  {
    id: "divide",
    text: `
      Divide and conquer: each of K models has N/K samples of its own. Their label noise is
      independent, so averaging reduces all of it. But each model learns from fewer samples: the bias grows, and the
      peak is at P = N/K.

      With many features, dividing is better when labels are noisy, and worse when they are clean.`,
    controls: ["snr", "n_members", "features_per_sample"],
    setting: { ...BASE, features_per_sample: 5, n_members: 2, snr: 1 },
    ranges: { n_members: [1, 20] },
    figure: divideFigure,
    explore: (first) => ({ first: { ...first, scheme: "divide" }, second: { ...first, scheme: "ensemble" } }),
    sentence: divideSentence,
    show: [["snr", 10, 10, 2], ["snr", 10, 1.33, 3], ["snr", 1.33, 1.33, 2], ["snr", 1.33, 0.5, 3]],
    claims: [19, 20],
    paper: ["Figure 11"],
  },
  {
    id: "under-or-over",
    text: `
      For one model the best number of features is often the largest: {overparametrized}. But many averaged models with P < N
      predict like infinitely wide ones with a larger λ: few features act like a ridge.

      This helps if labels are noisy. Infinitely many models without ridge are best {underparametrized} if the
      {F/τ|signal-to-noise ratio} is below ${NOISE_LIMIT}: linear over nonlinear part of a {ReLU} feature.`,
    controls: ["n_members", "snr", "ridge"],
    setting: { ...BASE, ridge: 1e-5, snr: 1 },
    figure: underFigure,
    sentence: underSentence,
    show: [["n_members", 1, Infinity, 6], ["snr", 1, 1, 2], ["snr", 1, 3, 4]],
    caption: oneDotted,
    claims: [12, 16, 17],
    paper: ["Figure 12"],
  },
  {
    id: "claims",
    text: `
      The claims about the causes of double descent are true, some with a condition. Those about what reduces it hold at
      F/τ = 10, as in Figures 5, 7 and 8, but not always with more noise. Those about neural networks are
      reproduced; a part is due to the optimizer. Each verdict is checked by code.`,
    controls: [],
    setting: {},
    paper: ["Abstract"],
  },
].map((step) => ({ ...step, title: QUESTIONS[step.id] }));

/** What holds, by the number of a claim. */
export function claimNotes(plain) {
  const noisy = { ...plain, features_per_sample: 10, ridge: 1e-5, snr: 1 };
  const many = error({ ...noisy, n_members: Infinity }).total;
  const one = best(noisy).error.total;
  return {
    2: "Alone, the features have a finite effect. What diverges is their {interaction} with the inputs.",
    4: "It depends on N/D only.",
    5: "Exactly as N/(P − N), for λ → 0.",
    6: "If N ≥ D. With fewer samples, a linear network leaves a part unlearned, too.",
    7: "And the sampling variance.",
    8: "A fixed λ lowers the peak and moves it to smaller P/N. The best λ at each P/N removes it.",
    11: "Exactly, for P > N and λ → 0.",
    12: `If F/τ is above ${NOISE_LIMIT} (ReLU). Below, this ridge helps.`,
    15: `At F/τ = 1 and P = 10 N, infinitely many models have ${shown(many)}, one at its best λ ${shown(one)}.`,
    16: `If F/τ is below ${NOISE_LIMIT} (ReLU).`,
    18: "Not at F/τ = 1, as in Figure 12. True at F/τ = 0.6, for N/D up to 2.",
    22: "Away from P = N.",
    23: "Averaged alike, true features and {Gaussian ones} vary alike from run to run.",
    24: "Not as printed; with eight corrections they do.",
    25: "If they are {linearized}. At {α|α = 100} the error rises slowly with the width.",
    26: "At the peak only 2 of 20 networks interpolate; part of it is due to the optimizer.",
    27: "For gradient descent. With {Adam} the weights move as far at any {α|α}.",
  };
}
