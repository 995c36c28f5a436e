/**
 * The exact theory of random-features ridge regression, in the browser.
 *
 * The equations are those of Python's `doubletrouble.theory` for the isotropic problem; a test compares
 * both. K members with P features and m of the N samples are averaged; sizes
 * are per input dimension. The activation enters by l = μ₁² and t = μ⋆², scaled to l + t = 1, the ridge
 * by r = λ/(μ₁² + μ⋆²).
 *
 * **Fixed point.** With y the inverse of the effective ridge, L = l y/(1 + l y) the learnability and
 * z = L + t y, Q = L², e = z - Q the degrees of freedom [simon2023], [defilippis2024]:
 *
 *     A B = r y,    A = 1 - z/P,    B = 1 - z/N.                                              (*)
 *
 * A and B are the unused fractions of features and samples.
 *
 * **Two members** share f P features and g m samples. With M = 1 - L, ρ = M², χ = L M, p = e/P,
 * q = e/N, U = A + p, W = B + q, U_f = (1-f) + f U, W_g = (1-g) + g W and J_fg = U_f W_g - f g p q, the
 * mean product of their errors has the parts
 *
 *     ρ (bias),    V_P = χ f p/U_f,    V_X = ρ R_s,    V_PX = (ρ + V_P) R_o + V_P R_s
 *     R_s = g (Q/N)/W_g,    R_o = f g p q/(J_fg W_g)      (response to label noise of variance one)
 *
 * with the sum (ρ + V_P)(1 + R), R = R_s + R_o. A member with itself is the case f = g = 1, where
 * J = A B + B p + A q vanishes at P = N without ridge. Each part of the average of K members is
 * `shared` + `own`/K, with `own` the excess Δ of the square of one member over the product of two.
 *
 * In the paper's terms [dascoli2020] Eqs. (12)-(17), Ψ₁ = L, Ψ₂ᵈ = L²; two members of an ensemble (f = 0,
 * g = 1) have Ψ₂ᵉ = L² + V_X, Ψ₃ᵉ = R_s, and one has Ψ₂ᵛ = Ψ₂ᵉ + V_P + V_PX, Ψ₃ᵛ = R.
 *
 * No term is a difference of close numbers. At ridge 0 some are 0/0: there (*) is solved at a
 * surrogate ridge of 1e±250, at which values beyond 1e±70 stand for 0 and inf.
 *
 * **Bootstrap.** N draws with replacement give a sample the weight w, Poisson of mean one.
 * (*) becomes z = N d(V), A a₁(V) = r y, with
 *
 *     d = E w V/(1 + w V),    a₁ = E w/(1 + w V),    a₂ = E w²/(1 + w V)²,    a₃ = E w/(1 + w V)²
 *
 * and c = a₂/(N a₁²) for 1/N: B = a₃/a₁, q = c e. Two members share g = a₁²/a₂ of their samples.
 *
 * **Training time** T. Gradient flow is the filter 1 - exp(-T x) = Σ_j w_j T x/(T x + z_j): a combination
 * of fits with complex ridges z_j/T [weideman2006]; variances are double sums of them.
 */

// --- declarations ---

/** The domain and the default of a number; `open_low`: above 0, `or_inf`: or Infinity. */
const parameter = (low, high, { value, or_inf = false, whole = false, open_low = false } = {}) => ({
  low, high, default: value, or_inf, whole, open_low,
});

/** Domains and defaults of all numbers, as declared in Python's `glossary`. */
export const PARAMETERS = {
  features_per_dim: parameter(1e-50, 1e50, { value: 2, or_inf: true }),
  samples_per_dim: parameter(1e-50, 1e50, { value: 1 }),
  ridge: parameter(0, Infinity, { value: 1e-5 }),
  signal: parameter(0, 1e150, { value: 1 }),
  noise: parameter(0, 1e150, { value: 1 }),
  nonlinear_signal: parameter(0, 1e150, { value: 0 }),
  test_noise: parameter(0, 1e150, { value: 0 }),
  n_members: parameter(1, Infinity, { value: 1, whole: true }),
  fraction: parameter(5e-324, 1, { open_low: true }),
  bank_per_dim: parameter(1e-50, 1e50, { or_inf: true }),
  time: parameter(0, 1e150, { value: Infinity, or_inf: true }),
};
const FOLDS = parameter(2, Infinity, { value: 2, whole: true }); // members of the scheme "folds"
const membersOf = (scheme) => (scheme === "folds" ? FOLDS : PARAMETERS.n_members);

/** The least number of members of a scheme. */
export const fewestMembers = (scheme) => membersOf(scheme).low;

const moments = (linear, nonlinear) => ({ linear, nonlinear });

/** Moments μ₁, μ⋆ of the named activations [dascoli2020] App. B, Assumption 1. */
export const ACTIVATIONS = {
  leaky_relu: moments(0.505, 0.298391086119598),
  relu: moments(0.5, 0.30140513749454345),
  erf: moments(0.6514700158705599, 0.20036435017026463),
  sign: moments(0.7978845608028654, 0.6028102749890869),
  abs: moments(0, 0.6028102749890869),
  gelu: moments(0.5, 0.309263659398176),
  sin: moments(0.6065306597126334, 0.2538757909101443),
  cos: moments(0, 0.44697673367510304),
  linear: moments(1, 0),
  quadratic: moments(0, 1.4142135623730951),
  tanh: moments(0.6057055096021589, 0.16557574108374165),
  sigmoid: moments(0.20662096414190706, 0.026207118024722385),
  softplus: moments(0.5, 0.14667822537977043),
};

