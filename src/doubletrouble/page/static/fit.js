/**
 * Random-features fits of a function of one variable, computed live.
 *
 * A feature is max(0, g(x)), with g a Fourier series with Gaussian coefficients that fall as
 * 1/frequency. A model has P of them and learns their weights a by ridge regression:
 *
 *     minimize  1/N Σ (y - Σ aᵢ φᵢ(x)/√P)² + λ |a|².
 *
 * A larger P adds features, so that curves move smoothly with P.
 */

export const N_SAMPLES = 15;
export const MOST_MEMBERS = 20;
const FREQUENCIES = 20;
const PERIOD = 2.6; // the inputs are between -1 and 1
const GRID = 121;
const LEAST_RIDGE = 1e-9; // stands for 0, the minimum-norm limit
const Y_RANGE = 2.4;

/** The function that is learned. */
function target(x) {
  return Math.sin(2.5 * x) + 0.3 * x;
}

const X = Array.from({ length: GRID }, (_, i) => -1 + (2 * i) / (GRID - 1));
const TARGET_SPREAD = Math.sqrt(X.reduce((sum, x) => sum + target(x) ** 2, 0) / GRID); // its mean is 0

/** Uniform random numbers from a seed (mulberry32). */
function uniforms(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Standard normal random numbers from a seed. */
function normals(seed) {
  const uniform = uniforms(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

const NORM = Math.sqrt(Array.from({ length: FREQUENCIES }, (_, k) => (k + 1) ** -2).reduce((a, b) => a + b));

/** The Fourier basis at a point, with its falling amplitudes. */
function basis(x) {
  const row = [];
  for (let j = 1; j <= FREQUENCIES; j++) {
    const angle = (2 * Math.PI * j * x) / PERIOD;
    row.push(Math.cos(angle) / j / NORM, Math.sin(angle) / j / NORM);
  }
  return row;
}

/** Σ aᵢ bᵢ over the entries of a. */
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** Inputs and unit noise of one data set, and a function that returns feature i of member k. */
function drawn(seed) {
  const uniform = uniforms(1000 + seed);
  const samples = Array.from({ length: N_SAMPLES });
  const inputs = samples.map((_, i) => -1 + (2 * (i + 0.5 + 0.5 * (uniform() - 0.5))) / N_SAMPLES);
  const noise = samples.map(normals(2000 + seed));
  const rows = [...inputs, ...X].map(basis);
  const members = [];
  const feature = (k, i) => {
    const { normal, columns } = (members[k] ??= { normal: normals(10000 + 97 * seed + 7919 * k), columns: [] });
    while (columns.length <= i) {
      const coefficients = rows[0].map(normal);
      columns.push(Float64Array.from(rows, (row) => Math.max(0, dot(row, coefficients))));
    }
    return columns[i];
  };
  return { inputs, noise, feature };
}

/** Solve A x = b for symmetric positive definite A (n × n, row by row) by Cholesky, in place. */
function solve(A, b) {
  const n = b.length;
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let sum = A[i * n + j];
      for (let k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
      if (i === j && !(sum > 0)) throw new RangeError("A must be positive definite");
      A[i * n + j] = i === j ? Math.sqrt(sum) : sum / A[j * n + j];
    }
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) b[i] -= A[i * n + k] * b[k];
    b[i] /= A[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) b[i] -= A[k * n + i] * b[k];
    b[i] /= A[i * n + i];
  }
  return b;
}

/** Weights of the ridge fit, in its dual form (N × N); columns hold each feature at the N samples first. */
function weights(columns, labels, ridge) {
  const N = labels.length;
  const A = new Float64Array(N * N);
  for (const column of columns) {
    for (let m = 0; m < N; m++) {
      const value = column[m];
      for (let l = 0; l <= m; l++) A[m * N + l] += value * column[l];
    }
  }
  for (let m = 0; m < N; m++) A[m * N + m] += N * Math.max(ridge, LEAST_RIDGE) * columns.length;
  const dual = solve(A, Float64Array.from(labels));
  return columns.map((column) => dot(dual, column));
}

/** K fits on `X`, their mean, and its mean squared errors: on the noisy labels, and from the true function. */
function fitAll(data, { features_per_sample: ratio, n_members: K, ridge, snr }) {
  const P = Math.max(Math.round(ratio * N_SAMPLES), 1);
  const labels = data.inputs.map((x, i) => target(x) + (TARGET_SPREAD / snr) * data.noise[i]);
  const mean = new Float64Array(GRID + N_SAMPLES);
  const fits = [];
  for (let k = 0; k < K; k++) {
    const columns = Array.from({ length: P }, (_, i) => data.feature(k, i));
    const a = weights(columns, labels, ridge);
    const curve = new Float64Array(GRID + N_SAMPLES);
    for (let i = 0; i < P; i++) {
      const column = columns[i];
      const weight = a[i];
      for (let at = 0; at < curve.length; at++) curve[at] += weight * column[at];
    }
    for (let at = 0; at < curve.length; at++) mean[at] += curve[at] / K;
    fits.push(curve.subarray(N_SAMPLES));
  }
  let training = 0;
  let test = 0;
  labels.forEach((y, i) => (training += (mean[i] - y) ** 2 / N_SAMPLES));
  X.forEach((x, i) => (test += (mean[N_SAMPLES + i] - target(x)) ** 2 / GRID));
  return { labels, fits, mean: mean.subarray(N_SAMPLES), training, test, features: P };
}

const range = (reach) => ({ scale: "linear", range: [-reach, reach] });
let shown = { key: "" }; // the last fits, and their data

/** The fits of a setting to the data of a seed. */
export function fitsOf(setting, seed) {
  const key = [setting.features_per_sample, setting.n_members, setting.ridge, setting.snr, seed].join();
  if (key === shown.key) return shown;
  const data = shown.seed === seed ? shown.data : drawn(seed);
  shown = { key, seed, data, ...fitAll(data, setting) };
  return shown;
}

/** The plot of training points, the true function, K fits and their mean. */
export function fitPlot(setting, seed) {
  const { data, fits, mean, labels } = fitsOf(setting, seed);
  const color = "var(--causes-initialization)";
  const pale = `color-mix(in srgb, ${color} 45%, var(--paper))`;
  const alone = fits.length === 1;
  const line = (name, y, look) => ({ name, label: name, x: X, y, ...look });
  return {
    title: `${N_SAMPLES} training points, the true function and its fit`,
    x: { label: "input", ...range(1) },
    y: { label: "label", ...range(Y_RANGE) },
    lines: [
      ...(alone ? [] : fits.map((fit, i) => line(i ? "" : "one fit", fit, { color: pale, width: 1 }))),
      line("true function", X.map(target), { color: "var(--soft)", dash: "7 5" }),
      line(alone ? "one fit" : `mean of ${fits.length} fits`, mean, { color, width: 3 }),
    ],
    points: data.inputs.map((at, i) => ({ x: at, y: labels[i], color: "var(--ink)", label: "training point" })),
    marks: {},
  };
}
