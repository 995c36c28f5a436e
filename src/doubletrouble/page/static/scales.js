/** Scales of a plot: values to pixels and back, ticks, colours. */

import { shownNumber } from "./state.js";

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

export const FAR = 20000; // pixels: beyond any frame

export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** A function from values to pixels; what no axis shows is far away. */
export function scaleOf({ scale, range: [low, high] }, from, to) {
  const isLog = scale === "log";
  const first = isLog ? Math.log(low) : low;
  const unit = (to - from) / ((isLog ? Math.log(high) : high) - first);
  const direction = Math.sign(unit);
  return (value) => {
    const at = from + ((isLog ? Math.log(value) : value) - first) * unit;
    return Number.isNaN(at) ? direction * -FAR : clamp(at, -FAR, FAR);
  };
}

/** The value on an axis at a pixel between its ends. */
export function valueAt({ scale, range: [low, high] }, pixel, from, to) {
  const share = clamp((pixel - from) / (to - from), 0, 1);
  return scale === "log" ? low * (high / low) ** share : low + share * (high - low);
}

/** Round values on an axis: {value, label}. */
export function ticks({ scale, range: [low, high] }, most) {
  return scale === "log" ? logTicks(low, high, most) : linearTicks(low, high, most);
}

function logTicks(low, high, most) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  const multiples = last - first < 2 ? [1, 2, 5] : [1];
  const result = [];
  for (let power = first - 1; power <= last; power++) {
    for (const m of (power - first) % every === 0 || power < first ? multiples : []) {
      const value = m * 10 ** power;
      if (value > low * 0.999999 && value < high * 1.000001) result.push({ value, label: powerLabel(m, power) });
    }
  }
  return result;
}

function powerLabel(m, power) {
  if (power >= -2 && power <= 3) return String(Number((m * 10 ** power).toPrecision(1)));
  const exponent = [...String(power)].map((digit) => SUPERSCRIPTS[digit]).join("");
  return `${m === 1 ? "" : `${m}·`}10${exponent}`;
}

function linearTicks(low, high, most) {
  const rough = (high - low) / most;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((value) => value >= rough * 0.999);
  const result = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    const value = Number((k * step).toPrecision(12));
    result.push({ value, label: shownNumber(value, 6) });
  }
  return result;
}

/** The index of the value nearest to x; `x` increases. */
export function nearestIndex(values, x, isLog) {
  let low = 0;
  let high = values.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle;
    else high = middle;
  }
  const toLow = isLog ? x / values[low] : x - values[low];
  const toHigh = isLog ? values[high] / x : values[high] - x;
  return toLow <= toHigh ? low : high;
}

/** Colours of cells, from little to much: viridis. */
export const CELL_COLORS = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"];
const CELL_RGB = CELL_COLORS.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));

/** The colour of a share from 0 to 1: [r, g, b]. */
export function cellColor(share) {
  const at = clamp(share, 0, 1) * (CELL_RGB.length - 1);
  const k = Math.min(Math.floor(at), CELL_RGB.length - 2);
  return CELL_RGB[k].map((from, i) => from + (at - k) * (CELL_RGB[k + 1][i] - from));
}
