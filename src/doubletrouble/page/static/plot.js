/**
 * A plot of curves as SVG: frozen axes, lines labelled directly, values under the pointer.
 *
 * `createPlot(container)` returns {update(spec), svg({caption}), png({caption}), destroy()}. A spec is
 *
 *     {title, description,
 *      x: {label, scale: "log" | "linear", range: [low, high]},  y: the same,
 *      lines: [{name, label, color, x, y, dash?, width?, ghost?, peak?}],
 *      areas?: [{name, label, color, x, low, high}],
 *      points?: [{x, y, bar?, color, label}],
 *      marks?: {here?: [{x, y, color?}], best?: [{x, y, label}], thresholds?: [{x, label}]},
 *      regimes?: [{from, to, label, short, shaded}], level?: {y, label},
 *      cells?: {columns, shares}}      a map: colours of cells from 0 to 1, row by row from the bottom
 *
 * Infinite and large values leave through the top; `peak` lines have their largest value written there.
 * Points and marks beyond the frame are arrows at its edge. Elements are reused, and only attributes
 * that have changed are written; nothing is measured while values change.
 */

import { html } from "./controls.js";
import { shownNumber } from "./state.js";

const SVG = "http://www.w3.org/2000/svg";
const FAR = 20000; // pixels: beyond any frame
const STEP = 16; // of the room for labels, so that it seldom changes with them
const FAMILY = "system-ui, sans-serif";
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

const LAYERS = [
  "regimes", "grid", "areas", "thresholds", "level", "ghosts", "lines", "bars", "points", "marks", "frame", "ticks",
  "texts", "leaders", "labels", "hover",
];
const CLIPPED = ["regimes", "areas", "level", "ghosts", "lines", "bars"];
const PASSING = ".plot-ghosts, .plot-hover"; // not in pictures

let plots = 0; // for identifiers of clip paths
const measure = document.createElement("canvas").getContext("2d");
const widths = new Map();

/** The width of a text in pixels. */
function textWidth(text, size) {
  const key = `${size} ${text}`;
  if (!widths.has(key)) {
    measure.font = `${size}px ${FAMILY}`;
    widths.set(key, measure.measureText(text).width);
  }
  return widths.get(key);
}

function widestOf(texts, size) {
  return Math.max(0, ...texts.map((text) => textWidth(text, size)));
}

function element(tag, parent, attributes = {}) {
  const made = set(document.createElementNS(SVG, tag), attributes);
  parent?.append(made);
  return made;
}

