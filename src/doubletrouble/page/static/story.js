/**
 * The story: questions about double descent, each with a live figure, a sentence that follows the
 * sliders, and an animation of them.
 *
 * Every step has a setting of its own to start from. The step that the reader has changed is the one in
 * the address (`step`, with its setting); all others show their start, so that the story is a function
 * of the view alone. `figure(view)` returns the specification of a plot, or of two, and `sentence(view)`
 * the text for it; both take a view whose first setting is that of the step.
 */
import { html, numberControl } from "./controls.js";
import { curve, problemOf, schemeOf } from "./curves.js";
import { createFit, MOST_FEATURES, MOST_MEMBERS, N_SAMPLES } from "./fit.js";
import { createPlot } from "./plot.js";
import { defaultView, SETTING, shownNumber } from "./state.js";
import { exactError, optimalRidge, trainingError } from "./theory.js";
import { phrase, unbroken } from "./words.js";

const BASE = { width: 1, members: 1, ridge: 1e-3, snr: 2 }; // a peak that fits on a linear axis
const NOISY = { members: 1, ridge: 3e-3, snr: 1 }; // of the step about the ridge
const STACK = ["bias", "sampling", "initialization", "noise"]; // from the bottom
const TOP = 6;
const GHOST_DASH = "2 4";

// --- numbers of a setting ------------------------------------------------------------------------

const error = (setting) => exactError(problemOf(setting), schemeOf(setting));
const training = (setting) => trainingError(problemOf(setting), schemeOf(setting));
const best = (setting) => optimalRidge(problemOf(setting), schemeOf(setting));
const shown = (value) => shownNumber(value, 3);
const percent = (share) => `${(100 * share).toFixed(0)} %`;
const NUMERALS = ["", "one model", "two models", "three models", "four models", "five models"];
const models = (K) => (K === Infinity ? "infinitely many models" : (NUMERALS[K] ?? `${shown(K)} models`));
const multiple = (ratio) => (ratio === 1 ? "N" : `${shown(ratio)} N`);
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const times = (factor) => (factor < 1000 ? `${shown(Number(factor.toPrecision(2)))} times` : "over 1000 times");

function widthIs({ width }) {
  return width === Infinity ? "With infinitely many features" : `At P/N = ${shown(width)}`;
}

// --- figures ---------------------------------------------------------------------------------------

/** Colours are properties of the page; those of texts are closer to the ink, to be readable. */
const SOFT = "var(--soft)";
const partColor = (name) => `var(--causes-${name})`;
const textColor = (color) => `color-mix(in srgb, ${color} 70%, var(--ink))`;
const ONE = partColor("initialization"); // one model, or shared data
const OTHER = partColor("noise"); // what it is compared with

const REGIMES = [
  { from: 0, to: 1, label: "underparametrized", short: "P < N" },
  { from: 1, to: Infinity, label: "overparametrized", short: "P > N", shaded: true },
];

/** Values on a logarithmic axis, denser around thresholds, which are included. */
function grid(low, high, peaks = []) {
  const values = [];
  for (let i = 0; i <= 120; i++) values.push(low * (high / low) ** (i / 120));
  for (const peak of peaks) {
    for (let i = -25; i <= 25; i++) values.push(peak * Math.exp(i / 100));
  }
  const inside = values.filter((value) => value >= low && value <= high);
  return Float64Array.from(new Set(inside)).sort();
}

/** The curve of a setting along the width or the ridge. */
function along(name, setting, x, options = {}) {
  const view = { along: name, split: "causes", x: "log", first: setting, second: null };
  return curve(view, setting, { x, best: false, ...options });
}

function frame(title, setting, x, y) {
  return {
    title,
    x: { label: "features per sample, P/N", symbol: "P/N", scale: "log", ...x },
    y: { label: "test error", scale: "linear", ...y },
    lines: [],
    regimes: REGIMES,
    marks: { thresholds: [{ x: 1, label: "P = N" }], here: [{ x: setting.width, y: error(setting).total }] },
  };
}

function line(name, label, found, color, options = {}) {
  const drawn = { name, label, x: found.x, y: found.total, color, textColor: textColor(color) };
  return { ...drawn, width: 2.5, ...options };
}

function ghost(found) {
  return line("ghost", "", found, "var(--ink)", { width: 2, dash: GHOST_DASH, ghost: true });
}

const WIDTHS = grid(0.1, 10, [1]);
const FAR_WIDTHS = grid(0.1, 100, [1]);
const RIDGES = grid(1e-5, 10);

/** Test and training error along the width. */
function peakFigure({ first }) {
  const found = along("width", first, WIDTHS, { training: true });
  const y = { label: "error", range: [0, TOP] };
  const spec = frame("Test and training error by width", first, { range: [0.1, 10] }, y);
  spec.lines.push(
    line("total", "test error", found, partColor("total"), { peak: true }),
    line("training", "training error", { x: WIDTHS, total: found.training }, OTHER),
  );
  spec.marks.here.push({ x: first.width, y: training(first), color: OTHER });
  return spec;
}