/** Options of the schemes beside `n_members`, and the common set that members choose from. */
export const SCHEMES = {
  ensemble: { options: [], resamples: null },
  divide: { options: [], resamples: null },
  subsample: { options: ["fraction"], resamples: "samples" },
  bootstrap: { options: [], resamples: "samples" },
  feature_bank: { options: ["bank_per_dim"], resamples: "features" },
  folds: { options: [], resamples: null },
};

const PROBLEM_FIELDS = [
  "features_per_dim", "samples_per_dim", "ridge", "activation",
  "signal", "noise", "nonlinear_signal", "test_noise",
];

const NO_SAMPLES = 1e-150; // reached only by data divided among very many members
const NEGLIGIBLE_WEIGHT = 1e-250; // t below this counts as zero
const VANISHING = 1e-250; // the surrogate ridge, or number of samples, for 0
const TINY_RIDGE = 1e-305; // below this y of a saturated learner overflows
const NEGLIGIBLE = 1e-70; // sizes reach 1e±50, and limits approached are beyond 1e±83
const TINIEST = 5e-324;
const LAST_STEP = 1e-8; // the Newton step at which the next one is below rounding
const DAMPED_AFTER = 8;
const MOST_STEPS = 200;

// --- arguments ---

function shown(value) {
  return value === Infinity ? "inf" : typeof value === "string" ? `'${value}'` : String(value);
}

function refuse(name, domain, value) {
  throw new RangeError(`${name} must be ${domain}, got ${shown(value)}`);
}

/** A number in its domain, or the default for undefined; else RangeError is thrown. */
function checked(name, given, spec = PARAMETERS[name]) {
  const value = given === undefined ? spec.default : given;
  const inside = value >= spec.low && value <= spec.high && !(spec.whole && value % 1 > 0);
  if (typeof value === "number" && (inside || (spec.or_inf && value === Infinity))) {
    return value + 0; // -0 becomes 0
  }
  const low = spec.open_low ? "(0" : `[${spec.low}`;
  const range = `in ${low}, ${shown(spec.high)}]${spec.or_inf ? " or inf" : ""}`;
  refuse(name, spec.whole ? `a whole number ${range}` : range, given);
}

function oneOf(name, value, known) {
  if (!Object.hasOwn(known, value)) refuse(name, `one of ${Object.keys(known).join(", ")}`, value);
  return known[value];
}

/** Throw RangeError for fields that a problem, or its scheme, does not have. */
function refuseUnknown(problem, scheme) {
  for (const key in problem) {
    if (!PROBLEM_FIELDS.includes(key)) refuse("a field of problem", `one of ${PROBLEM_FIELDS.join(", ")}`, key);
  }
  if (typeof scheme === "number") return;
  const name = scheme.name ?? "ensemble";
  const known = ["name", "n_members", ...oneOf("scheme", name, SCHEMES).options];
  for (const key in scheme) {
    if (!known.includes(key)) refuse(key, `left out for scheme '${name}'`, scheme[key]);
  }
}

/** The moments of an activation: a name, or an object that has them. */
function momentsOf(activation) {
  if (typeof activation === "string") return oneOf("activation", activation, ACTIVATIONS);
  const { linear, nonlinear } = activation;
  if (!Number.isFinite(linear)) refuse("linear", "finite", linear);
  if (!(nonlinear >= 0 && nonlinear < Infinity)) refuse("nonlinear", "in [0, inf)", nonlinear);
  return activation;
}

/** The label noise τ for which the signal-to-noise ratio F/τ is `snr`. */
export function noiseAt(snr, signal = 1) {
  if (!(snr > 0)) refuse("snr", "positive", snr);
  return signal / snr;
}

function validated(problem, scheme) {
  refuseUnknown(problem, scheme);
  return inputs(problem, scheme);
}

function inputs(problem, scheme) {
  const P = checked("features_per_dim", problem.features_per_dim);
  const N = checked("samples_per_dim", problem.samples_per_dim);
  const ridge = checked("ridge", problem.ridge);
  const { linear, nonlinear } = momentsOf(problem.activation ?? "relu");
  const scale = Math.hypot(linear, nonlinear) || 1;
  const l = (linear / scale) ** 2;
  const t = (nonlinear / scale) ** 2;

  const options = typeof scheme === "number" ? { n_members: scheme } : scheme;
  const name = options.name ?? "ensemble";
  const K = checked("n_members", options.n_members, membersOf(name));
  let numerator = 1; // of m/N
  let denominator = 1;
  let f = 0;
  let g = 1;
  if (name === "divide") {
    denominator = K;
    g = 0;
  } else if (name === "subsample") {
    numerator = g = checked("fraction", options.fraction);
  } else if (name === "folds" && K < Infinity) { // one of infinitely many parts is empty
    numerator = K - 1;
    denominator = K;
    g = (K - 2) / (K - 1);
  } else if (name === "feature_bank") {
    const bank = checked("bank_per_dim", options.bank_per_dim);
    if (bank < P) refuse("bank_per_dim", "at least the features of one member", bank);
    f = P === Infinity ? 1 : P / bank; // of infinitely many features the share has no effect
  }
  const m = (N * numerator) / denominator;
  const allData = ["ensemble", "bootstrap", "feature_bank"].includes(name);
  return {
    P, N, m, f, g, K, scale, l, t,
    spare: allData ? P - N : spareFeatures(P, N, numerator, denominator, m), // P - m
    share: numerator / denominator, // m/N
    r: ridge / scale / scale,
    // features and samples that learn the linear part in full
    rank: t >= NEGLIGIBLE_WEIGHT ? Infinity : l > 0 ? 1 : 0,
    signal: checked("signal", problem.signal) ** 2,
    nonlinear: checked("nonlinear_signal", problem.nonlinear_signal) ** 2,
    noise: checked("noise", problem.noise) ** 2,
    bayes: checked("test_noise", problem.test_noise) ** 2,
    bootstrap: name === "bootstrap",
    resamples: SCHEMES[name].resamples,
  };
}

