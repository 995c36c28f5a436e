/**
 * The story: questions about double descent, each with a live figure, a sentence that follows the
 * sliders, and an animation of them.
 *
 * Every step has a setting to start from. The step that was changed is the one in the address (`step`,
 * with its setting); all others show their start, so that the story is a function of the view alone.
 * `figure(view)` returns the specification of a plot, or of two, and `sentence(view)` the text for it;
 * both take a view whose first setting is that of the step.
 */
import { numberControl } from "./controls.js";
import { curve, gridBetween, problemOf, schemeOf, stacked } from "./curves.js";
import { button, html, setText, table } from "./elements.js";
import { fitPlot, fitsOf, MOST_FEATURES, MOST_MEMBERS, N_SAMPLES } from "./fit.js";
import { createPlot } from "./plot.js";
import { defaultView, SETTING, shownNumber } from "./state.js";
import { exactError, optimalRidge, trainingError } from "./theory.js";
import { phrase, unbroken } from "./words.js";

const BASE = { width: 1, members: 1, ridge: 1e-3, snr: 2 }; // a peak that fits on a linear axis
const NOISY = { members: 1, ridge: 3e-3, snr: 1 }; // of the step about the ridge
const STACK = ["bias", "sampling", "initialization", "noise"]; // from the bottom
const TOP = 6;

// --- numbers of a setting ---

const at = (compute) => (setting) => compute(problemOf(setting), schemeOf(setting));
const [error, training, best] = [at(exactError), at(trainingError), at(optimalRidge)];
const shown = (value) => shownNumber(value, 3);
const NUMERALS = ["", "one model", "two models", "three models", "four models", "five models"];
const models = (K) => (K === Infinity ? "infinitely many models" : (NUMERALS[K] ?? `${shown(K)} models`));
const multiple = (ratio) => (ratio === 1 ? "N" : `${shown(ratio)} N`);
const have = ({ members }) => (members === 1 ? "has" : "have");
const times = (factor) => (factor < 1000 ? `${shown(Number(factor.toPrecision(2)))} times` : "over 1000 times");

function widthIs({ width }) {
  return width === Infinity ? "With infinitely many features" : `At P/N = ${shown(width)}`;
}

// --- figures ---

const SOFT = "var(--soft)";
const partColor = (name) => `var(--causes-${name})`;
const ONE = partColor("initialization"); // one model, or shared data
const OTHER = partColor("noise"); // what it is compared with

const REGIMES = [
  { from: 0, to: 1, label: "underparametrized", short: "P < N" },
  { from: 1, to: Infinity, label: "overparametrized", short: "P > N", shaded: true },
];

const WIDTHS = gridBetween(0.1, 10, [1]);
const FAR_WIDTHS = gridBetween(0.1, 100, [1]);
const RIDGES = gridBetween(1e-5, 10);

/** The curve of a setting along the width or the ridge. */
function along(name, setting, x, options) {
  const view = { along: name, split: "causes", x: "log", first: setting, second: null };
  return curve(view, setting, { x, best: false, ...options });
}

function frame(title, setting, x, y) {
  return {
    title,
    x: { label: "features per sample, P/N", symbol: "P/N", scale: "log", range: [0.1, 10], ...x },
    y: { label: "test error", scale: "linear", ...y },
    lines: [],
    regimes: REGIMES,
    marks: { thresholds: [{ x: 1, label: "P = N" }], here: [{ x: setting.width, y: error(setting).total }] },
  };
}

function line(name, label, { x, total }, color, options) {
  return { name, label, x, y: total, color, width: 2.5, ...options };
}

function ghost(found) {
  return line("ghost", "", found, "var(--ink)", { width: 2, dash: "2 4", ghost: true });
}

/** Test and training error along the width. */
function peakFigure({ first }) {
  const found = along("width", first, WIDTHS, { training: true });
  const y = { label: "error", range: [0, TOP] };
  const spec = frame("Test and training error by width", first, {}, y);
  spec.lines.push(
    line("total", "test error", found, partColor("total"), { peak: true }),
    line("training", "training error", { x: WIDTHS, total: found.training }, OTHER),
  );
  spec.marks.here.push({ x: first.width, y: training(first), color: OTHER });
  return spec;
}