/** The test error alone, on a logarithmic axis: without much ridge the peak is high. */
function fitFigure({ first }) {
  const y = { label: "test error", scale: "log", range: [0.1, 100] };
  const spec = frame("Test error by width", first, { range: [0.1, 10] }, y);
  spec.lines.push(line("total", "", along("width", first, WIDTHS), partColor("total")));
  return spec;
}

/** The four causes as a stack, with the total of a reference as a ghost. */
function stackFigure({ first }, reference, top = TOP) {
  const found = along("width", first, WIDTHS);
  const spec = frame("Test error by cause", first, { range: [0.1, 10] }, { range: [0, top] });
  spec.regimes = REGIMES.map((regime) => ({ ...regime, label: "", short: "" }));
  let low = new Float64Array(WIDTHS.length);
  spec.areas = STACK.map((name) => {
    const value = found.parts[name];
    const high = low.map((base, i) => base + value[i]);
    const color = partColor(name);
    const area = { name, label: name, color, textColor: textColor(color), x: WIDTHS, low, high, value };
    low = high;
    return area;
  });
  spec.areas.reverse();
  spec.lines.push(line("total", "", found, partColor("total"), { width: 1.5, peak: true }));
  if (reference) spec.lines.push(ghost(along("width", reference, WIDTHS)));
  return spec;
}

/** The causes along the width, and the error along the ridge for one, K and infinitely many models. */
function ridgeFigures({ first }) {
  const y = { scale: "log", range: [0.2, 20] };
  const spec = frame("Test error by ridge", first, { label: "ridge λ", symbol: "λ", range: [1e-5, 10] }, y);
  spec.regimes = [];
  spec.marks = { here: [{ x: first.ridge, y: error(first).total }], best: [] };
  for (const members of new Set([1, first.members, Infinity])) {
    const setting = { ...first, members };
    const chosen = members === first.members;
    const label = members === Infinity ? "K → ∞" : `K = ${shown(members)}`;
    const color = chosen ? partColor("total") : SOFT;
    spec.lines.push(line(label, label, along("ridge", setting, RIDGES), color, { width: chosen ? 3 : 1.75 }));
    const { ridge, error: least } = best(setting);
    const x = Math.max(ridge, RIDGES[0]); // a best ridge of 0 is at the left end
    spec.marks.best.push({ x, y: least.total, label: chosen ? "best λ" : "" });
  }
  return [stackFigure({ first }, { ...first, ...NOISY }, 7), spec];
}

const totals = ({ members, width }) => (members === Infinity ? Infinity : members * width);

/** One wide model and K narrow ones along the total number of features. */
function wideFigure({ first }) {
  const K = first.members;
  const x = grid(0.1, 100, [1, K]);
  const narrow = along("width", first, x.map((total) => total / K));
  const wide = along("width", { ...first, members: 1 }, x);
  const spec = frame("One wide model or several narrow ones", first, { range: [0.1, 100] }, { range: [0, TOP] });
  Object.assign(spec.x, { label: "features of all models per sample, KP/N", symbol: "KP/N" });
  spec.regimes = [];
  spec.lines.push(
    line("wide", "one wide model", { x, total: wide.total }, ONE, { peak: true }),
    line("narrow", `${shown(K)} narrow models`, { x, total: narrow.total }, OTHER),
  );
  const total = totals(first);
  const one = { ...first, members: 1, width: total };
  spec.marks = {
    thresholds: [{ x: 1, label: "KP = N" }, ...(K > 1.5 && K <= 100 ? [{ x: K, label: "P = N" }] : [])],
    here: [
      { x: total, y: error(one).total, color: ONE },
      { x: total, y: error(first).total, color: OTHER },
    ],
  };
  return spec;
}

/** One model, K models on the same data, and K on a part of the data each. */
function divideFigure({ first }) {
  const K = first.members;
  const x = grid(0.1, 10, [1, 1 / K]);
  const shared = { ...first, scheme: "ensemble" };
  const divided = { ...first, scheme: "divide" };
  const spec = frame("Shared and divided data", first, { range: [0.1, 10] }, { range: [0, 4] });
  spec.regimes = [];
  spec.lines.push(
    line("single", "one model", along("width", { ...shared, members: 1 }, x), SOFT, { width: 1.5, peak: true }),
    line("shared", "all data for each", along("width", shared, x), ONE),
    line("divided", "N/K samples each", along("width", divided, x), OTHER),
  );
  spec.marks = {
    thresholds: [{ x: 1, label: "P = N" }, ...(K > 1.3 && K <= 10 ? [{ x: 1 / K, label: "P = N/K" }] : [])],
    here: [
      { x: first.width, y: error(shared).total, color: ONE },
      { x: first.width, y: error(divided).total, color: OTHER },
    ],
  };
  return spec;
}

/** The width of least error. */
function bestWidth(setting) {
  const view = { along: "width", split: "causes", x: "log", first: setting, second: null };
  return curve(view, setting, { x: FAR_WIDTHS }).best;
}