/** P - m to full precision where they are close. */
function spareFeatures(P, N, numerator, denominator, m) {
  let left = 0; // the rounding error of m
  if (denominator < 1e15) {
    const whole = N * numerator;
    const again = m * denominator;
    const error = productError(N, numerator, whole) - productError(m, denominator, again);
    left = (whole - again + error) / denominator;
  }
  const spare = P - m - left;
  return Math.abs(spare) <= 2.5e-16 * m ? 0 : spare; // below the rounding of P, N and K
}

/** The rounding error of a product (Dekker). */
function productError(a, b, product) {
  const splitA = a * 134217729; // 2²⁷ + 1
  const splitB = b * 134217729;
  const highA = splitA - (splitA - a);
  const highB = splitB - (splitB - b);
  const lowA = a - highA;
  const lowB = b - highB;
  return highA * highB - product + highA * lowB + lowA * highB + lowA * lowB;
}

/** factor · value, with 0 · inf = 0: an absent cause does not contribute. */
function times(factor, value) {
  return factor === 0 || value === 0 ? 0 : factor * value;
}

/** The limit of a value at the surrogate ridge: 0, inf or the value itself. */
function limitValue(value) {
  return value < NEGLIGIBLE ? 0 : value > 1 / NEGLIGIBLE ? Infinity : value;
}

// --- the fixed point ---

/**
 * Solve (*) for P features and N samples; `spare` is P - N.
 *
 * With small = min(P, N), big = max(P, N) and gap = 1 - small/big, the smaller of A and B, h, solves
 * h (gap + h small/big) = r y, and (*) becomes z + small h = small, or
 *
 *     (1 + l y) (t y/small + h(y)) + (1/small - 1)⁺ l y = 1 + (1 - 1/small)⁺ l y.
 *
 * Newton's method on the logarithms converges from any start, in three or four steps from this one.
 */
function solve(l, t, P, N, spare, r) {
  const small = Math.min(P, N);
  const big = Math.max(P, N);
  const gap = big === Infinity ? 1 : Math.min(Math.abs(spare) / big, 1);
  const square = gap * gap;
  const twiceRatio = (2 * small) / big;
  const flat = t / small;
  const excess = ((1 - small) / small) * l;
  const less = Math.max(excess, 0);
  const more = Math.max(-excess, 0);

  // start: the ridgeless root (of the two forms, that which does not subtract) combined with the
  // root when the ridge dominates, scaled down by the share of `small` that both use there
  const linear = l + t - small * l;
  const discriminant = Math.sqrt(linear * linear + 4 * l * t * small);
  const inverse = Math.max(
    ((linear + discriminant) * 0.5) / small,
    (2 * l * t) / (Math.abs(linear) + discriminant + TINIEST),
  );
  let y = 1 / (inverse + r);
  y /= y * inverse + (2 * r * y) / (gap + Math.sqrt(square + twiceRatio * 2 * r * y) + TINIEST);

  let step = Infinity;
  for (let taken = 0; Math.abs(step) > LAST_STEP; taken++) {
    const ly = l * y;
    const flatY = flat * y;
    const below = less * y;
    const above = more * y;
    const ry = 2 * r * y;
    const root = Math.sqrt(square + 1e-320 + twiceRatio * ry); // 1e-320: for P = N, r = 0
    const inner = flatY + ry / (gap + root);
    const left = (1 + ly) * inner + below;
    const right = 1 + above;
    const off = Math.log(left / right);
    let slope = (ly * inner + (1 + ly) * (flatY + (0.5 * ry) / root) + below) / left - above / right;
    if (taken >= DAMPED_AFTER && Math.abs(off) > 0.5) slope = 2; // the largest: it always contracts
    step = off / slope;
    y *= Math.exp(-step);
    if (!(taken < MOST_STEPS && Math.abs(step) < Infinity)) {
      throw new Error(`the fixed point did not converge (last step ${step})`);
    }
  }
  const ry = 2 * r * y;
  const twice = gap + Math.sqrt(square + twiceRatio * ry);
  const smaller = ry / (twice + TINIEST);
  const bigger = 0.5 * twice;
  const narrow = P <= N;
  return pointAt(l, t, P, 1 / N, y, narrow ? smaller : bigger, narrow ? bigger : smaller);
}

/** The quantities of a fixed point, given y, A and B; c is 1/N. */
function pointAt(l, t, P, c, y, A, B) {
  const ly = l * y;
  const M = 1 / (1 + ly);
  const L = ly * M;
  const ty = t * y;
  const e = L * M + ty;
  return { L, M, A, B, P, y, ty, e, p: e / P, q: c * e, Q_N: c * (L * L) };
}

/** A member: its fixed point, and the share g of its samples that another member has. */
function member(point, g, limit) {
  return {
    point, g,
    limit, // whether values are at a surrogate ridge: see `limitValue`
    // of a bootstrap sample: d log c/d log y, E 1/(1 + w V) and E 1/(1 + w V)²
    cSlope: 0, residual: 1, residualSquare: 1,
  };
}

/** The member of any scheme at ridge r, limits included. */
function memberAt(at, r) {
  if (at.bootstrap && at.rank > 0) return bootstrapMember(at, r);
  const high = r > 1 / VANISHING;
  const full = Math.min(at.P, at.m) >= at.rank && r < TINY_RIDGE;
  const empty = at.m < NO_SAMPLES;
  const ridge = high ? 1 / VANISHING : full ? VANISHING : r;
  const point = solve(at.l, at.t, at.P, empty ? VANISHING : at.m, at.spare, ridge);
  return member(point, at.g, high || full || empty);
}

// --- bootstrap samples ---