/** Write attributes that have changed. */
function set(node, attributes) {
  for (const name in attributes) {
    const text = String(attributes[name]);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
  return node;
}

/** Write a path and its colours, "" for those of the style sheet. */
function setPath(node, d, stroke = "", fill = "") {
  set(node, { d });
  if (node.style.stroke !== stroke) node.style.stroke = stroke;
  if (node.style.fill !== fill) node.style.fill = fill;
}

/** Write {text, x, y, anchor, color, turn} into a text element. */
function setText(node, { text, x, y, anchor = "middle", color = "", turn = "" }, size) {
  if (node.textContent !== text) node.textContent = text;
  set(node, { x: tenth(x), y: tenth(y), "text-anchor": anchor, "font-size": size, transform: turn });
  if (node.style.fill !== color) node.style.fill = color;
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** The element of some kind in a group, made if there is none. */
function child(group, tag) {
  return group.querySelector(tag) ?? element(tag, group);
}

/** The colour of texts about a line, closer to the ink. */
function textColor(color) {
  return `color-mix(in srgb, ${color} 70%, var(--ink))`;
}

const shapes = {
  dot: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  diamond: (x, y, r) => `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}Z`,
  up: (x, y, r) => `M${x - r} ${y + 2 * r}h${2 * r}l${-r} ${-2 * r}Z`,
  down: (x, y, r) => `M${x - r} ${y - 2 * r}h${2 * r}l${-r} ${2 * r}Z`,
  left: (x, y, r) => `M${x + 2 * r} ${y - r}v${2 * r}l${-2 * r} ${-r}Z`,
  right: (x, y, r) => `M${x - 2 * r} ${y - r}v${2 * r}l${2 * r} ${-r}Z`,
};

/** Give a group one child per item, and set each; children are reused. */
function each(group, tag, items, apply) {
  while (group.childElementCount > items.length) group.lastElementChild.remove();
  while (group.childElementCount < items.length) element(tag, group);
  items.forEach((item, i) => apply(group.children[i], item, i));
}

/** A function from values to pixels; what no axis shows is far away. */
function scaleOf({ scale, range: [low, high] }, from, to) {
  const isLog = scale === "log";
  const first = isLog ? Math.log(low) : low;
  const unit = (to - from) / ((isLog ? Math.log(high) : high) - first);
  const direction = Math.sign(unit);
  return (value) => {
    const place = from + ((isLog ? Math.log(value) : value) - first) * unit;
    return place !== place ? direction * -FAR : clamp(place, -FAR, FAR);
  };
}

/** Round values on an axis: {value, label}. */
function ticks({ scale, range: [low, high] }, most) {
  return scale === "log" ? logTicks(low, high, most) : linearTicks(low, high, most);
}

function logTicks(low, high, most) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  const multiples = last - first < 2 ? [1, 2, 5] : [1];
  const found = [];
  for (let power = first - 1; power <= last; power++) {
    for (const m of (power - first) % every === 0 || power < first ? multiples : []) {
      const value = m * 10 ** power;
      if (value > low * 0.999999 && value < high * 1.000001) found.push({ value, label: powerLabel(m, power) });
    }
  }
  return found;
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
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    const value = Number((k * step).toPrecision(12));
    found.push({ value, label: shownNumber(value, 6) });
  }
  return found;
}

/** Colours of cells, from little to much: viridis. */
export const CELL_COLORS = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"];
const CELL_RGB = CELL_COLORS.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));

function cellColor(share) {
  const place = clamp(share, 0, 1) * (CELL_RGB.length - 1);
  const k = Math.min(Math.floor(place), CELL_RGB.length - 2);
  return CELL_RGB[k].map((from, i) => from + (place - k) * (CELL_RGB[k + 1][i] - from));
}

/** A path through points, with one decimal of a pixel. */
function pathOf(x, y, xAt, yAt) {
  let d = "";
  for (let i = 0; i < x.length; i++) d += `${i ? "L" : "M"}${tenth(xAt(x[i]))} ${tenth(yAt(y[i]))}`;
  return d;
}

function tenth(value) {
  return Math.round(value * 10) / 10;
}

function areaOf(x, low, high, xAt, yAt) {
  const bottom = pathOf([...x].reverse(), [...low].reverse(), xAt, yAt);
  return `${pathOf(x, high, xAt, yAt)}L${bottom.slice(1)}Z`;
}

/** The index of the value nearest to x; `x` increases. */
function nearestIndex(values, x, isLog) {
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

/** Move texts apart vertically; their order is kept. */
function spread(items, top, bottom) {
  const sorted = [...items].sort((a, b) => a.wanted - b.wanted);
  let floor = top;
  for (const item of sorted) {
    item.y = Math.max(item.wanted, floor + item.size / 2);
    floor = item.y + item.size / 2;
  }
  let ceiling = bottom;
  for (const item of sorted.reverse()) {
    item.y = Math.min(item.y, ceiling - item.size / 2);
    ceiling = item.y - item.size / 2;
  }
}

/** Break a label into lines of at most some width. */
function wrapped(label, size, most) {
  const lines = [];
  for (const word of label.split(" ")) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && textWidth(longer, size) > most) lines.push(word);
    else lines.splice(Math.max(lines.length - 1, 0), 1, longer);
  }
  return lines;
}