function underFigure({ first }) {
  const spec = frame("The best width", first, { range: [0.1, 100] }, { range: [0, 3] });
  const found = along("width", first, FAR_WIDTHS);
  const least = bestWidth(first);
  spec.lines.push(line("total", models(first.members), found, partColor("total"), { peak: true }));
  if (first.members > 1) {
    spec.lines.push(ghost(along("width", { ...first, members: 1 }, FAR_WIDTHS)));
  }
  spec.marks.here = [];
  spec.marks.best = [{ x: least.x, y: least.y, label: "least error" }];
  return spec;
}

// --- sentences -------------------------------------------------------------------------------------

function fitSentence({ first }) {
  const now = error(first).total;
  const wide = error({ ...first, width: 10 }).total;
  const here = `${widthIs(first)}, the mean test error of the theory is ${shown(now)}`;
  if (first.width >= 10) return `${here}: with many more features than points the fit is calm again.`;
  return `${here}, ${now > wide ? `${times(now / wide)} that at P/N = 10` : `and ${shown(wide)} at P/N = 10`}.`;
}

function peakSentence({ first }) {
  const test = error(first).total;
  const train = training(first);
  const fitted = train < 0.03 * (1 + 1 / first.snr ** 2); // of the power of the labels
  let where = "many fits pass through the labels, and the one with the smallest weights is taken";
  if (first.width < 0.9) where = "the model is too small to fit every label";
  else if (!fitted) where = "the ridge keeps the model from fitting every label";
  else if (first.width <= 1.1) where = "the model only just fits every label";
  return `${widthIs(first)}, the training error is ${shown(train)} and the test error ${shown(test)}: ${where}.`;
}

function causesSentence({ first }) {
  const parts = error(first);
  if (parts.total === Infinity) return `${widthIs(first)}, noise and initialization are infinite.`;
  const list = ["noise", "initialization", "sampling", "bias"].map((name) => `${name} ${percent(parts[name] / parts.total)}`);
  const clean = first.snr === Infinity ? " Without any label noise, the random features alone cause the peak." : "";
  return `${widthIs(first)}, the error of ${shown(parts.total)} is ${list.join(", ")}.${clean}`;
}

function averagingSentence({ first }) {
  const alone = error({ ...first, members: 1 });
  const now = error(first);
  if (first.members === 1) {
    return `${widthIs(first)}, one model has error ${shown(now.total)}. Average more of them to see which parts fall.`;
  }
  const stay = `bias ${shown(now.bias)}, sampling ${shown(now.sampling)}`;
  return (
    `${widthIs(first)}, ${models(first.members)} have error ${shown(now.total)} instead of ${shown(alone.total)}: ` +
    `initialization falls from ${shown(alone.initialization)} to ${shown(now.initialization)}, noise from ` +
    `${shown(alone.noise)} to ${shown(now.noise)}; ${stay} stay.`
  );
}

function ridgeSentence({ first }) {
  const own = best(first);
  const single = best({ ...first, members: 1 }).error.total;
  const many = error({ ...first, members: Infinity, ridge: 0 }).total;
  const both = best({ ...first, members: Infinity }).error.total;
  return (
    `${widthIs(first)} and λ = ${shown(first.ridge)}, ${models(first.members)}: ${shown(error(first).total)}, and ` +
    `${shown(own.error.total)} at the best λ = ${shown(own.ridge)}. The best λ alone (K = 1) reaches ${shown(single)}, ` +
    `averaging alone (K → ∞, λ = 0) ${shown(many)}, both ${shown(both)}.`
  );
}

function wideSentence({ first }) {
  const total = totals(first);
  const one = { ...first, members: 1, width: total };
  const wide = error(one).total;
  const narrow = error(first).total;
  if (first.members === 1) return `One model of P/N = ${shown(first.width)} has error ${shown(wide)}. Choose K > 1 to compare.`;
  const better = wide < narrow ? "one wide model is better" : "several narrow ones are better";
  return (
    `With KP = ${multiple(total)} features in all, one model has error ${shown(wide)} and ${models(first.members)} of ` +
    `P = ${multiple(first.width)} have ${shown(narrow)}: ${better}. At the best λ of each: ` +
    `${shown(best(one).error.total)} and ${shown(best(first).error.total)}.`
  );
}

function divideSentence({ first }) {
  const shared = error({ ...first, scheme: "ensemble" });
  const divided = error({ ...first, scheme: "divide" });
  if (first.members === 1) return `One model has all the data: error ${shown(shared.total)}. Choose K > 1 to divide them.`;
  const verdict = divided.total < shared.total ? "Dividing is better here" : "Sharing is better here";
  return (
    `${widthIs(first)}, ${models(first.members)} that share the data have error ${shown(shared.total)}, and with divided data ` +
    `${shown(divided.total)}: noise changes from ${shown(shared.noise)} to ${shown(divided.noise)}, bias from ` +
    `${shown(shared.bias)} to ${shown(divided.bias)}. ${verdict}.`
  );
}

