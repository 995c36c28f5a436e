/**
 * The numbers of a figure: the error of a setting and its parts along the horizontal axis of a view.
 *
 * A setting is in the page's terms (features P/N or P/D, signal-to-noise ratio F/τ with F = 1, size of the
 * feature bank per feature of a model); `problemOf` and `schemeOf` translate it to those of theory.js.
 */

import { control, features, settings, toJson } from "./state.js";
import {
  DISTINCT, SCHEMES, anova, errorCurve, exactError, fewestMembers, gradientFlow, noiseAt, optimalRidge, trainingError,
} from "./theory.js";

const EVEN = 141; // values over the whole axis
const CLOSE = 30; // further ones on each side of a threshold
const FEW = 0.3; // the share of them in training time, which takes some hundred times as long
const FEWER = 0.15; // and while a slider is dragged
const NEAR = 0.25; // how far these reach, in log x
const BEYOND = 100; // how far the axis reaches for a typed value
const PEAKS = 5; // where a linear axis ends, in thresholds

const PARTS = {
  causes: ["noise", "initialization", "resampling", "sampling", "bias"],
  effects: [
    "noise_initialization_sampling",
    "noise_sampling",
    "initialization_sampling",
    "initialization",
    "resampling",
    "sampling",
    "bias",
  ],
};

/** The parts of the error of a setting, from the top of a stack down. */
export function partsOf(split, setting) {
  return PARTS[split].filter((name) => name !== "resampling" || SCHEMES[setting.scheme].resamples);
}

/** Whether training is stopped, in a setting or along the axis. */
function isTimed(view, setting) {
  return view.along === "time" || setting.time < Infinity;
}

export function problemOf(setting) {
  return {
    features_per_dim: features(setting, "features_per_dim"),
    samples_per_dim: setting.samples_per_dim,
    ridge: setting.ridge,
    noise: noiseAt(setting.snr),
    nonlinear_signal: setting.nonlinear_signal,
    activation: setting.activation,
  };
}

export function schemeOf(setting) {
  const scheme = { name: setting.scheme, n_members: setting.n_members };
  if (setting.scheme === "subsample") scheme.fraction = setting.fraction;
  if (setting.scheme === "feature_bank") {
    scheme.bank_per_dim = setting.bank_per_feature * problemOf(setting).features_per_dim;
  }
  return scheme;
}

export function errorHere(setting, split = "causes") {
  if (setting.time < Infinity) return gradientFlow(problemOf(setting), setting.time, schemeOf(setting));
  const terms = split === "effects" ? anova : exactError;
  return terms(problemOf(setting), schemeOf(setting));
}

/** The fields of theory.js that vary along an axis, and their values. */
function variation(setting, along, x) {
  if (along === "n_members") return { axis: ["n_members"], values: [x] };
  if (along === "time" || along === "ridge") return { axis: [along], values: [x] };
  const axis = ["features_per_dim"];
  const wide = x.map((value) => problemOf({ ...setting, [along]: value }).features_per_dim);
  const values = [wide];
  if (along === "samples_per_dim") {
    axis.push("samples_per_dim");
    values.push(x);
  }
  if (setting.scheme === "feature_bank") {
    axis.push("bank_per_dim");
    values.push(wide.map((value) => setting.bank_per_feature * value));
  }
  return { axis, values };
}

/** Samples of one model as a share of all. */
function sampleShare(setting) {
  const K = setting.n_members;
  if (setting.scheme === "divide") return 1 / K;
  if (setting.scheme === "folds") return K === Infinity ? 1 : (K - 1) / K;
  if (setting.scheme === "subsample") return setting.fraction;
  return setting.scheme === "bootstrap" ? DISTINCT : 1;
}

const THRESHOLD_LABELS = {
  divide: "P = N/K",
  subsample: "P = ηN",
  bootstrap: "P = (1 − 1/e) N",
  folds: "P = N (K − 1)/K",
};