/** Make a plot in a container, whose size it takes; `onPick(x, y)` is called where it is clicked. */
export function createPlot(container, { onPick } = {}) {
  const id = `plot-${(plots += 1)}`;
  const root = html("div", { class: "plot", tabindex: "0", role: "application", "aria-roledescription": "plot" });
  const svg = element("svg", root, { "aria-hidden": "true", focusable: "false" });
  const clip = element("rect", element("clipPath", element("defs", svg), { id: `${id}-frame` }));
  const layers = {};
  for (const name of LAYERS) layers[name] = element("g", svg, { class: `plot-${name}` });
  for (const name of CLIPPED) set(layers[name], { "clip-path": `url(#${id}-frame)` });
  const readout = html("div", { class: "plot-readout", hidden: true, "aria-hidden": "true" });
  const spoken = html("div", { class: "unseen", "aria-live": "polite" });
  root.append(readout, spoken);
  container.append(root);

  let spec = null;
  let size = { width: 0, height: 0 };
  let box = null; // the frame in pixels, and its scales
  let axesKey = "";
  let active = null; // the x under the pointer or the keyboard's cursor

  const observer = new ResizeObserver(([{ contentRect: { width, height } }]) => resize(width, height));
  observer.observe(root);

  function resize(width, height) {
    if (width === size.width && height === size.height) return;
    size = { width, height };
    axesKey = "";
    draw();
  }

  // --- layout ---

  /** Lines and areas with labels, the total first. */
  function labelled() {
    const shown = [...(spec.areas ?? []), ...spec.lines].filter((line) => line.label && !line.ghost);
    return shown.sort((a, b) => Boolean(b.peak) - Boolean(a.peak));
  }

  function layout() {
    const { width, height } = size;
    const narrow = width < 560;
    const low = height < 220;
    const font = narrow ? 11 : 13;
    const most = Math.max(0.24 * width, 64);
    const labels = labelled().map(({ name, label }) => {
      const lines = wrapped(label, font, most);
      return { name, lines, size: lines.length * (font + 1) };
    });
    const widest = widestOf(labels.flatMap(({ lines }) => lines.map((text) => `${text} ↓`)), font);
    const yTicks = ticks(spec.y, Math.max(2, Math.floor(height / 40)));
    const tickWidth = widestOf(yTicks.map(({ label }) => label), font - 1);
    const titled = !low;
    const left = Math.ceil(tickWidth) + 10 + (narrow ? 0 : 22);
    const right = width - 12 - STEP * Math.ceil(widest / STEP);
    const top = (spec.marks.thresholds?.length ? font + 8 : 8) + (narrow && titled ? font + 4 : 0);
    const bottom = height - (font + 8) - (titled ? font + 6 : 0);
    return {
      narrow, low, titled, font, labels, yTicks, left, right, top, bottom,
      x: scaleOf(spec.x, left, right),
      y: scaleOf(spec.y, bottom, top),
    };
  }

  function draw() {
    if (!spec || !size.width || !size.height) return;
    const names = labelled().map(({ label }) => label).join();
    const key = JSON.stringify([spec.x, spec.y, names, Boolean(spec.marks.thresholds?.length)]);
    if (key !== axesKey) {
      box = layout();
      axesKey = key;
      set(svg, { viewBox: `0 0 ${size.width} ${size.height}`, ...size });
      drawAxes();
    }
    drawCells();
    drawRegimes();
    drawLines();
    drawPoints();
    drawMarks();
    drawLabels();
    drawReadout();
    set(root, { "aria-label": `${spec.title}. ${spec.description ?? ""}` });
  }

  // --- axes ---

  function drawAxes() {
    const { left, right, top, bottom, font, narrow, titled, x, y, yTicks } = box;
    set(clip, { x: left, y: top, width: Math.max(right - left, 0), height: Math.max(bottom - top, 0) });
    const xTicks = ticks(spec.x, Math.max(2, Math.floor((right - left) / 40)));
    const across = xTicks.map(({ value }) => `M${x(value)} ${top}V${bottom}`);
    const up = yTicks.map(({ value }) => `M${left} ${y(value)}H${right}`);
    set(child(layers.grid, "path"), { d: [...across, ...up].join("") });
    set(child(layers.frame, "path"), { d: `M${left} ${top}V${bottom}H${right}` });
    const texts = [
      ...xTicks.map(({ value, label }) => ({ text: label, x: x(value), y: bottom + font + 4 })),
      ...yTicks.map(({ value, label }) => ({ text: label, x: left - 6, y: y(value) + font * 0.33, anchor: "end" })),
    ];
    each(layers.ticks, "text", texts, (text, at) => setText(text, at, font - 1));
    const titles = [];
    if (titled) {
      titles.push({ text: spec.x.label, x: (left + right) / 2, y: size.height - 4 });
      titles.push(
        narrow
          ? { text: spec.y.label, x: 2, y: font, anchor: "start" }
          : { text: spec.y.label, x: 0, y: 0, turn: `translate(${font} ${(top + bottom) / 2}) rotate(-90)` },
      );
    }
    each(layers.texts, "text", titles, (text, at) => setText(text, at, font));
  }

  function drawCells() {
    const { columns, shares } = spec.cells ?? {};
    if (!shares) return;
    const { left, right, top, bottom } = box;
    const canvas = root.querySelector("canvas") ?? root.insertBefore(html("canvas"), svg);
    const rows = shares.length / columns;
    Object.assign(canvas, { width: columns, height: rows });
    const place = { left, top, width: right - left, height: bottom - top };
    for (const name in place) canvas.style[name] = `${place[name]}px`;
    const image = new ImageData(columns, rows);
    shares.forEach((share, k) => {
      const row = rows - 1 - Math.floor(k / columns);
      image.data.set([...cellColor(share), 255], 4 * (row * columns + (k % columns)));
    });
    canvas.getContext("2d").putImageData(image, 0, 0);
    set(root, { role: "img", tabindex: "-1" });
  }

  function drawRegimes() {
    const { left, right, top, bottom, x, font, low } = box;
    const shown = (spec.regimes ?? []).map((regime) => {
      const from = Math.max(x(regime.from), left);
      const to = Math.min(x(regime.to), right);
      const fitting = [regime.label, regime.short ?? ""].find((text) => textWidth(text, font - 2) <= to - from - 8);
      return { ...regime, from, to, text: low ? "" : fitting ?? "" };
    });
    each(layers.regimes, "g", shown, (group, { from, to, shaded, text }) => {
      const area = { x: from, y: top, width: Math.max(to - from, 0), height: Math.max(bottom - top, 0) };
      set(child(group, "rect"), { ...area, class: shaded ? "shaded" : "" });
      setText(child(group, "text"), { text, x: (from + to) / 2, y: bottom - 6 }, font - 2);
    });
    const thresholds = (spec.marks.thresholds ?? [])
      .filter(({ x: at }) => x(at) >= left - 1 && x(at) <= right + 1)
      .sort((a, b) => a.x - b.x);
    let used = -FAR; // where the label before ends
    each(layers.thresholds, "g", thresholds, (group, { x: at, label }, i) => {
      set(child(group, "path"), { d: `M${x(at)} ${top}V${bottom}` });
      const half = textWidth(label, font) / 2;
      const next = thresholds[i + 1];
      const crowded = next && x(next.x) - x(at) < half + textWidth(next.label, font) / 2 + 8;
      const place = Math.max(clamp(crowded ? x(at) - half : x(at), half, size.width - half), used + half + 8);
      used = place + half;
      setText(child(group, "text"), { text: label, x: place, y: top - 5 }, font);
    });
  }

  // --- lines, areas, points ---

  function drawLines() {
    const { x, y, left, right } = box;
    each(layers.areas, "path", spec.areas ?? [], (path, area) => {
      setPath(path, areaOf(area.x, area.low, area.high, x, y), "", area.color);
    });
    const setLine = (path, line) => {
      setPath(path, pathOf(line.x, line.y, x, y), line.color);
      set(path, { "stroke-width": line.width ?? 2, "stroke-dasharray": line.dash ?? "none" });
    };
    each(layers.ghosts, "path", spec.lines.filter((line) => line.ghost), setLine);
    each(layers.lines, "path", spec.lines.filter((line) => !line.ghost), setLine);
    each(layers.level, "g", spec.level ? [spec.level] : [], (group, level) => {
      set(child(group, "path"), { d: `M${left} ${y(level.y)}H${right}` });
      const at = { text: level.label ?? "", x: left + 6, y: y(level.y) + box.font + 2, anchor: "start" };
      setText(child(group, "text"), at, box.font - 1);
    });
  }

  function drawPoints() {
    const { y, left, right } = box;
    const shown = (spec.points ?? []).map((point) => ({ ...point, ...placed(point) }));
    const barred = shown.filter(({ bar, px }) => bar && px >= left - 1 && px <= right + 1);
    each(layers.bars, "path", barred, (path, point) => {
      const ends = [y(point.y + point.bar), y(Math.max(point.y - point.bar, 0))];
      const caps = ends.map((end) => `M${point.px - 3} ${end}h6`).join("");
      setPath(path, `M${point.px} ${ends[0]}V${ends[1]}${caps}`, point.color);
    });
    each(layers.points, "path", shown, (path, { beyond, cx, cy, color }) => {
      setPath(path, shapes[beyond || "dot"](cx, cy, beyond ? 5 : 3.2), "", color);
    });
  }

  /** Where a point is in the frame; beyond it, at its edge on some side. */
  function placed(point) {
    const { x, y, left, right, top, bottom } = box;
    const [px, py] = [x(point.x), y(point.y)];
    const outside = { left: px < left - 1, right: px > right + 1, up: py < top - 1, down: py > bottom + 1 };
    const beyond = Object.keys(outside).find((side) => outside[side]);
    return { px, py, beyond, cx: clamp(px, left, right), cy: clamp(py, top, bottom) };
  }

  function drawMarks() {
    const { x, y, left, right, top, bottom, font } = box;
    const marks = [];
    for (const here of spec.marks.here ?? []) {
      const { beyond, cx, cy } = placed(here);
      marks.push({ kind: "here", color: here.color, d: shapes[beyond || "dot"](cx, cy, 6) });
    }
    for (const best of spec.marks.best ?? []) {
      const { px, py, beyond } = placed(best);
      if (beyond) continue;
      const half = textWidth(best.label, font - 1) / 2;
      const at = { text: best.label, x: clamp(px, left + half + 4, right - half - 2), y: py + font + 8 };
      if (at.y > bottom - 4) at.y = py - 10;
      const isHit = (other) => other && Math.abs(other.y - at.y) < font && Math.abs(other.x - at.x) < 2 * half;
      while (marks.some((other) => isHit(other.at))) at.y += font + 2;
      marks.push({ kind: "best", d: shapes.diamond(px, py, 5), at });
    }
    for (const line of spec.lines) {
      const largest = line.peak && !line.ghost ? peakOf(line) : null;
      if (!largest || y(largest.y) >= top) continue;
      const text = `↑ ${shownNumber(largest.y, 3)}`;
      const half = textWidth(text, font - 1) / 2;
      const px = x(largest.x) + half + 6;
      const place = px + half > right ? x(largest.x) - half - 6 : px;
      const used = marks.filter(({ kind }) => kind === "peak").length;
      marks.push({ kind: "peak", d: "", at: { text, x: place, y: top + font + used * (font + 2), color: line.color } });
    }
    each(layers.marks, "g", marks, (group, { kind, d, color, at }) => {
      set(group, { class: `mark-${kind}` });
      setPath(child(group, "path"), d, color);
      setText(child(group, "text"), at ?? { text: "", x: 0, y: 0 }, font - 1);
    });
  }

  function peakOf(line) {
    let k = 0;
    for (let i = 1; i < line.y.length; i++) if (line.y[i] > line.y[k]) k = i;
    return { x: line.x[k], y: line.y[k] };
  }

  function drawLabels() {
    const { y, right, top, bottom, font } = box;
    const shown = [];
    const all = labelled();
    for (const { name, lines, size: height } of box.labels) {
      const drawn = all.find((line) => line.name === name);
      const { low, high = drawn.y, color } = drawn;
      const isSeen = low ? (value, i) => value > low[i] : (value) => y(value) <= bottom;
      if (!high.some(isSeen)) continue;
      const end = high.length - 1;
      const at = low ? (y(high[end]) + y(low[end])) / 2 : y(high[end]);
      const beyond = at < top ? " ↑" : at > bottom ? " ↓" : "";
      const texts = [...lines.slice(0, -1), lines[lines.length - 1] + beyond];
      shown.push({ lines: texts, size: height, wanted: clamp(at, top, bottom), color: textColor(color) });
    }
    spread(shown, top - 4, bottom + 4);
    each(layers.labels, "text", shown, (text, label) => {
      set(text, { "font-size": font });
      if (text.style.fill !== label.color) text.style.fill = label.color;
      const first = label.y - label.size / 2 + font * 0.85;
      each(text, "tspan", label.lines, (span, line, i) => {
        if (span.textContent !== line) span.textContent = line;
        set(span, { x: right + 10, y: tenth(first + i * (font + 1)) });
      });
    });
    each(layers.leaders, "path", shown, (path, label) => {
      setPath(path, `M${right + 1} ${tenth(label.wanted)}L${right + 7} ${tenth(label.y)}`, label.color);
    });
  }

  // --- values under the pointer ---

  const indexAt = (line, x) => nearestIndex(line.x, x, spec.x.scale === "log");
  const valueAt = (line, x) => shownNumber((line.value ?? line.y)[indexAt(line, x)], 6);
  const heading = (x) => `${spec.x.symbol ?? spec.x.label} = ${shownNumber(x, 5)}`;

  function drawReadout() {
    const lines = active === null ? [] : labelled();
    readout.hidden = !lines.length;
    if (!lines.length) return layers.hover.replaceChildren();
    const { x, y, left, right, top, bottom } = box;
    const at = lines[0].x[indexAt(lines[0], active)];
    const dots = lines
      .map((line) => ({ color: line.color, py: y((line.y ?? line.high)[indexAt(line, at)]) }))
      .filter(({ py }) => py >= top && py <= bottom)
      .map(({ color, py }) => ({ d: shapes.dot(x(at), py, 3.5), color }));
    each(layers.hover, "path", [{ d: `M${x(at)} ${top}V${bottom}` }, ...dots], (path, { d, color }) => {
      setPath(path, d, color ? "none" : "", color ?? "none");
    });
    const rows = lines.map((line) => [line.color, line.label, valueAt(line, at)]);
    const points = (spec.points ?? [])
      .filter((point) => Math.abs(x(point.x) - x(at)) < 6)
      .map(({ color, label, y: height, bar }) => {
        const error = bar ? ` ± ${shownNumber(bar / 2, 2)}` : "";
        return [color, label, shownNumber(height, 4) + error];
      });
    const made = [...rows, ...points].map(([color, label, value]) => {
      const key = html("i");
      key.style.background = color;
      return html("div", {}, key, html("span", {}, label), html("b", {}, value));
    });
    readout.replaceChildren(html("div", {}, heading(at)), ...made);
    const toRight = x(at) < (left + right) / 2;
    readout.style.left = toRight ? `${Math.round(x(at) + 12)}px` : "auto";
    readout.style.right = toRight ? "auto" : `${Math.round(size.width - x(at) + 12)}px`;
    readout.style.top = `${Math.max(0, top)}px`;
  }

  /** The value on an axis at a pixel between its ends. */
  function valueOf({ scale, range: [low, high] }, place, from, to) {
    const share = clamp((place - from) / (to - from), 0, 1);
    return scale === "log" ? low * (high / low) ** share : low + share * (high - low);
  }

  function follow(event) {
    const px = event.clientX - root.getBoundingClientRect().left;
    if (!box || px > box.right + 20) return leave();
    active = valueOf(spec.x, px, box.left, box.right);
    drawReadout();
  }

  function pick(event) {
    const { left, top } = root.getBoundingClientRect();
    const x = valueOf(spec.x, event.clientX - left, box.left, box.right);
    onPick(x, valueOf(spec.y, event.clientY - top, box.bottom, box.top));
  }

  function leave() {
    active = null;
    if (spec && box) drawReadout();
  }

  function press(event) {
    const lines = spec ? labelled() : [];
    if (!lines.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const values = lines[0].x;
    const middle = spec.marks.here?.[0]?.x ?? values[values.length >> 1];
    const now = indexAt(lines[0], active ?? middle);
    const step = event.shiftKey ? 10 : 1;
    const moves = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: values.length - 1 };
    if (event.key === "Escape") return leave();
    if (!(event.key in moves)) return;
    event.preventDefault();
    active = values[active === null ? now : clamp(moves[event.key], 0, values.length - 1)];
    drawReadout();
    const texts = lines.map((line) => `${line.label} ${valueAt(line, active)}`);
    spoken.textContent = `${heading(active)}: ${texts.join(", ")}`;
  }

  if (onPick) root.addEventListener("click", pick);
  root.addEventListener("pointermove", follow);
  root.addEventListener("pointerdown", follow);
  root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && leave());
  root.addEventListener("pointercancel", leave); // the page is scrolled by touch
  root.addEventListener("keydown", press);
  root.addEventListener("blur", leave);

  // --- pictures ---

  return {
    update(next) {
      spec = next;
      if (size.width) draw();
      else resize(root.clientWidth, root.clientHeight); // as yet unknown
    },
    /** The plot as an SVG document, with lines of a caption below it. */
    svg: ({ caption }) => standalone(svg, size, caption),
    /** The same as a PNG, twice as many pixels on each side. */
    png: ({ caption }) => rasterized(standalone(svg, size, caption), 2),
    destroy() {
      observer.disconnect();
      root.remove();
    },
  };
}