const fitOptions = ({ width, members, ridge, snr }) => ({ featuresPerSample: width, members, ridge, noise: 1 / snr });

/** The fit, and the test error alone, on a logarithmic axis: without much ridge the peak is high. */
function fitFigures({ first }, seed) {
  const spec = frame("Test error by width", first, {}, { scale: "log", range: [0.1, 100] });
  spec.lines.push(line("total", "test error", along("width", first, WIDTHS), partColor("total")));
  return [fitPlot(fitOptions(first), seed), spec];
}

/** The four causes as a stack, with the total of a reference as a ghost. */
function stackFigure({ first }, reference, top = TOP) {
  const found = along("width", first, WIDTHS);
  const spec = frame("Test error by cause", first, {}, { range: [0, top] });
  spec.regimes = [{ from: 1, to: Infinity, label: "", shaded: true }];
  const areas = stacked(found, STACK).map((area) => ({ ...area, label: area.name, color: partColor(area.name) }));
  spec.areas = areas.reverse();
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
    const [color, width] = chosen ? [partColor("total"), 3] : [SOFT, 1.75];
    spec.lines.push(line(label, label, along("ridge", setting, RIDGES), color, { width }));
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
  const x = gridBetween(0.1, 100, [1, K]);
  const narrow = along("width", first, x.map((total) => total / K));
  const wide = along("width", { ...first, members: 1 }, x);
  const axis = { label: "features of all models per sample, KP/N", symbol: "KP/N", range: [0.1, 100] };
  const spec = frame("One wide model or several narrow ones", first, axis, { range: [0, TOP] });
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
  const x = gridBetween(0.1, 10, [1, 1 / K]);
  const shared = { ...first, scheme: "ensemble" };
  const divided = { ...first, scheme: "divide" };
  const spec = frame("Shared and divided data", first, {}, { range: [0, 4] });
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

/** The curve to large widths, with the width of least error. */
const widely = (setting) => along("width", setting, FAR_WIDTHS, { best: true });

function underFigure({ first }) {
  const spec = frame("The best width", first, { range: [0.1, 100] }, { range: [0, 3] });
  const found = widely(first);
  spec.lines.push(line("total", models(first.members), found, partColor("total"), { peak: true }));
  if (first.members > 1) spec.lines.push(ghost(widely({ ...first, members: 1 })));
  spec.marks.here = [];
  spec.marks.best = [{ ...found.best, label: "least error" }];
  return spec;
}

// --- sentences ---

function fitSentence({ first }) {
  const now = error(first).total;
  const wide = error({ ...first, width: 10 }).total;
  const here = `${widthIs(first)}, the mean test error of the theory is ${shown(now)}`;
  if (first.width >= 10) return `${here}: with many more features than points the fit is smooth again.`;
  const compared = now > wide ? `${times(now / wide)} that` : `and ${shown(wide)}`;
  return `${here}, ${compared} at P/N = 10.`;
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
  const list = [...STACK].reverse().map((name) => `${name} ${((100 * parts[name]) / parts.total).toFixed(0)} %`);
  const clean = first.snr === Infinity ? " Without any label noise, the random features alone cause the peak." : "";
  return `${widthIs(first)}, the error of ${shown(parts.total)} is ${list.join(", ")}.${clean}`;
}

function averagingSentence({ first }) {
  const alone = error({ ...first, members: 1 });
  const now = error(first);
  const here = `${widthIs(first)}, ${models(first.members)}`;
  if (first.members === 1) return `${here} has error ${shown(now.total)}. Average more to see which parts fall.`;
  const change = (name) => `from ${shown(alone[name])} to ${shown(now[name])}`;
  return (
    `${here} have error ${shown(now.total)} instead of ${shown(alone.total)}: initialization falls ` +
    `${change("initialization")}, noise ${change("noise")}. Bias ${shown(now.bias)} and sampling ` +
    `${shown(now.sampling)} stay.`
  );
}

function ridgeSentence({ first }) {
  const own = best(first);
  const single = best({ ...first, members: 1 }).error.total;
  const many = error({ ...first, members: Infinity, ridge: 0 }).total;
  const both = best({ ...first, members: Infinity }).error.total;
  return (
    `${widthIs(first)} and λ = ${shown(first.ridge)}, ${models(first.members)} ${have(first)} error ` +
    `${shown(error(first).total)}, and ${shown(own.error.total)} at the best λ = ${shown(own.ridge)}. The best λ ` +
    `alone (K = 1) reaches ${shown(single)}, averaging alone (K → ∞, λ = 0) ${shown(many)}, both ${shown(both)}.`
  );
}

function wideSentence({ first }) {
  const total = totals(first);
  const one = { ...first, members: 1, width: total };
  const wide = error(one).total;
  const narrow = error(first).total;
  if (first.members === 1) return `${widthIs(first)}, one model has error ${shown(wide)}. Choose K > 1 to compare.`;
  const better = wide < narrow ? "one wide model is better" : "several narrow ones are better";
  return (
    `With KP = ${multiple(total)} features in all, one model has error ${shown(wide)}, and ${models(first.members)} ` +
    `of P = ${multiple(first.width)} have ${shown(narrow)}: ${better}. At the best λ of each: ` +
    `${shown(best(one).error.total)} and ${shown(best(first).error.total)}.`
  );
}

function divideSentence({ first }) {
  const shared = error({ ...first, scheme: "ensemble" });
  const divided = error({ ...first, scheme: "divide" });
  const change = (name) => `from ${shown(shared[name])} to ${shown(divided[name])}`;
  if (first.members === 1) return `One model has all the data: error ${shown(shared.total)}. Choose K > 1 to divide.`;
  const verdict = divided.total < shared.total ? "Dividing is better here" : "Sharing is better here";
  return (
    `${widthIs(first)}, ${models(first.members)} that share the data have error ${shown(shared.total)}, and with ` +
    `divided data ${shown(divided.total)}: noise changes ${change("noise")}, bias ${change("bias")}. ${verdict}.`
  );
}

function underSentence({ first }) {
  const least = widely(first).best;
  const limit = error({ ...first, width: Infinity }).total;
  const name = models(first.members);
  const who = `${name[0].toUpperCase() + name.slice(1)} at F/τ = ${shown(first.snr)} ${have(first)} the least error`;
  if (least.x < 0.999) {
    const where = `P/N ${least.edge ? "≤" : "="} ${shown(least.x)}`;
    return `${who}, ${shown(least.y)}, at ${where}: fewer features than samples. For P → ∞ it is ${shown(limit)}.`;
  }
  const where = limit <= least.y ? ", for P → ∞" : "";
  return `${who}, ${shown(Math.min(limit, least.y))}, with more features than samples${where}.`;
}

const oneDotted = ({ members }) => (members > 1 ? "Dotted: one model." : "");

// --- the steps ---

/**
 * The steps in their order: {id, title, text, controls, setting, figure, sentence, show, claims, paper}.
 *
 * `ranges` narrows sliders and `most` bounds values; `explore` adds to the view that "Open in explore"
 * shows; `show` lists moves [control, from, to, seconds], one after another; `claims` and `paper` are the
 * claims, by number, and the parts of the paper that the step is about.
 */
export const steps = [
  {
    id: "fit",
    title: "What is fitted?",
    text: `
      A model is a sum of {P|P} {random features}: random curves that do not change. Training on {N|N} noisy points
      only chooses their {weights}.

      With few features the fit is stiff. With as many features as points it just reaches every point, and swings
      widely between them. With many more it is smooth again.

      The dot marks the same P/N on the exact error curve of the paper’s model, whose inputs have many dimensions.`,
    controls: ["width", "members", "snr"],
    setting: { ...BASE, ridge: 1e-5, snr: 3 },
    ranges: { members: [1, MOST_MEMBERS] },
    plots: 2,
    figure: fitFigures,
    sentence: fitSentence,
    show: [["width", 0.2, 10, 6], ["width", 10, 1, 2], ["members", 1, MOST_MEMBERS, 4]],
    paper: ["Section 2"],
  },
  {
    id: "peak",
    title: "Where is the peak, and why there?",
    text: `
      Without {ridge}, the {training error} reaches zero at P = N: the {interpolation threshold}. There only one
      choice of weights fits all labels, noise included, and its weights can be huge. This is {overfitting} at its
      worst.

      Beyond P = N, many choices fit. Training takes the {smallest weights}, and the {test error} falls a second
      time. This is {double descent}.`,
    controls: ["width", "snr", "ridge"],
    setting: BASE,
    figure: peakFigure,
    explore: () => ({ training: "1", y: "linear", top: TOP }),
    sentence: peakSentence,
    show: [["width", 0.1, 10, 6], ["width", 10, 1, 2]],
    claims: [1],
    paper: ["Figure 2"],
  },
  {
    id: "causes",
    title: "What is the peak made of?",
    text: `
      Three things are random: the {label noise}, the features ({initialization}) and the training inputs
      ({sampling}). Each causes {variance}: with another draw, the prediction would differ. What is left is {bias},
      the error of the average prediction.

      The peak is {noise} and initialization: the “double trouble” of the paper. Sampling and bias do not peak. Beyond
      P = N they are constant as λ → 0.`,
    controls: ["width", "snr", "ridge"],
    setting: BASE,
    figure: (view) => stackFigure(view),
    explore: () => ({ form: "areas", y: "linear", top: TOP }),
    sentence: causesSentence,
    show: [["snr", 1, Infinity, 6]],
    claims: [1, 3],
    paper: ["Figure 3"],
  },
  {
    id: "averaging",
    title: "What does averaging remove, and what stays?",
    text: `
      Train {K|K} models with different random features on the same data, and average their predictions: an
      {ensemble}. The initialization variance falls as 1/K, and with it the noise that depends on the features. The
      peak disappears.

      Three parts stay, even for K → ∞: bias, sampling variance, and the noise that all models fit alike because
      they share their labels.`,
    controls: ["members", "width", "snr"],
    setting: BASE,
    figure: (view) => stackFigure(view, view.first.members > 1 ? { ...view.first, members: 1 } : null),
    explore: () => ({ form: "areas", y: "linear", top: TOP }),
    sentence: averagingSentence,
    show: [["members", 1, Infinity, 7]],
    caption: oneDotted,
    claims: [9, 10],
    paper: ["Figure 5", "Figure 6"],
  },
  {
    id: "ridge",
    title: "Can a penalty do the same?",
    text: `
      The {ridge} {λ|λ} makes large {weights} costly, and the peak comes from huge weights. A small λ leaves
      variance, a large one adds bias. Between them is a best λ.

      The more models are averaged, the smaller the best λ. With clean labels, averaging alone is better than the
      best λ alone; with noisy labels and many features it is the reverse. Both together are at least as good as
      either.`,
    controls: ["ridge", "members", "snr", "width"],
    setting: { ...BASE, ...NOISY },
    plots: 2,
    figure: ridgeFigures,
    sentence: ridgeSentence,
    show: [["ridge", NOISY.ridge, 10, 5], ["ridge", 10, 0.063, 3], ["members", 1, Infinity, 4]],
    caption: () => "Dotted: one model at λ = 0.003, F/τ = 1. Diamonds: the best λ.",
    explore: () => ({ along: "ridge" }),
    claims: [15, 21],
    paper: ["Figure 8"],
  },
  {
    id: "width-or-models",
    title: "One wide model, or many narrow ones?",
    text: `
      Spend the same number of features on one model of KP, or on K models of P each. The wide model peaks where KP
      = N, the narrow ones where P = N. So near KP = N several narrow models are better, and near P = N the wide
      one.

      Beyond P = N, as λ → 0, the wide model is always better. With the best λ for each, it is better at any size.`,
    controls: ["width", "members", "ridge", "snr"],
    setting: { ...BASE, members: 4, width: 0.25 },
    ranges: { members: [1, 20] },
    most: { members: 100 },
    figure: wideFigure,
    explore: (first) => ({ second: { ...first, members: 1, width: totals(first) } }),
    sentence: wideSentence,
    show: [["width", 0.1, 10, 7], ["width", 10, 1, 2]],
    claims: [13, 14],
    paper: ["Figure 7"],
  },
  {
    id: "divide",
    title: "Should every model have all the data?",
    text: `
      {divide and conquer|Divide and conquer}: each of K models has N/K samples of its own. Their label noise is
      independent, so averaging reduces it, too. But each model learns less, and the bias grows. The peak moves to P
      = N/K.

      With many features and two models, dividing is better when labels are noisy, and worse when they are clean.`,
    controls: ["snr", "members", "width"],
    setting: { ...BASE, width: 5, members: 2, snr: 1 },
    ranges: { members: [1, 20] },
    figure: divideFigure,
    explore: (first) => ({ first: { ...first, scheme: "divide" }, second: { ...first, scheme: "ensemble" } }),
    sentence: divideSentence,
    show: [["snr", 10, 0.5, 6], ["snr", 0.5, 1, 1]],
    claims: [19, 20],
    paper: ["Figure 11"],
  },
  {
    id: "under-or-over",
    title: "More features than samples, or fewer?",
    text: `
      For one model the best width is often the largest: {overparametrized}. But few features act like a ridge, and
      averaging removes the variance that a single narrow model has.

      Infinitely many models without ridge are best with fewer features than samples, {underparametrized}, if the
      {signal-to-noise ratio} is below 1.66 (for ReLU features).`,
    controls: ["members", "snr", "ridge"],
    setting: { ...BASE, ridge: 1e-5, snr: 1 },
    figure: underFigure,
    sentence: underSentence,
    show: [["members", 1, Infinity, 7]],
    caption: oneDotted,
    claims: [16, 17],
    paper: ["Figure 12"],
  },
  {
    id: "claims",
    title: "What does the paper claim, and what is true?",
    text: `
      The claims about the causes of double descent are true, some with a condition. Those about remedies hold at
      the paper’s F/τ = 10, but not always with more noise. What the paper observes in neural networks is
      reproduced; a part of it is due to the optimizer. Each verdict is checked by code.`,
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
    2: "If interactions are counted apart: the features alone have a finite effect, but not together with the data.",
    6: "If N ≥ D. With fewer samples, a linear network leaves a part unlearned, too.",
    8: "A fixed λ lowers the peak and moves it to smaller P/N. The best λ at each P/N removes it.",
    12: "If F/τ is above 1.66 (ReLU). Below, the effective ridge of narrow models helps.",
    15: `At F/τ = 1 and P = 10 N, infinitely many models have ${shown(many)}, one at its best λ ${shown(one)}.`,
    16: "If F/τ is below 1.66 (ReLU).",
    18: "At the paper’s F/τ = 1, more features are better at any N/D. True at F/τ = 0.6, for N/D up to 2.",
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
  const heads = ["verdict", "claim of the paper", "what holds"];
  const count = (verdict) => declarations.claims.filter((claim) => claim.verdict === verdict).length;
  const counts = ["true", "true with a condition", "false"].map((verdict) => `${count(verdict)} are ${verdict}`);
  const summary = `Of ${rows.length} claims, ${counts.join(", ")}.`;
  const claims = table("Claims", heads, rows, { class: "claims" });
  return html("div", {}, html("p", { class: "step-sentence" }, summary), claims);
}

const SUMMARY = [
  "Why is there a peak?",
  `At P = N the model only just fits every label. Its predictions then depend strongly on what is random: the label
  noise and the random features.`,
  "What removes it?",
  `Averaging many models with different features, a good ridge λ, or many more features than samples. Each reduces the
  variances of noise and initialization.`,
  "What stays?",
  `Bias, sampling variance, and the label noise that all models share. A ridge reduces that noise but adds bias; more
  data reduce the bias.`,
];

// --- the step in the address ---

const NAMES = Object.keys(BASE); // all other values are the defaults

/** The setting that a view has for a step: its own if the step was changed, else its start. */
function settingOf(step, view, declarations) {
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

/** The store as the controls of one step see it; `onMove` is called for changes that are not animated. */
function storeOf(step, store, onMove) {
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
      if (!how.animated) onMove();
      const first = { ...settingOf(step, store.get(), declarations), ...patch.first };
      // a setting of all defaults would be read as the start of the step: `top` tells them apart
      const top = isPlain(first, plain) ? TOP : 0;
      store.set({ view: "story", step: step.id, first, second: null, top }, how);
    },
  };
}

// --- "show me" ---

const FEW = 5; // steps of a move where motion is reduced

/** Animate sliders through the moves of a step; returns a function that stops it. */
function animate(step, store, onEnd) {
  const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const origin = Object.fromEntries([...step.show].reverse());
  let handle = 0;
  let at = 0; // the move
  let began; // when it began
  let before; // the share of it that is shown

  function valueAt([control, from, to], share) {
    if (share === 1) return to;
    const { typical, whole } = store.declarations.controls[control];
    const value = from * (Math.min(to, typical[1]) / from) ** share; // ∞ is reached from the end of the slider
    return whole ? Math.round(value) : Number(value.toPrecision(3));
  }
  function end() {
    cancelAnimationFrame(handle);
    onEnd();
  }
  function tick(now) {
    began ??= now;
    const [control, , , seconds] = step.show[at];
    const passed = (now - began) / 1000 / seconds;
    const share = Math.min(reduced ? Math.floor(FEW * passed) / FEW : passed, 1);
    const commit = share === 1 && at === step.show.length - 1;
    const patch = { first: { [control]: valueAt(step.show[at], share) } };
    if (share !== before) store.set(patch, { commit, animated: true });
    before = share;
    if (commit) return end();
    if (share === 1) [at, began] = [at + 1, now];
    handle = requestAnimationFrame(tick);
  }
  store.set({ first: { ...step.setting, ...origin } }, { commit: false, animated: true });
  handle = requestAnimationFrame(tick);
  return end;
}

// --- rendering ---

const INTRO = `
  Make a model larger, and its error on new data first falls, then rises to a peak, and then falls again: {double
  descent}.

  Why is there a peak, what removes it, and what stays? Eight live figures answer. Their curves are exact for a
  simple model, regression with {random features}. Move the sliders, or press “Show me”.`;

/** Draw the story, or only the step whose id is `embed`, in a container; returns {update()}. */
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

  const update = () => sections.forEach((section) => section.update());
  addEventListener("beforeprint", () => sections.forEach((section) => section.paint?.()));
  update();
  store.subscribe((view, previous, how) => {
    for (const section of sections) section.update(how);
    if (how.restored && view.step && view.step !== previous.step) scrollTo(view.step);
  });
  if (!only.length && store.get().step) requestAnimationFrame(() => scrollTo(store.get().step));

  function scrollTo(id) {
    document.getElementById(`step-${id}`)?.scrollIntoView({ block: "start", behavior: "instant" });
  }
  return { update };
}