/** The share of distinct samples. */
export const DISTINCT = -Math.expm1(-1);
const CHANCES = [Math.exp(-1)]; // of the weights w; larger ones have probabilities below rounding
for (let w = 1; w < 25; w++) CHANCES.push(CHANCES[w - 1] / w);
const TINIEST_RIDGE = 1e-220; // times 1/y: equal to ridge 0 to rounding, and V still fits a float
const LARGEST_RIDGE = 1e180; // predicts zero, and V still fits a float
const LOG_V = 690; // bound on log V
const MOST_RIDGE = 575; // bound on log r V

/** Averages over the weights at V; all are finite. */
function averagesAt(V) {
  let used = 0; // d
  let left = 0; // E 1/(1 + w V), of samples that are drawn
  let leftSquare = 0; // E 1/(1 + w V)²
  let first = 0; // (1 + V) a₁
  let second = 0; // (1 + V)² a₂
  let unused = 0; // (1 + V) a₃
  let mean = 0;
  let square = 0;
  for (let w = 1; w < CHANCES.length; w++) {
    const chance = CHANCES[w];
    const one = 1 / (1 + w * V);
    const beyond = (w - 1) * one;
    const pull = w * (1 + V) * one; // 1 + beyond: from w (V = 0) to 1 (V = ∞)
    const part = chance * pull;
    used += chance * w * V * one;
    left += chance * one;
    leftSquare += chance * one * one;
    first += part;
    second += part * pull;
    unused += part * one;
    mean += part * beyond;
    square += part * beyond * beyond;
  }
  return {
    used,
    idle: left / DISTINCT, // 1 - d/(1 - 1/e): the unused share of the distinct samples
    unused: unused / first, // a₃/a₁
    ratio: (first * first) / second, // a₁²/a₂
    // d log c/d log V = 2 V (a₂/a₁ - E w³/(1 + w V)³/a₂), a variance
    cSlope: (-2 * (V / (1 + V)) * (square - (mean / first) * mean)) / second,
    residual: CHANCES[0] + left,
    residualSquare: CHANCES[0] + leftSquare,
  };
}

/** y of P features, infinitely many samples and ridge r: the root of a quadratic. */
function yOfEndlessData(l, t, P, r) {
  const flat = t / P + r;
  const linear = flat + (P < Infinity ? (1 - P) / P : -1) * l;
  const root = Math.hypot(linear, 2 * Math.sqrt(l * flat));
  return linear > 0 ? 2 / (linear + root) : (root - linear) / (2 * l * flat);
}

/** A member on a bootstrap sample at ridge r, limits included. */
function bootstrapMember(at, r) {
  const { l, t, P } = at;
  const few = at.N * DISTINCT < NO_SAMPLES;
  const full = Math.min(P, at.N * DISTINCT) >= at.rank && r < TINY_RIDGE;
  const N = few ? VANISHING : at.N;
  const distinct = N * DISTINCT;
  const least = TINIEST_RIDGE / Math.min(1, P, N);
  const ridge = Math.max(full ? VANISHING : Math.min(r, LARGEST_RIDGE), least);

  // Newton's method on log z/(N d), which decreases with log V; the start has the distinct samples
  const start = solve(l, t, P, distinct, P - distinct, ridge);
  let V = (start.L + start.ty) / N / start.B;
  let low = Math.exp(-LOG_V);
  let high = Math.exp(Math.min(Math.max(MOST_RIDGE - Math.log(ridge), 1), LOG_V));
  for (let taken = 0, last = false; taken <= MOST_STEPS; taken++) {
    const averages = averagesAt(V);
    const { used, idle, unused } = averages;
    const reduced = ridge * (V / used); // r/a₁
    const y = yOfEndlessData(l, t, P, reduced);
    const point = pointAt(l, t, P, 1 / (N * averages.ratio), y, reduced * y, unused);
    const { A, e } = point;
    if (last) {
      const limit = few || full || r === 0 || r > LARGEST_RIDGE;
      const cSlope = (averages.cSlope * e) / (N * used * unused); // dz = e d log y = N d a₃/a₁ d log V
      const { ratio, residual, residualSquare } = averages;
      return { point, g: ratio, limit, cSlope, residual, residualSquare };
    }
    const z = point.L + point.ty;
    // next to the peak z/P = 1 - A and N d are close to their sizes
    const off = A < 0.5 && idle < 0.5
      ? Math.log1p((P - distinct) / distinct) + Math.log1p(-A) - Math.log1p(-idle)
      : Math.log(z / (N * used));
    const step = off / (((e / z) * A * (1 - unused)) / (A + point.p) + unused);
    if (off > 0) low = V;
    else high = V;
    V *= Math.exp(step);
    last = Math.abs(step) < LAST_STEP;
    if (!last && !(V > low && V < high)) V = Math.sqrt(low) * Math.sqrt(high);
  }
  throw new Error("the fixed point of a bootstrap sample did not converge");
}

// --- the error by cause ---

/** U, W, J of a member, and U_f, W_g, J_fg of two, without the subtraction. */
function overlaps({ A, B, p, q }, f, g) {
  const [U, W, J] = [A + p, B + q, A * B + B * p + A * q];
  const W_g = 1 - g + g * W;
  return { U, W, J, U_f: 1 - f + f * U, W_g, J_fg: (1 - f) * W_g + f * ((1 - g) * U + g * J) };
}

/**
 * The terms of unit power: `shared` of two different members, and `own`, the excess Δ (d...) of the
 * square of one, without a subtraction (Python's `_cross_terms`).
 */