function underSentence({ first }) {
  const least = bestWidth(first);
  const limit = error({ ...first, width: Infinity }).total;
  const who = `${capital(models(first.members))} at F/τ = ${shown(first.snr)}`;
  const verb = first.members === 1 ? "has" : "have";
  if (least.x < 0.999) {
    const where = least.edge ? `P/N ≤ ${shown(least.x)}` : `P/N = ${shown(least.x)}`;
    return `${who} ${verb} the least error, ${shown(least.y)}, at ${where}: fewer features than samples. For P → ∞ it is ${shown(limit)}.`;
  }
  return `${who} ${verb} the least error, ${shown(Math.min(limit, least.y))}, with more features than samples${limit <= least.y ? ", for P → ∞" : ""}.`;
}

// --- the steps ---------------------------------------------------------------------------------------

/**
 * The steps in their order: {id, title, text, controls, setting, figure, sentence, show, claims, paper}.
 *
 * `ranges` narrows sliders and `most` bounds values; `explore` adds to the view that "Open in explore"
 * shows; `show` lists moves {control, from, to, seconds}, one after another; `claims` and `paper` are the
 * claims, by number, and the parts of the paper that the step is about.
 */
export const steps = [
  {
    id: "fit",
    title: "What is fitted?",
    text: [
      "A model is a sum of {P|P} {random features}: random curves that stay as they are. Training on {N|N} noisy points only chooses their {weights}.",
      "With few features the fit is stiff. With as many features as points it just reaches every point, and swings wildly between them. With many more it is calm again.",
      "The dot marks the same P/N on the exact error curve of the paper’s model, whose inputs have many dimensions.",
    ],
    controls: ["width", "members", "snr"],
    setting: { ...BASE, ridge: 1e-5, snr: 3 },
    ranges: { members: [1, MOST_MEMBERS] },
    figure: fitFigure,
    sentence: fitSentence,
    show: [
      { control: "width", from: 0.2, to: 10, seconds: 6 },
      { control: "width", from: 10, to: 1, seconds: 2 },
      { control: "members", from: 1, to: MOST_MEMBERS, seconds: 4 },
    ],
    paper: ["Section 2"],
  },
  {
    id: "peak",
    title: "Where is the peak, and why there?",
    text: [
      "Without {ridge}, the {training error} reaches zero at P = N: the {interpolation threshold}. There only one choice of weights fits all labels, noise included, and it may need huge weights: {overfitting} at its worst.",
      "Beyond, many choices fit. Training takes the {smallest weights}, and the {test error} falls a second time. This is {double descent}.",
    ],
    controls: ["width", "snr", "ridge"],
    setting: BASE,
    figure: peakFigure,
    explore: () => ({ training: "1", y: "linear", top: TOP }),
    sentence: peakSentence,
    show: [
      { control: "width", from: 0.1, to: 10, seconds: 6 },
      { control: "width", from: 10, to: 1, seconds: 2 },
    ],
    claims: [1],
    paper: ["Figure 2"],
  },
  {
    id: "causes",
    title: "What is the peak made of?",
    text: [
      "Three things are random: the {label noise}, the features ({initialization}) and the training inputs ({sampling}). Each causes {variance}: with another draw, the prediction would differ. What is left is {bias}, the error of the average prediction.",
      "The peak is noise and initialization: the “double trouble” of the paper. Sampling and bias do not peak, and beyond P = N they are constant as λ → 0.",
    ],
    controls: ["width", "snr", "ridge"],
    setting: BASE,
    figure: (view) => stackFigure(view),
    explore: () => ({ form: "areas", y: "linear", top: TOP }),
    sentence: causesSentence,
    show: [{ control: "snr", from: 1, to: Infinity, seconds: 6 }],
    claims: [1, 3],
    paper: ["Figure 3"],
  },
  {
    id: "averaging",
    title: "What does averaging remove, and what stays?",
    text: [
      "Train {K|K} models with different random features on the same data, and average their predictions: an {ensemble}. The initialization variance falls as 1/K, and with it the noise that depends on the features. The peak goes.",
      "What stays, even for K → ∞: bias, sampling variance, and the noise that all models fit alike, because they share their labels.",
    ],
    controls: ["members", "width", "snr"],
    setting: BASE,
    figure: (view) => stackFigure(view, view.first.members > 1 ? { ...view.first, members: 1 } : null),
    explore: () => ({ form: "areas", y: "linear", top: TOP }),
    sentence: averagingSentence,
    show: [{ control: "members", from: 1, to: Infinity, seconds: 7 }],
    caption: "Dotted: one model.",
    claims: [9, 10],
    paper: ["Figure 5", "Figure 6"],
  },
  {
    id: "ridge",
    title: "Can a penalty do the same?",
    text: [
      "The {ridge} {λ|λ} makes large {weights} costly, and huge ones made the peak. A small λ leaves variance, a large one adds bias; between them is a best λ.",
      "The more models are averaged, the smaller the best λ. Which one alone is better depends on the noise: with clean labels averaging, with noisy labels and many features the best λ. Both at once are at least as good as either.",
    ],
    controls: ["ridge", "members", "snr", "width"],
    setting: { ...BASE, ...NOISY },
    plots: 2,
    figure: ridgeFigures,
    sentence: ridgeSentence,
    show: [
      { control: "ridge", from: NOISY.ridge, to: 10, seconds: 5 },
      { control: "ridge", from: 10, to: 0.063, seconds: 3 },
      { control: "members", from: 1, to: Infinity, seconds: 4 },
    ],
    caption: "Dotted: one model at λ = 0.003, F/τ = 1. Diamonds: the best λ.",
    explore: () => ({ along: "ridge" }),
    claims: [15, 21],
    paper: ["Figure 8"],
  },
  {
    id: "width-or-models",
    title: "One wide model, or many narrow ones?",
    text: [
      "Spend the same number of features on one model of KP, or on K models of P each. The wide model peaks where KP = N, the narrow ones where P = N. So near KP = N several narrow models are better, and near P = N the wide one.",
      "Beyond P = N, as λ → 0, the wide model is always better; and at the best λ for each, it is so at any size.",
    ],
    controls: ["width", "members", "ridge", "snr"],
    setting: { ...BASE, members: 4, width: 0.25 },
    ranges: { members: [1, 20] },
    most: { members: 100 },
    figure: wideFigure,
    explore: (first) => ({ second: { ...first, members: 1, width: totals(first) } }),
    sentence: wideSentence,
    show: [
      { control: "width", from: 0.1, to: 10, seconds: 7 },
      { control: "width", from: 10, to: 1, seconds: 2 },
    ],
    claims: [13, 14],
    paper: ["Figure 7"],
  },
  {
    id: "divide",
    title: "Should every model have all the data?",
    text: [
      "{divide and conquer|Divide and conquer}: each of K models has N/K samples of its own. Their noise is independent, so averaging removes that, too. But each model learns less: the bias grows. The peak moves to P = N/K.",
      "With many features and two models, dividing is better when labels are noisy, and worse when they are clean.",
    ],
    controls: ["snr", "members", "width"],
    setting: { ...BASE, width: 5, members: 2, snr: 1 },
    ranges: { members: [1, 20] },
    figure: divideFigure,
    explore: (first) => ({ first: { ...first, scheme: "divide" }, second: { ...first, scheme: "ensemble" } }),
    sentence: divideSentence,
    show: [
      { control: "snr", from: 10, to: 0.5, seconds: 6 },
      { control: "snr", from: 0.5, to: 1, seconds: 1 },
    ],
    claims: [19, 20],
    paper: ["Figure 11"],
  },
  {
    id: "under-or-over",
    title: "More features than samples, or fewer?",
    text: [
      "For one model the best width is often the largest: {overparametrized}. But few features act like a ridge, and averaging removes the variance that a single narrow model has.",
      "Infinitely many models without ridge are best with fewer features than samples, {underparametrized}, if the {signal-to-noise ratio} is below 1.66 (for ReLU features).",
    ],
    controls: ["members", "snr", "ridge"],
    setting: { ...BASE, ridge: 1e-5, snr: 1 },
    figure: underFigure,
    sentence: underSentence,
    show: [{ control: "members", from: 1, to: Infinity, seconds: 7 }],
    caption: "Dotted: one model.",
    claims: [16, 17],
    paper: ["Figure 12"],
  },
  {
    id: "claims",
    title: "What does the paper claim, and what is true?",
    text: [
      "The claims about the causes of double descent are true. Those about remedies hold at the paper’s F/τ = 10, and not always with more noise. What it observes in neural networks is reproduced, but is in part due to the optimizer. Each verdict is checked by code.",
    ],
    controls: [],
    setting: {},
    paper: ["Abstract"],
  },
];

