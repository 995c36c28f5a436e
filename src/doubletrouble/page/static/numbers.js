/** Numbers as text, as Python prints them. */

const [LEAST, MOST] = [1e-4, 1e7]; // plain notation in between

/** A number with three significant digits, in plain notation from 1e-4 to 1e7; ties to even, as in Python. */
export function plain(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  if (value === 0) return "0";
  const near = Number(toEven(value, 3));
  if (!isPlain(near)) return withPower(near.toExponential(2));
  return grouped(near.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Math.abs(near)) + 1e-12))));
}

/** A parameter: a whole number with all its digits, another one with three. */
export function whole(value) {
  if (!Number.isFinite(value) || value === 0) return plain(value);
  if (Math.abs(value) < MOST && value === Math.round(value)) return grouped(String(value));
  const near = Number(toEven(value, 3));
  if (isPlain(near)) return grouped(String(near));
  const [mantissa, power] = near.toExponential(2).split("e");
  return withPower(`${Number(mantissa)}e${power}`);
}

/** A share in percent; below 1% with one decimal. */
export function percent(share) {
  if (!Number.isFinite(share)) return Number.isNaN(share) ? "–" : `${plain(share)}%`;
  const value = 100 * share;
  if (value === 0) return "0%";
  if (value < 0.05) return "<0.1%";
  if (value < 0.995) return `${(value < 0.1 ? value : Number(toEven(value, 1))).toFixed(1)}%`;
  if (value >= MOST) return `${plain(value)}%`;
  const near = value >= 1000 ? Number(toEven(value, 3)) : value;
  return `${grouped(String(Number(toEven(near, Math.max(1, Math.floor(Math.log10(near)) + 1)))))}%`;
}

const isPlain = (near) => Math.abs(near) >= LEAST && Math.abs(near) < MOST;

/** A power of at least two digits, as in Python. */
function withPower(text) {
  const [mantissa, [sign, ...power]] = text.split("e");
  return `${mantissa}e${sign}${power.join("").padStart(2, "0")}`;
}

/** A number with separators of thousands. */
function grouped(text) {
  const [before, after] = text.split(".");
  const digits = before.replace(/\B(?=(\d{3})+$)/g, ",");
  return after === undefined ? digits : `${digits}.${after}`;
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