function memberTerms({ point, g, limit }, f) {
  const { L, M, p, q, Q_N } = point;
  const [rho, chi] = [M * M, L * M];
  const { U, W, J, U_f, W_g, J_fg } = overlaps(point, f, g);
  const V_P = chi * ((f * p) / U_f);
  const dV_P = times(1 - f, (chi * (p / U)) / U_f);
  const R_s = (g * Q_N) / W_g;
  const dR_s = times(1 - g, Q_N / W_g / W);
  const R_o = ((f * g * p) / J_fg) * (q / W_g);
  // in this order no product underflows; 0, not 0/0, where f = g = 1
  const dR_o =
    times(1 - f, (p / J) * (q / J_fg) * (W_g / W)) +
    times(f * (1 - g), (p / J) * (q / J_fg) * (U / W + ((g * Q_N) / W) * (J / W_g)));
  const R = Q_N / W + (p / J) * (q / W); // Ψ₃ᵛ: of a member with itself
  const shared = {
    bias: rho,
    initialization: V_P,
    sampling: rho * R_s, // V_X
    interaction: times(rho + V_P, R_o) + times(V_P, R_s), // V_PX
    noise_sampling: R_s, // Ψ₃ᵉ if f = 0, g = 1
    noise_interaction: R_o,
  };
  const own = {
    bias: 0,
    initialization: dV_P,
    sampling: rho * dR_s,
    interaction: times(rho + V_P, dR_o) + times(dV_P, R) + times(V_P, dR_s),
    noise_sampling: dR_s,
    noise_interaction: dR_o,
  };
  return limit ? { shared: atLimit(shared), own: atLimit(own) } : { shared, own };
}

function atLimit(terms) {
  return Object.fromEntries(Object.entries(terms).map(([name, v]) => [name, limitValue(v)]));
}

/**
 * The error of the average of K members, main effects and interactions apart [adlam2020].
 *
 * A nonlinear target is bias, and the response to it is that to noise. The variance over each
 * member's own choice of samples, or of features, is `resampling`.
 */
function effects({ shared, own }, at) {
  const { signal, nonlinear, noise, resamples } = at;
  const bySamples = resamples === "samples"; // then the members' own part is resampling
  const byFeatures = resamples === "features";
  const ownOf = (name) => times(1 / at.K, own[name]);
  const all = (name, resampled = false) => shared[name] + (resampled ? 0 : ownOf(name));
  const data = (name, resampled) =>
    times(signal, all(name, resampled)) + times(nonlinear, all(`noise_${name}`, resampled));
  const parts = {
    bias: signal * shared.bias + nonlinear, // F² (1 - Ψ₁)²
    initialization: times(signal, all("initialization", byFeatures)),
    sampling: data("sampling", bySamples),
    initialization_sampling: data("interaction", byFeatures),
    noise_sampling: times(noise, all("noise_sampling")), // τ² Ψ₃ᵉ for an ensemble
    noise_initialization_sampling: times(noise, all("noise_interaction")),
    bayes: at.bayes,
  };
  if (bySamples) {
    parts.resampling = times(signal, ownOf("sampling")) + times(nonlinear, ownOf("noise_sampling"));
  } else if (byFeatures) {
    const features = ownOf("initialization") + ownOf("interaction");
    parts.resampling = times(signal, features) + times(nonlinear, ownOf("noise_interaction"));
  }
  return withTotal(parts);
}

/** By cause: interactions count as noise and initialization [dascoli2020] Sec. 5. */
function causes(terms, at) {
  const by = effects(terms, at);
  const parts = {
    noise: by.noise_sampling + by.noise_initialization_sampling,
    initialization: by.initialization + by.initialization_sampling,
    sampling: by.sampling,
    bias: by.bias,
    bayes: by.bayes,
  };
  if (at.resamples !== null) parts.resampling = by.resampling;
  return withTotal(parts);
}

function withTotal(parts) {
  let total = 0;
  for (const name in parts) total += parts[name];
  if (Number.isNaN(total)) throw new Error(`parts must be numbers, got ${JSON.stringify(parts)}`);
  parts.total = total;
  return parts;
}

/**
 * The exact test error by cause, and its total.
 *
 * `problem` has numbers of `PARAMETERS`, others have their defaults, and an activation: its name or moments.
 * `scheme` is n_members, or {name, n_members, ...options} of `SCHEMES`.
 */
export function exactError(problem, scheme = 1) {
  const at = validated(problem, scheme);
  return causes(memberTerms(memberAt(at, at.r), at.f), at);
}

/** The exact test error as main effects and interactions [adlam2020]; arguments as of `exactError`. */
export function anova(problem, scheme = 1) {
  const at = validated(problem, scheme);
  return effects(memberTerms(memberAt(at, at.r), at.f), at);
}

/**
 * The error along an axis: an array for each part, the total, and `training` on demand.
 *
 * `axis` is a field of the problem or of the scheme, or "time", or several that vary together, with an
 * array of values each; `split` is "causes" or "effects".
 */
export function errorCurve(problem, scheme, axis, values, { split = "causes", training, time } = {}) {
  const parts = oneOf("split", split, { causes, effects });
  const names = Array.isArray(axis) ? axis : [axis];
  const columns = Array.isArray(axis) ? values : [values];
  const count = columns[0].length;
  const problemAt = { ...problem };
  const schemeAt = typeof scheme === "number" ? { n_members: scheme } : { ...scheme };
  const timing = { time };
  const owners = names.map((name) => {
    oneOf("axis", name, PARAMETERS);
    return PROBLEM_FIELDS.includes(name) ? problemAt : name === "time" ? timing : schemeAt;
  });
  const curve = {};
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < names.length; k++) owners[k][names[k]] = columns[k][i];
    if (i === 0) refuseUnknown(problemAt, schemeAt);
    const at = inputs(problemAt, schemeAt);
    const error = parts(termsAtTime(at, checked("time", timing.time)), at);
    if (training) error.training = trainingOf(at);
    for (const name in error) (curve[name] ??= new Float64Array(count))[i] = error[name];
  }
  return curve;
}