/** What is true instead of a false claim, or the condition of one, by its number. */
function claimNotes(declarations) {
  const noisy = { ...defaultView(declarations).first, width: 10, ridge: 1e-5, snr: 1 };
  const many = error({ ...noisy, members: Infinity }).total;
  const one = best(noisy).error.total;
  return {
    2: "If interactions are counted apart, random features alone have a finite effect; only their interactions with the data diverge.",
    6: "If N ≥ D. With fewer samples, a linear network leaves a part unlearned, too.",
    8: "A fixed λ lowers the peak and moves it to smaller P/N. The best λ at each P/N removes it.",
    12: "If F/τ is above 1.66 (ReLU). Below, the effective ridge of narrow models helps.",
    15: `At F/τ = 1 and P = 10 N, infinitely many models have ${shown(many)}, and one at its best λ has ${shown(one)}. At F/τ = 10 it is true.`,
    16: "If F/τ is below 1.66 (ReLU).",
    18: "At the paper’s F/τ = 1, more features are better at any N/D. It is true of noisier labels: at F/τ = 0.6 for N/D up to 2.",
    22: "Away from P = N.",
    23: "Averaged in the same way, Gaussian and true random features vary alike from run to run.",
    24: "As printed, they do not give the paper’s own curves; with eight corrections they do.",
    25: "If they are linearized. At α = 100 the error of averaged networks rises slowly with the width.",
    26: "At the peak only 2 of 20 networks interpolate; a part of it is due to the optimizer.",
    27: "For gradient descent. With Adam the weights move as far at any α.",
  };
}