/** Where on the axis a model has as many features as samples: [{x, label}], at most one. */
export function thresholds(setting, along) {
  const share = sampleShare(setting);
  const perSample = features(setting, "features_per_sample"); // P/N
  let x = NaN;
  if (along === "features_per_sample") x = share;
  else if (along === "features_per_dim") x = share * setting.samples_per_dim;
  else if (along === "samples_per_dim" && "features_per_dim" in setting) x = setting.features_per_dim / share;
  else if (along === "n_members" && setting.scheme === "divide") x = 1 / perSample;
  else if (along === "n_members" && setting.scheme === "folds") x = 1 / (1 - perSample);
  return x > 0 && x < Infinity ? [{ x, label: THRESHOLD_LABELS[setting.scheme] ?? "P = N" }] : [];
}

/** The ends of the horizontal axis: typical values, and typed ones that are not too far away. */
export function range(view) {
  let [low, high] = control(view.along).typical;
  const typed = settings(view)
    .map((setting) => setting[view.along])
    .filter((value) => value >= low / BEYOND && value <= high * BEYOND);
  const peaks = peaksOf(view);
  if (view.x === "linear" && peaks.length && view.along !== "n_members") {
    high = Math.min(high, Math.max(PEAKS * Math.max(...peaks), PEAKS * low));
  }
  if (view.x === "linear" && view.along === "time") high = 100;
  return [Math.min(low, ...typed), Math.max(high, ...typed)];
}

function peaksOf(view) {
  return settings(view).flatMap((setting) => thresholds(setting, view.along).map(({ x }) => x));
}

let lastGrid = { key: "", x: null };

/** Values along the axis, the same for both settings: denser near thresholds, which are included. */
export function grid(view, dragged = false) {
  const [low, high] = range(view);
  const few = dragged ? FEWER : FEW;
  const share = settings(view).some((setting) => isTimed(view, setting)) ? few : 1;
  const fewest = Math.max(...settings(view).map(({ scheme }) => fewestMembers(scheme)));
  const peaks = peaksOf(view);
  const key = [low, high, share, fewest, view.x, view.along, ...peaks].join();
  if (key === lastGrid.key) return lastGrid.x;
  const whole = (values) => values.map((value) => Math.max(Math.round(value), fewest));
  const x = view.along === "n_members"
    ? Float64Array.from(new Set(whole(spaced(low, high, EVEN, view.x === "log"))))
    : gridBetween(low, high, peaks, { isLog: view.x === "log", share });
  lastGrid = { key, x };
  return x;
}

/** Values between two ends, denser near peaks, which are included; `share` is of the usual number. */
export function gridBetween(low, high, peaks = [], { isLog = true, share = 1 } = {}) {
  const even = spaced(low, high, Math.round(share * EVEN), isLog);
  const count = 2 * Math.round(share * CLOSE) + 1;
  const close = peaks.flatMap((x) => spaced(x * Math.exp(-NEAR), x * Math.exp(NEAR), count, true, x));
  const inside = close.filter((value) => value > low && value < high);
  return Float64Array.from(new Set([...even, ...inside])).sort();
}

/** Evenly spaced values, or their logarithms; the middle one can be given exactly. */
function spaced(low, high, count, isLog, middle) {
  const step = isLog ? Math.log(high / low) / (count - 1) : (high - low) / (count - 1);
  const values = Array.from({ length: count }, (_, i) => (isLog ? low * Math.exp(i * step) : low + i * step));
  values[count - 1] = high;
  if (middle !== undefined) values[(count - 1) / 2] = middle;
  return values;
}

/**
 * The error of a setting along the axis of a view.
 *
 * `x` has the values; `training` and `best` add the training error and the least error. Returns {x, names,
 * parts: {name: values}, total, training, thresholds: [{x, label}], level: the total at the infinite end,
 * best: {x, y, edge}, here: {x, parts, total}}.
 */