/** The sum of terms of unit power, times the powers of target and noise. */
function errorOf(terms, at) {
  const R = terms.noise_sampling + terms.noise_interaction;
  const learned = terms.bias + terms.initialization + terms.sampling + terms.interaction;
  return times(at.signal, learned) + times(at.nonlinear, R) + times(at.noise, R);
}

/**
 * The mean squared error on the noisy training labels, averaged over the whole data set.
 *
 * On a training sample the residual of a member is B times (bootstrap: 1/(1 + w V) times) that of a
 * member trained without it. With π the share of the samples in one member, π₂ in both of two:
 * [π B² + 1 - π] (R₁ + σ²)/K + (1 - 1/K) [π₂ B² + 2 (π - π₂) B + 1 - 2π + π₂] (R₂ + σ²).
 */
export function trainingError(problem, scheme = 1) {
  return trainingOf(validated(problem, scheme));
}

function trainingOf(at) {
  const one = memberAt(at, at.r);
  const { shared, own } = memberTerms(one, at.f);
  const { g, residual, residualSquare } = one;
  const B = one.limit ? limitValue(one.point.B) : one.point.B;
  // R₂ + σ² of two members, and R₁ - R₂
  const product = errorOf(shared, at) + at.nonlinear + at.noise;
  const beyond = errorOf(own, at);
  // weights of B², B and 1 in the brackets
  const has = at.share;
  const apart = (1 - has) ** 2; // the sample is in neither, for independent choices
  const neither = apart + has * (g - has);
  let once = [has, 0, 1 - has];
  let pair = [has * g, 2 * has * (1 - g), neither > 1e-14 * apart ? neither : 0];
  if (at.bootstrap) {
    once = [0, 0, residualSquare];
    pair = [0, 0, residual ** 2];
  }
  const k = 1 / at.K;
  let error = 0;
  for (let i = 0; i < 3; i++) { // (w₂ B + w₁) B + w₀: B² alone could underflow
    const weight = k * once[i];
    error = times(B, error) + times(weight + (1 - k) * pair[i], product) + times(weight, beyond);
  }
  return error;
}

/**
 * The paper's dimensionless terms Ψ [dascoli2020] Eqs. (12)-(17), and Ψ₂ᵖ (`psi2_features`), for
 * the same features and fresh data. They depend on P/D, N/D, λ and the activation only.
 */
export function psiTerms(problem) {
  const at = validated(problem, 1);
  const one = memberAt(at, at.r);
  const { point, limit } = one;
  const { shared, own } = memberTerms(one, 0);
  const [overlap, square] = [point.L, point.L ** 2].map((v) => (limit ? limitValue(v) : v));
  return {
    psi1: overlap,
    psi2_vanilla: square + shared.sampling + own.initialization + own.interaction,
    psi3_vanilla: shared.noise_sampling + own.noise_interaction,
    psi2_ensemble: square + shared.sampling,
    psi3_ensemble: shared.noise_sampling,
    psi2_divide: square,
    psi2_features: square + own.initialization,
  };
}

// --- the best ridge ---

// Nodes r at which the derivative is evaluated first; the ends equal 0 and inf to rounding.
const SMALLEST = 1e-250;
const NODES = [0, 1e-200];
for (let i = -48; i <= 48; i++) NODES.push(10 ** (i / 2));
NODES.push(1e240);
const NEAR = 1e-13;

/**
 * The ridge of least total test error, from 0 (minimum norm) to Infinity (predict zero), and the error
 * there, as of `exactError`.
 */
export function optimalRidge(problem, scheme = 1) {
  const at = validated(problem, scheme);
  const ridge = bestRidge(at) * at.scale * at.scale;
  return { ridge, error: exactError({ ...problem, ridge }, scheme) };
}

/** The best r: 0, inf, or a point where the derivative turns positive. */
function bestRidge(at) {
  if (at.signal === 0 || at.l === 0) return Infinity; // there is nothing to learn
  if (at.m < NO_SAMPLES) return 0; // the error does not depend on the ridge
  let before = riskAt(at, 0);
  let [best, least] = before.slope >= 0 ? [0, before.risk] : [Infinity, Infinity];
  let [node, lowest] = [0, before.risk];
  for (let i = 1; i < NODES.length; i++) {
    const here = riskAt(at, NODES[i]);
    if (before.slope < 0 && here.slope >= 0) {
      const ends = [Math.log(Math.max(NODES[i - 1], SMALLEST)), Math.log(NODES[i])];
      const slopeAt = (x) => riskAt(at, Math.exp(x)).slope;
      const r = Math.exp(crossing(slopeAt, ...ends, before.slope, here.slope));
      const { risk } = riskAt(at, r);
      if (risk < least) [best, least] = [r, risk];
    }
    if (here.risk < lowest) [node, lowest] = [NODES[i], here.risk];
    before = here;
  }
  // where powers differ by more than 150 decades derivatives underflow: a node may then be better
  const better = lowest < (1 - 1e-6) * least;
  if (better && (least < Infinity || node < NODES.at(-1))) best = node;
  // ridge 0 of a saturated learner is a limit; where it diverges, a tiny ridge replaces it
  if (best === 0 && Math.min(at.P, at.m) >= at.rank) {
    const { shared, own } = memberTerms(memberAt(at, 0), at.f);
    if (errorOf(shared, at) + times(1 / at.K, errorOf(own, at)) === Infinity) best = SMALLEST;
  }
  return best;
}