const VERDICTS = ["false", "true with a condition", "true"];

/** The table of claims, false ones first. */
function claimsTable(declarations) {
  const notes = claimNotes(declarations);
  const docs = document.querySelector('meta[name="doubletrouble-docs"]')?.content;
  const rank = ({ verdict }) => VERDICTS.indexOf(verdict);
  const rows = [...declarations.claims]
    .sort((a, b) => rank(a) - rank(b) || a.number - b.number)
    .map(({ number, claim, verdict, anchor }) => {
      const name = docs ? html("a", { href: `${docs}claims.html#${anchor}` }, claim) : claim;
      const kind = ["false", "conditional", "true"][rank({ verdict })];
      return html(
        "tr",
        { id: `claim-${number}` },
        html("td", {}, html("span", { class: `verdict verdict-${kind}` }, verdict)),
        html("th", { scope: "row" }, name),
        html("td", {}, notes[number] ?? ""),
      );
    });
  const heads = ["verdict", "claim of the paper", "what holds"].map((text) => html("th", { scope: "col" }, text));
  const count = (verdict) => declarations.claims.filter((claim) => claim.verdict === verdict).length;
  const summary = `Of ${rows.length} claims ${count("true")} are true, ${count("true with a condition")} true with a condition, ${count("false")} false.`;
  const table = html("table", { class: "claims" }, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
  return html("div", {}, html("p", { class: "step-sentence" }, summary), table);
}

const SUMMARY = [
  ["Why is there a peak?", "At P = N the model only just fits every label. It then depends strongly on what is random: the label noise and the random features."],
  ["What removes it?", "Averaging many models with different features, a good ridge λ, or many more features than samples. Each reduces the variances of noise and initialization."],
  ["What stays?", "Bias, sampling variance, and the label noise that all models share. A ridge reduces that noise at the price of bias; more data reduce the bias."],
];

// --- the step in the address -------------------------------------------------------------------------

const NAMES = Object.keys(BASE); // all other values are the defaults

/** The setting that a view has for a step: its own if the step was changed, else its start. */
export function settingOf(step, view, declarations) {
  const plain = defaultView(declarations).first;
  const found = { ...plain, ...step.setting };
  const isOwn = view.step === step.id && (view.top || !isPlain(view.first, plain));
  const isNamed = !view.step && view.embed === step.id; // ?embed=causes&members=10
  for (const name of view.first.per === plain.per ? NAMES : []) {
    if (isOwn || (isNamed && view.first[name] !== plain[name])) found[name] = view.first[name];
    found[name] = Math.min(found[name], step.most?.[name] ?? Infinity);
  }
  return found;
}

function isPlain(setting, plain) {
  return SETTING.every((name) => setting[name] === plain[name]);
}

/** What changes the first setting of a view to another one; the unit of the width only if it differs. */
function patchOf(view, first) {
  const { per, ...others } = first;
  return per === view.first.per ? others : first;
}

/** The store as the controls of one step see it. */
function storeOf(step, store, onSet) {
  const { declarations } = store;
  const controls = { ...declarations.controls };
  for (const [name, typical] of Object.entries({ width: [0.1, 10], ...step.ranges })) {
    const high = step.most?.[name];
    controls[name] = { ...controls[name], typical, ...(high && { high, or_inf: false, stops: {} }) };
  }
  const plain = defaultView(declarations).first;
  return {
    declarations: { ...declarations, controls },
    get: () => ({ ...store.get(), first: settingOf(step, store.get(), declarations) }),
    set(patch, how) {
      onSet?.();
      const first = { ...settingOf(step, store.get(), declarations), ...patch.first };
      // a setting of all defaults would be read as the start of the step: `top` tells them apart
      const top = isPlain(first, plain) ? TOP : 0;
      store.set({ view: "story", step: step.id, first: patchOf(store.get(), first), second: null, top }, how);
    },
  };
}

// --- "show me" ---------------------------------------------------------------------------------------

const FEW = 5; // values of a move where motion is reduced
const PAUSE = 900; // ms between them

/** Animate sliders through the moves of a step; returns a function that stops it. */
function animate(step, store, onEnd) {
  const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const moves = step.show;
  const origin = Object.fromEntries(moves.map(({ control, from }) => [control, from]).reverse());
  let handle = 0;
  let at = 0; // the move
  let began = performance.now();
  let stopped = false;

  function valueAt({ control, from, to }, share) {
    if (share >= 1) return to;
    const { typical, whole } = store.declarations.controls[control];
    const value = from * (Math.min(to, typical[1]) / from) ** share; // ∞ is reached from the end of the slider
    return whole ? Math.round(value) : Number(value.toPrecision(3));
  }
  function end() {
    stopped = true;
    cancelAnimationFrame(handle);
    clearTimeout(handle);
    onEnd();
  }
  function next(wait) {
    handle = reduced ? setTimeout(frameAt, wait) : requestAnimationFrame(frameAt);
  }
  function frameAt() {
    if (stopped) return;
    const passed = performance.now() - began;
    const share = Math.min(reduced ? Math.round(passed / PAUSE) / (FEW - 1) : passed / (1000 * moves[at].seconds), 1);
    const finished = share >= 1;
    const last = finished && at === moves.length - 1;
    store.set({ first: { [moves[at].control]: valueAt(moves[at], share) } }, { commit: last });
    if (last) return end();
    if (finished) {
      at += 1;
      began = performance.now();
    }
    next(PAUSE);
  }
  store.set({ first: { ...step.setting, ...origin } }, { commit: false });
  next(PAUSE);
  return end;
}

// --- rendering ---------------------------------------------------------------------------------------

const INTRO = [
  "Make a model larger, and its error on new data first falls, then rises to a peak, and then falls again: {double descent}.",
  "Why is there a peak, what removes it, and what stays? Eight live figures answer. Their curves are exact for a simple model, regression with {random features}. Move the sliders, or press “Show me”.",
];

/**
 * Draw the story, or one step of it.
 *
 * @param {HTMLElement} container
 * @param {object} store - of state.js.
 * @param {string} [embed] - the id of the only step.
 * @returns {{update: function, destroy: function}}
 */
export function renderStory(container, store, embed) {
  const only = steps.filter(({ id }) => id === embed);
  const shownSteps = only.length ? only : steps;
  const sections = shownSteps.map((step) => createStep(step, store, only.length > 0));
  const nodes = sections.map(({ element }) => element);
  if (!only.length) {
    nodes.unshift(introduction());
    nodes.splice(nodes.length - 1, 0, summary());
  }
  container.classList.add("story");
  container.replaceChildren(...nodes);

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        sections.find(({ element }) => element === target).setVisible(isIntersecting);
      }
    },
    { rootMargin: "300px 0px" },
  );
  for (const { element } of sections) observer.observe(element);

  const paintAll = () => sections.forEach((section) => section.paint?.());
  addEventListener("beforeprint", paintAll);
  for (const section of sections) section.update();
  const unsubscribe = store.subscribe((view, previous, how) => {
    for (const section of sections) section.update(how);
    if (how.restored && view.step && view.step !== previous.step) scrollTo(view.step);
  });
  if (!only.length && store.get().step) requestAnimationFrame(() => scrollTo(store.get().step));

  function scrollTo(id) {
    document.getElementById(`step-${id}`)?.scrollIntoView({ block: "start", behavior: "instant" });
  }
  return {
    update: () => sections.forEach((section) => section.update()),
    destroy() {
      observer.disconnect();
      removeEventListener("beforeprint", paintAll);
      unsubscribe();
      for (const section of sections) section.destroy();
      container.replaceChildren();
    },
  };
}