/** Paragraphs of a text, which empty lines part. */
function paragraphs(text) {
  return text.split("\n\n").map((one) => html("p", {}, ...phrase(one.trim().replace(/\s+/g, " "))));
}

function introduction() {
  const items = steps.map(({ id, title }) => html("li", {}, html("a", { href: `#step-${id}` }, title)));
  return html(
    "div",
    { class: "story-intro" },
    ...paragraphs(INTRO),
    html("nav", { "aria-label": "Steps" }, html("ol", {}, ...items)),
  );
}

function summary() {
  const items = SUMMARY.map((text, i) => html(i % 2 ? "dd" : "dt", {}, text));
  const heading = html("h2", { id: "in-short" }, "In short");
  return html("section", { class: "story-summary", "aria-labelledby": heading.id }, heading, html("dl", {}, ...items));
}

/** What a figure leaves unsaid: the values without a slider. */
function captionOf({ controls, caption }, first) {
  const fixed = controls.includes("ridge") ? "" : `λ = ${shown(first.ridge)}, `;
  return `${caption?.(first) ?? ""} ${fixed}N = D, ReLU features.`.trim();
}

function fitCaption(first, seed) {
  const { features, training: near, test } = fitsOf(fitOptions(first), seed);
  const more = first.width * N_SAMPLES > MOST_FEATURES || first.members > MOST_MEMBERS;
  const limit = more ? ` At most ${MOST_FEATURES} features and ${MOST_MEMBERS} models are drawn.` : "";
  return (
    `One draw of ${N_SAMPLES} points, ${features} features: squared error ${shown(near)} at the points, ` +
    `${shown(test)} from the true function. Other draws differ.${limit}`
  );
}