/** The test error without the noise of test labels at ridge r, and its derivative by log(1/y). */
function riskAt(at, r) {
  const saturated = Math.min(at.P, at.bootstrap ? at.m * DISTINCT : at.m) >= at.rank;
  const ridge = saturated ? Math.max(r, SMALLEST) : r;
  const fitted = at.bootstrap
    ? bootstrapMember(at, ridge)
    : member(solve(at.l, at.t, at.P, at.m, at.spare, ridge), at.g, false);
  const one = productAt(fitted, at, 1, 1);
  const two = productAt(fitted, at, at.f, fitted.g);
  const k = 1 / at.K;
  const risk = times(k, one.value) + times(1 - k, two.value) + at.nonlinear;
  const slope = -(times(k, one.slope) + times(1 - k, two.slope));
  const finite = Math.abs(slope) < Infinity && risk < Infinity;
  return finite ? { risk, slope } : { risk: Infinity, slope: -Infinity }; // P = N without ridge
}

/**
 * The mean product of the errors of two members, F² S + (F² S + σ²) R with S = ρ + V_P and σ² = F⋆² + τ²,
 * and its derivative along log y (Python's `_optimum`); on a bootstrap sample c varies with y (`byWeights`).
 */
function productAt({ point, cSlope }, at, f, g) {
  const { L, M, A, P, p, q, Q_N, ty } = point;
  const chi = L * M;
  const { U, U_f, W_g, J_fg } = overlaps(point, f, g);
  const R = (g * Q_N) / W_g + ((f * g * p) / J_fg) * (q / W_g); // Ψ₃ᵛ if f = g = 1, Ψ₃ᵉ if f = 0, g = 1
  const alpha = 1 - f + f * A;
  const byWeights = f * U * cSlope * (A * Q_N + (Q_N + q) * p);
  const byFit = 2 * g * (Q_N * M * alpha * alpha + f * p * q * U_f);
  const slopeR = (byFit + byWeights) / J_fg / J_fg;
  const S = M * M + (chi * f * p) / U_f;
  const byFeatures = ((M - L) * (p + chi / P) + ty / P + (2 * f * p * L * chi) / P / U_f) / U_f;
  const slopeS = chi * (f * byFeatures - 2 * M);
  const power = at.signal * S + at.nonlinear + at.noise;
  return {
    value: at.signal * S + power * R,
    slope: at.signal * slopeS * (1 + R) + power * slopeR,
  };
}

/** The root between a and b, where the values have different signs, by Ridders' method. */
function crossing(f, a, b, fa, fb) {
  const narrow = (x, fx) => {
    if (!(x > a && x < b)) return;
    if (Math.sign(fx) === Math.sign(fa)) [a, fa] = [x, fx];
    else [b, fb] = [x, fx];
  };
  let root = Infinity;
  for (let taken = 0; taken < MOST_STEPS; taken++) {
    const middle = 0.5 * (a + b);
    const fm = f(middle);
    const away = (Math.sign(fa) * fm) / Math.sqrt(fm * fm - fa * fb);
    const x = middle + (Number.isFinite(away) ? (middle - a) * away : 0);
    const fx = f(x);
    narrow(middle, fm);
    narrow(x, fx);
    if (Math.abs(x - root) < NEAR) { // the bracket closes if the other side has the other sign
      const beyond = x + (x === a ? NEAR : -NEAR);
      narrow(beyond, f(beyond));
    }
    root = x;
    if (fx === 0 || b - a <= 2 * NEAR * Math.max(1, Math.abs(x))) return x;
  }
  throw new Error("the best ridge did not converge");
}

// --- training time ---

const complex = (re, im = 0) => ({ re, im });
const conjugate = (a) => ({ re: a.re, im: -a.im });
const size = (a) => Math.hypot(a.re, a.im);
const add = (a, b) => ({ re: a.re + b.re, im: a.im + b.im });
const scaled = (a, x) => ({ re: a.re * x, im: a.im * x });
const mul = (a, b) => ({ re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re });
const exp = (a) => ({ re: Math.exp(a.re) * Math.cos(a.im), im: Math.exp(a.re) * Math.sin(a.im) });

function div(a, b) {
  const scale = 1 / Math.max(Math.abs(b.re), Math.abs(b.im)); // squares could underflow
  const c = scaled(b, scale);
  return scaled(mul(a, conjugate(c)), scale / (c.re * c.re + c.im * c.im));
}

function sqrt(a) {
  const re = Math.sqrt(0.5 * (size(a) + Math.abs(a.re)));
  const im = re > 0 ? (0.5 * a.im) / re : 0;
  return a.re >= 0 ? { re, im } : { re: Math.abs(im), im: a.im < 0 ? -re : re };
}

/** Nodes z of Talbot's contour and weights w [weideman2006]; the other half are conjugates. */
function talbotPoles(count) {
  const poles = [];
  for (let k = 1; k < count; k += 2) {
    const theta = (Math.PI * k) / count;
    const angle = 0.6407 * theta;
    const cot = 1 / Math.tan(angle);
    const z = scaled(complex(0.5017 * theta * cot - 0.6122, 0.2645 * theta), count);
    const slope = complex(0.5017 * cot - (0.5017 * angle) / Math.sin(angle) ** 2, 0.2645);
    poles.push({ z, w: div(mul(complex(0, -1), mul(exp(z), slope)), z) });
  }
  const sum = 2 * poles.reduce((total, { w }) => total + w.re, 0);
  return poles.map(({ z, w }) => ({ z, w: scaled(w, 1 / sum) }));
}

const POLES = talbotPoles(20);