export function curve(view, setting, { x, training = false, best = true } = {}) {
  const at = x ?? grid(view);
  const names = partsOf(view.split, setting);
  const here = errorHere(setting, view.split);
  // where the setting is on the axis changes nothing but `here`
  const key = toJson([{ ...setting, [view.along]: 0 }, view.along, view.split, training, best]);
  return {
    ...remembered(at, key, () => newCurve(view, setting, at, names, training, best)),
    here: { x: setting[view.along], parts: chosen(here, names), total: here.total },
  };
}

function chosen(parts, names) {
  return Object.fromEntries(names.map((name) => [name, parts[name]]));
}

const known = new WeakMap(); // the last curves on some values of the axis
const MOST_KNOWN = 4;

function remembered(x, key, make) {
  const curves = known.get(x) ?? new Map();
  known.set(x, curves);
  const result = curves.get(key) ?? make();
  curves.delete(key);
  curves.set(key, result);
  if (curves.size > MOST_KNOWN) curves.delete(curves.keys().next().value);
  return result;
}

function newCurve(view, setting, x, names, training, best) {
  const { axis, values } = variation(setting, view.along, x);
  const { split, along } = view;
  const options = { split, time: setting.time, training: training && !isTimed(view, setting) };
  const error = errorCurve(problemOf(setting), schemeOf(setting), axis, values, options);
  return {
    x,
    names,
    parts: chosen(error, names),
    total: error.total,
    training: error.training,
    thresholds: thresholds(setting, along),
    level: ["n_members", "time"].includes(along) ? totalAt(setting, along, Infinity) : undefined,
    best: best ? leastError(view, setting, x, error.total) : undefined,
  };
}

/** The parts of a curve upon each other, from the bottom: [{name, x, low, high, value}]. */
export function stacked({ x, parts }, names) {
  let low = new Float64Array(x.length);
  return names.map((name) => {
    const value = parts[name];
    const area = { name, x, low, high: low.map((below, i) => below + value[i]), value };
    low = area.high;
    return area;
  });
}

function totalAt(setting, along, value) {
  return errorHere({ ...setting, [along]: value }).total;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The least total on the axis; `edge` if it is at an end, so that it may be lower beyond. */
function leastError(view, setting, x, total) {
  let k = 0;
  for (let i = 1; i < x.length; i++) if (total[i] < total[k]) k = i;
  const edge = k === 0 || k === x.length - 1;
  if (edge || view.along === "n_members" || isTimed(view, setting)) return { x: x[k], y: total[k], edge };
  if (view.along === "ridge") {
    const { ridge, error } = optimalRidge(problemOf(setting), schemeOf(setting));
    if (ridge >= x[0] && ridge <= x[x.length - 1]) return { x: ridge, y: error.total, edge: false };
  }
  let low = x[k - 1];
  let high = x[k + 1];
  for (let taken = 0; taken < 24; taken++) {
    const a = high - GOLDEN * (high - low);
    const b = low + GOLDEN * (high - low);
    if (totalAt(setting, view.along, a) < totalAt(setting, view.along, b)) high = b;
    else low = a;
  }
  const middle = (low + high) / 2;
  return { x: middle, y: totalAt(setting, view.along, middle), edge: false };
}

const TOP = { log: 200, linear: 3 };
const DECADES = 5;

/** The ends of the vertical axis: they do not depend on the curve, so that it is seen to fall. */
export function heights(view) {
  const top = view.top || TOP[view.y];
  return view.y === "log" ? [top / 10 ** DECADES, top] : [0, top];
}

/** The round top that shows curves to their peaks, as far as one axis can. */
export function fittedTop(view, totals) {
  const finite = totals.flatMap((total) => [...total]).filter((value) => value > 0 && value < Infinity);
  if (!finite.length) return 0;
  finite.sort((a, b) => a - b);
  const most = finite[finite.length - 1];
  const middle = finite[finite.length >> 1];
  const least = view.y === "log" ? Math.min(1.3 * most, 1e4 * middle) : Math.min(1.05 * most, 6 * middle);
  const unit = 10 ** Math.floor(Math.log10(least));
  return [1, 1.5, 2, 3, 5, 7, 10].map((m) => Number((m * unit).toPrecision(2))).find((v) => v >= least) ?? least;
}