function introduction() {
  const items = steps.map(({ id, title }) => html("li", {}, html("a", { href: `#step-${id}` }, title)));
  return html(
    "div",
    { class: "story-intro" },
    ...INTRO.map((text) => html("p", {}, ...phrase(text))),
    html("nav", { "aria-label": "Steps" }, html("ol", {}, ...items)),
  );
}

function summary() {
  const items = SUMMARY.flatMap(([question, answer]) => [html("dt", {}, question), html("dd", {}, answer)]);
  return html("section", { class: "story-summary", "aria-labelledby": "in-short" }, html("h2", { id: "in-short" }, "In short"), html("dl", {}, ...items));
}

/** What a figure leaves unsaid: the values without a slider. */
function captionOf({ controls, caption = "" }, { ridge, snr }) {
  const fixed = { ridge: `λ = ${shown(ridge)}`, snr: `F/τ = ${shown(snr)}` };
  const listed = Object.keys(fixed).filter((name) => !controls.includes(name)).map((name) => fixed[name]);
  return `${caption} ${[...listed, "N = D", "ReLU features"].join(", ")}.`.trim();
}

function fitCaption({ features, training: near, test }, { width, members }) {
  const more = width * N_SAMPLES > MOST_FEATURES || members > MOST_MEMBERS;
  const limit = more ? ` At most ${MOST_FEATURES} features and ${MOST_MEMBERS} models are drawn.` : "";
  return (
    `One draw of ${N_SAMPLES} points, ${features} features: squared error ${shown(near)} at the points, ` +
    `${shown(test)} from the true function. Other draws differ.${limit}`
  );
}