/** (*) at complex y and r: F = z + small h - small, dF/d log y, and the terms of a fixed point. */
function complexPoint(at, y, r) {
  const small = Math.min(at.P, at.m);
  const big = Math.max(at.P, at.m);
  const gap = (big - small) / big;
  const M = div(complex(1), complex(1 + at.l * y.re, at.l * y.im));
  const L = mul(scaled(y, at.l), M);
  const ty = scaled(y, at.t);
  const learned = size(M) < 0.5; // then L is counted as 1 - M
  const excess = add(add(learned ? scaled(M, -1) : L, ty), complex((learned ? 1 : 0) - small));
  const ry = mul(r, y);
  let root = sqrt(add(complex(gap * gap), scaled(ry, (4 * small) / big)));
  const likely = add(complex(gap), scaled(excess, -2 / big)); // the root that z implies
  if (mul(root, conjugate(likely)).re < 0 && size(root) > 1e-8) root = scaled(root, -1);
  const bigger = scaled(add(complex(gap), root), 0.5);
  const smaller = div(ry, bigger);
  const F = add(excess, scaled(smaller, small));
  const slope = add(add(mul(L, M), ty), scaled(div(ry, root), small));
  const narrow = at.P <= at.m;
  return { L, M, A: narrow ? smaller : bigger, B: narrow ? bigger : smaller, ty, F, slope };
}

/** Follow log y by Newton's method from one ridge to another, in parts where it moves far. */
function continued(at, from, to, start, depth = 0) {
  let y = start;
  let moved = complex(0);
  for (let taken = 0; taken < 12; taken++) {
    const { F, slope } = complexPoint(at, y, to);
    const step = scaled(div(F, slope), -1);
    moved = add(moved, step);
    if (!(size(moved) < 0.5)) break;
    y = mul(y, exp(step));
    if (size(step) < 1e-9) return y;
  }
  if (depth > 12) throw new Error("the fixed point at a complex ridge did not converge");
  const between = mul(sqrt(from), sqrt(to));
  const halfway = continued(at, from, between, start, depth + 1);
  return continued(at, between, to, halfway, depth + 1);
}

/** Add the parts of two fits a, b (see `memberTerms`), times a weight, to `sums`. */
function addProduct(sums, a, b, weight, at, f, g) {
  const v = mul(b.L, a.M);
  const alpha = add(complex(1 - f), scaled(a.A, f));
  const beta = add(complex(1 - g), scaled(b.B, g));
  const p = scaled(add(mul(a.L, b.M), a.ty), f / at.P);
  const q = scaled(add(v, b.ty), g / at.m);
  const W_g = add(beta, q);
  const rho = mul(a.M, b.M);
  const V_P = mul(v, div(p, add(alpha, p)));
  const R_s = div(scaled(mul(a.L, b.L), g / at.m), W_g);
  const R_o = mul(div(p, add(mul(alpha, W_g), mul(beta, p))), div(q, W_g));
  const V_PX = add(mul(add(rho, V_P), R_o), mul(V_P, R_s));
  const w = scaled(mul(a.w, b.w), weight);
  sums.initialization += mul(w, V_P).re;
  sums.sampling += mul(w, mul(rho, R_s)).re;
  sums.interaction += mul(w, V_PX).re;
  sums.noise_sampling += mul(w, R_s).re;
  sums.noise_interaction += mul(w, R_o).re;
}

const zeroTerms = () => ({
  bias: 0, initialization: 0, sampling: 0, interaction: 0, noise_sampling: 0, noise_interaction: 0,
});

/** Σ w w' V(a, a') over all pairs of fits, for members that share f P features and g m samples. */
function doubleSum(fits, at, f, g) {
  const sums = zeroTerms();
  for (let j = 0; j < fits.length; j++) {
    for (let k = j; k < fits.length; k++) {
      const weight = k === j ? 2 : 4; // conjugates, and both orders
      addProduct(sums, fits[j], fits[k], weight, at, f, g);
      addProduct(sums, fits[j], fits[k].conjugate, weight, at, f, g);
    }
  }
  for (const name in sums) sums[name] = Math.max(sums[name], 0); // rounded zeros
  return sums;
}

/** The terms of unit power at a time of training. */
function termsAtTime(at, time) {
  if (at.bootstrap && time < Infinity) refuse("time", "inf for scheme 'bootstrap'", time);
  const pace = 1 / time / at.P / at.m / at.scale / at.scale; // the ridge of a pole at 1
  if (time === Infinity || pace === 0 || at.r > 100 * pace) { // the ridge fit
    return memberTerms(memberAt(at, at.r), at.f);
  }
  if (!(pace < 1e150 && at.r < 1e150 && at.rank > 0)) { // the zero predictor
    return { shared: { ...zeroTerms(), bias: 1 }, own: zeroTerms() };
  }
  const ridges = POLES.map(({ z }) => add(complex(at.r), scaled(z, Math.max(pace, 1e-290))));
  let from = complex(size(ridges[0]));
  let y = complex(solve(at.l, at.t, at.P, at.m, at.P - at.m, from.re).y);
  let unlearned = 0;
  const fits = POLES.map(({ w }, j) => {
    y = continued(at, from, ridges[j], y);
    from = ridges[j];
    const { L, M, A, B, ty } = complexPoint(at, y, from);
    unlearned += 2 * mul(w, M).re;
    const fit = { L, M, A, B, ty, w };
    const mirrored = Object.entries(fit).map(([name, value]) => [name, conjugate(value)]);
    return { ...fit, conjugate: Object.fromEntries(mirrored) };
  });
  const own = doubleSum(fits, at, 1, 1);
  const shared = at.f === 0 && at.g === 0 ? zeroTerms() : doubleSum(fits, at, at.f, at.g);
  for (const name in own) own[name] = Math.max(own[name] - shared[name], 0);
  shared.bias = unlearned ** 2;
  return { shared, own };
}

/**
 * The test error at a time of training by gradient flow from zero weights, by cause:
 * da/dt = (Φᵀ (y - Φ a) - (N P λ/D) a)/D. With infinitely many features every positive time gives the ridge fit.
 */
export function gradientFlow(problem, time, scheme = 1) {
  const at = validated(problem, scheme);
  return causes(termsAtTime(at, checked("time", time)), at);
}