/** One step: its text, figure, sentence and controls. */
function createStep(step, store, embedded) {
  let stop = null; // ends a running animation
  let seed = 3;
  let visible = false;
  let handle = 0;
  let last = ""; // the setting that is shown
  const local = storeOf(step, store, () => stop?.());

  const heading = html("h2", { id: `title-${step.id}` }, step.title);
  const number = embedded ? null : html("p", { class: "step-number" }, `${steps.indexOf(step) + 1} of ${steps.length}`);
  const text = html("div", { class: "step-text" }, number, heading, ...(embedded ? [] : paragraphs(step.text)));
  const element = html("section", { class: "step", id: `step-${step.id}`, "aria-labelledby": heading.id }, text);
  if (!step.figure) {
    element.classList.add("step-wide");
    element.append(claimsTable(store.declarations), links());
    return { element, setVisible() {}, update() {} };
  }

  const sentence = html("p", { class: "step-sentence" });
  const spoken = html("p", { class: "unseen", role: "status" });
  const message = html("p", { class: "step-message", role: "alert" });
  const isFit = step.id === "fit";
  const showButton = button("Show me", toggleShow, { class: "show-me" });
  const resetButton = button("Reset", reset);
  const againButton = isFit ? button("Draw again", drawAgain) : null;
  const controls = step.controls.map((name) => numberControl(local, name, { id: `story-${step.id}` }));
  const holders = Array.from({ length: step.plots ?? 1 }, () => html("div", { class: "step-plot" }));
  const notes = html("p", { class: "step-caption" });
  const figure = html("div", { class: step.plots ? "step-figure double" : "step-figure" }, ...holders);
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
  write(local.get());

  function links() {
    const { url } = store.declarations.citation;
    const items = step.paper.map((part) => html("a", { href: url }, `${part} of the paper`));
    if (embedded) items.push(html("a", { href: `?step=${step.id}`, target: "_blank" }, "The whole story"));
    else if (step.figure) {
      const about = store.declarations.claims.filter((claim) => step.claims?.includes(claim.number));
      for (const { number: n, verdict } of about) {
        items.push(html("a", { href: `#claim-${n}` }, `Claim ${n}: ${verdict}`));
      }
      items.push(html("a", { href: "?view=explore", onclick: toExplore }, "Open in explore"));
    }
    return html("p", { class: "step-links" }, ...items);
  }
  function toExplore(event) {
    event.preventDefault();
    const { first } = local.get();
    store.set({ view: "explore", step: "", top: 0, along: "width", first, second: null, ...step.explore?.(first) });
    window.scrollTo({ top: 0, behavior: "instant" });
  }
  function toggleShow() {
    if (stop) return stop();
    showButton.textContent = "Stop";
    const end = () => {
      stop = null;
      showButton.textContent = "Show me again";
    };
    stop = animate(step, local, end);
  }
  function reset() {
    stop?.();
    const { first } = defaultView(store.declarations);
    store.set({ view: "story", step: "", top: 0, first, second: null });
  }
  function drawAgain() {
    seed += 1;
    schedule();
  }

  /** The sentence and the caption: they are written before the figure is seen, to keep their place. */
  function write(view) {
    setText(sentence, unbroken(step.sentence(view)));
    setText(notes, unbroken(isFit ? fitCaption(view.first, seed) : captionOf(step, view.first)));
  }
  function paint() {
    handle = 0;
    const view = local.get();
    write(view);
    const description = sentence.textContent;
    [step.figure(view, seed)].flat().forEach((spec, i) => plots[i].update({ ...spec, description }));
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
      setText(message, isActive || embedded ? store.messages().join(" ") : "");
      if (how?.commit && isActive) spoken.textContent = step.sentence(view);
      const key = SETTING.map((name) => view.first[name]).join();
      if (key === last && !isActive) return; // another step was changed
      last = key;
      for (const one of controls) one.update(view);
      if (!visible) write(view);
      schedule();
    },
  };
}