/** One step: its text, figure, sentence and controls. */
function createStep(step, store, embedded) {
  let stop = null; // ends a running animation
  let animated = false; // whether the change comes from it
  let seed = 3;
  let visible = false;
  let handle = 0;
  let last = ""; // the setting that is shown
  const local = storeOf(step, store, () => !animated && stop?.());
  const moving = { ...local, set: (patch, how) => quietly(() => local.set(patch, how)) };
  const quietly = (action) => {
    animated = true;
    action();
    animated = false;
  };

  const heading = html("h2", { id: `title-${step.id}` }, step.title);
  const number = embedded ? null : html("p", { class: "step-number" }, `${steps.indexOf(step) + 1} of ${steps.length}`);
  const paragraphs = embedded ? [] : step.text.map((part) => html("p", {}, ...phrase(part)));
  const text = html("div", { class: "step-text" }, number, heading, ...paragraphs);
  const element = html("section", { class: "step", id: `step-${step.id}`, "aria-labelledby": heading.id }, text);
  if (!step.figure) {
    element.classList.add("step-wide");
    element.append(claimsTable(store.declarations), links());
    return { element, setVisible() {}, update() {}, destroy() {} };
  }

  const sentence = html("p", { class: "step-sentence" });
  const spoken = html("p", { class: "unseen", role: "status" });
  const message = html("p", { class: "step-message", role: "alert" });
  const showButton = html("button", { type: "button", class: "show-me", onclick: toggleShow }, "Show me");
  const resetButton = html("button", { type: "button", class: "quiet", onclick: reset }, "Reset");
  const drawing = step.id === "fit" ? html("div", { class: "step-fit" }) : null;
  const againButton = drawing && html("button", { type: "button", class: "quiet", onclick: drawAgain }, "Draw again");
  const controls = step.controls.map((name) => numberControl(local, name, { id: `story-${step.id}` }));
  const holders = Array.from({ length: step.plots ?? 1 }, () => html("div", { class: "step-plot" }));
  const notes = html("p", { class: "step-caption" });
  const figure = html("div", { class: drawing || step.plots ? "step-figure double" : "step-figure" }, drawing, ...holders);
  const aside = html(
    "div",
    { class: "step-side" },
    sentence,
    spoken,
    html("div", { class: "step-controls" }, ...controls.map((one) => one.element)),
    message,
    html("div", { class: "step-buttons" }, showButton, resetButton, againButton),
    notes,
    links(),
  );
  element.append(figure, aside);
  const plots = holders.map((holder) => createPlot(holder));
  const fit = drawing && createFit(drawing);
  if (fit) notes.textContent = fitCaption({ features: N_SAMPLES, training: 0.001, test: 1 }, step.setting); // its room
  write(local.get());

  function links() {
    const { url } = store.declarations.citation;
    const items = step.paper.map((part) => html("a", { href: url }, `${part} of the paper`));
    if (embedded) items.push(html("a", { href: `?step=${step.id}`, target: "_blank" }, "The whole story"));
    else if (step.figure) {
      const about = store.declarations.claims.filter((claim) => step.claims?.includes(claim.number));
      items.push(...about.map(({ number: n, verdict }) => html("a", { href: `#claim-${n}` }, `Claim ${n}: ${verdict}`)));
      items.push(html("a", { href: "?view=explore", class: "to-explore", onclick: toExplore }, "Open in explore"));
    }
    return html("p", { class: "step-links" }, ...items);
  }
  function toExplore(event) {
    event.preventDefault();
    const { first } = local.get();
    const view = { view: "explore", step: "", top: 0, along: "width", first, second: null, ...step.explore?.(first) };
    store.set({ ...view, first: patchOf(store.get(), view.first) });
    window.scrollTo({ top: 0, behavior: "instant" });
  }
  function toggleShow() {
    if (stop) return stop();
    showButton.textContent = "Stop";
    const end = () => {
      stop = null;
      showButton.textContent = "Show me again";
    };
    quietly(() => (stop = animate(step, moving, end)));
  }
  function reset() {
    stop?.();
    const { first } = defaultView(store.declarations);
    store.set({ view: "story", step: "", top: 0, first: patchOf(store.get(), first), second: null });
  }
  function drawAgain() {
    seed += 1;
    schedule();
  }

  /** The sentence and the caption: they are written before the figure is seen, to keep their place. */
  function write(view) {
    const words = unbroken(step.sentence(view));
    if (sentence.textContent !== words) sentence.textContent = words;
    if (!fit) notes.textContent = unbroken(captionOf(step, view.first));
  }
  function paint() {
    handle = 0;
    const view = local.get();
    write(view);
    const description = sentence.textContent;
    [step.figure(view)].flat().forEach((spec, i) => plots[i].update({ ...spec, description }));
    if (!fit) return;
    const { width, members, ridge, snr } = view.first;
    const found = fit.update({ featuresPerSample: width, members, ridge, noise: 1 / snr, seed });
    notes.textContent = unbroken(fitCaption(found, view.first));
  }
  function schedule() {
    if (visible) handle ||= requestAnimationFrame(paint);
  }
  return {
    element,
    paint,
    setVisible(now) {
      visible = now;
      schedule();
      if (!now) stop?.();
    },
    update(how) {
      const view = local.get();
      const isActive = view.step === step.id;
      resetButton.hidden = !isActive;
      if (how?.restored) stop?.();
      message.textContent = isActive || embedded ? store.messages().join(" ") : "";
      if (how?.commit && isActive) spoken.textContent = step.sentence(view);
      const key = SETTING.map((name) => view.first[name]).join();
      if (key === last && !isActive) return; // another step was changed
      last = key;
      for (const one of controls) one.update(view);
      if (!visible) write(view);
      schedule();
    },
    destroy() {
      stop?.();
      cancelAnimationFrame(handle);
      for (const plot of plots) plot.destroy();
      fit?.destroy();
    },
  };
}