const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const plain = new Map();

/** A CSS colour as #rrggbb with its opacity. */
function plainColor(css) {
  if (css === "none" || !css) return css;
  if (!plain.has(css)) {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = css;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
    const hex = [r, g, b].map((v) => v.toString(16).padStart(2, "0")).join("");
    plain.set(css, a === 255 ? `#${hex}` : a === 0 ? "none" : `#${hex}${a.toString(16).padStart(2, "0")}`);
  }
  return plain.get(css);
}

const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-weight",
  "paint-order",
];
const LINE_HEIGHT = 17;

/** An SVG element as a document of its own: styles of the page are written into it. */
function standalone(svg, { width, height }, caption) {
  const { color, backgroundColor } = getComputedStyle(document.body);
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*");
  const passing = copy.querySelectorAll(PASSING);
  copy.querySelectorAll("*").forEach((node, i) => {
    const styles = getComputedStyle(originals[i]);
    node.removeAttribute("style");
    node.removeAttribute("class");
    if (!["path", "text", "rect", "tspan"].includes(node.tagName)) return;
    for (const name of STYLES) {
      const value = styles.getPropertyValue(name);
      node.setAttribute(name, name === "fill" || name === "stroke" ? plainColor(value) : value);
    }
  });
  for (const layer of passing) layer.remove();
  const lines = caption.flatMap((text) => wrapped(text, 12, width - 16));
  const whole = height + (lines.length ? lines.length * LINE_HEIGHT + 12 : 0);
  set(copy, { xmlns: SVG, width, height: whole, viewBox: `0 0 ${width} ${whole}`, "font-family": FAMILY });
  copy.removeAttribute("aria-hidden");
  lines.forEach((line, i) => {
    const place = { x: 8, y: height + 14 + i * LINE_HEIGHT };
    element("text", copy, { ...place, "font-size": 12, fill: plainColor(color) }).textContent = line;
  });
  copy.prepend(element("rect", null, { width: "100%", height: "100%", fill: plainColor(backgroundColor) }));
  copy.prepend(element("title", null));
  copy.firstChild.textContent = caption.join(" ");
  return new XMLSerializer().serializeToString(copy);
}

async function rasterized(source, scale) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([source], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
