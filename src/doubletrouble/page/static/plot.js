/**
 * A plot of curves as SVG: frozen axes, lines labelled directly, values under the pointer.
 *
 * `createPlot(container, {onPick})` returns {update(spec), svg: the drawing, destroy()}. With `onPick(x, y)`,
 * called where it is clicked, it is a map without a keyboard cursor. A spec is
 *
 *     {title, description?,
 *      x: {label, symbol?, scale: "log" | "linear", range: [low, high]},  y: the same,
 *      lines: [{name, label, color, x, y, dash?, width?, ghost?, peak?, inside?}],      inside: label at the left
 *      areas?: [{name, label, color, x, low, high, value?}],      value: what is read out
 *      points?: [{x, y, bar?, color, label, hollow?}],
 *      marks: {here?: [{x, y, color?}], best?: [{x, y, label}], thresholds?: [{x, label}]},
 *      regimes?: [{from, to, label, short?, shaded?}], level?: {y, label?},
 *      cells?: {columns, shares}}      a map: colours of cells from 0 to 1, row by row from the bottom
 *
 * Infinite and large values leave through the top; `peak` lines have their largest value written there.
 * Points and marks beyond the frame are arrows at its edge. Nothing is measured while values change.
 */

import { html } from "./elements.js";
import { FAR, cellColor, clamp, nearestIndex, scaleOf, ticks, valueAt } from "./scales.js";
import { shownNumber } from "./state.js";
import { child, each, element, placeText, set, setPath, tenth, textWidth, wrapped } from "./svg.js";

const STEP = 16; // of the room for labels, so that it seldom changes with them
const NARROW = 560; // pixels
const NARROWEST = 220; // without labels
const LOW = 220;

const LAYERS = [
  "regimes", "grid", "areas", "thresholds", "level", "ghosts", "lines", "bars", "points", "marks", "frame", "ticks",
  "texts", "leaders", "labels", "hover",
];
const CLIPPED = ["regimes", "areas", "level", "ghosts", "lines", "bars"];

let plots = 0; // for identifiers of clip paths

const shapes = {
  dot: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  diamond: (x, y, r) => `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}Z`,
  up: (x, y, r) => `M${x - r} ${y + 2 * r}h${2 * r}l${-r} ${-2 * r}Z`,
  down: (x, y, r) => `M${x - r} ${y - 2 * r}h${2 * r}l${-r} ${2 * r}Z`,
  left: (x, y, r) => `M${x + 2 * r} ${y - r}v${2 * r}l${-2 * r} ${-r}Z`,
  right: (x, y, r) => `M${x - 2 * r} ${y - r}v${2 * r}l${2 * r} ${-r}Z`,
};

// --- layout ---

/** Lines and areas with labels, the total first. */
function labelled({ areas = [], lines }) {
  const shown = [...areas, ...lines].filter((line) => line.label && !line.ghost);
  return shown.sort((a, b) => Boolean(b.peak) - Boolean(a.peak));
}

function widestOf(texts, size) {
  return Math.max(0, ...texts.map((text) => textWidth(text, size)));
}

/** The frame in pixels, its scales, and the lines of the labels. */
function layout(spec, { width, height }) {
  const narrow = width < NARROW;
  const low = height < LOW;
  const font = narrow ? 11 : 13;
  const most = Math.max(0.24 * width, 64);
  const outside = labelled(spec).filter((line) => !line.inside && width >= NARROWEST);
  const labels = outside.map(({ name, label }) => {
    const lines = wrapped(label, font, most);
    return { name, lines, size: lines.length * (font + 1) };
  });
  const widest = widestOf(labels.flatMap(({ lines }) => lines.map((text) => (narrow ? text : `${text} ↓`))), font);
  const yTicks = ticks(spec.y, Math.max(2, Math.floor(height / 40)));
  const tickWidth = widestOf(yTicks.map(({ label }) => label), font - 1);
  const titled = !low;
  const left = Math.ceil(tickWidth) + 10 + (narrow ? 0 : 22);
  const step = narrow ? STEP / 2 : STEP;
  const right = width - 12 - step * Math.ceil(widest / step);
  const top = (spec.marks.thresholds?.length ? font + 8 : 8) + (narrow && titled ? font + 4 : 0);
  const bottom = height - (font + 8) - (titled ? font + 6 : 0);
  return {
    width, height, narrow, low, titled, font, labels, yTicks, left, right, top, bottom,
    x: scaleOf(spec.x, left, right),
    y: scaleOf(spec.y, bottom, top),
  };
}

/** The pixels of a point, and those in the frame; `beyond`: the side on which it is outside. */
function positionOf(point, { x, y, left, right, top, bottom }) {
  const [px, py] = [x(point.x), y(point.y)];
  const outside = { left: px < left - 1, right: px > right + 1, up: py < top - 1, down: py > bottom + 1 };
  const beyond = Object.keys(outside).find((side) => outside[side]);
  return { px, beyond, cx: clamp(px, left, right), cy: clamp(py, top, bottom) };
}

// --- axes ---

function drawAxes(clip, layers, spec, box) {
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
  each(layers.ticks, "text", texts, (text, at) => placeText(text, at, font - 1));
  const titles = [];
  if (!titled) {
    const text = box.width < NARROWEST ? "" : spec.x.symbol ?? spec.x.label;
    titles.push({ text, x: right + 14, y: bottom + font + 4, anchor: "start" });
  } else {
    titles.push({ text: spec.x.label, x: (left + right) / 2, y: box.height - 4 });
    titles.push(
      narrow
        ? { text: spec.y.label, x: 2, y: font, anchor: "start" }
        : { text: spec.y.label, x: 0, y: 0, turn: `translate(${font} ${(top + bottom) / 2}) rotate(-90)` },
    );
  }
  each(layers.texts, "text", titles, (text, at) => placeText(text, at, font));
}

function drawCells(root, { columns, shares }, { left, right, top, bottom }) {
  const canvas = root.querySelector("canvas") ?? root.insertBefore(html("canvas"), root.firstChild);
  const rows = shares.length / columns;
  Object.assign(canvas, { width: columns, height: rows });
  const area = { left, top, width: right - left, height: bottom - top };
  for (const name in area) canvas.style[name] = `${area[name]}px`;
  const image = new ImageData(columns, rows);
  shares.forEach((share, k) => {
    const row = rows - 1 - Math.floor(k / columns);
    image.data.set([...cellColor(share), 255], 4 * (row * columns + (k % columns)));
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
}

function drawRegimes(layer, regimes, { left, right, top, bottom, x, font, low }) {
  const shown = regimes.map((regime) => {
    const from = Math.max(x(regime.from), left);
    const to = Math.min(x(regime.to), right);
    const fitting = [regime.label, regime.short ?? ""].find((text) => textWidth(text, font - 2) <= to - from - 8);
    return { ...regime, from, to, text: low ? "" : fitting ?? "" };
  });
  each(layer, "g", shown, (group, { from, to, shaded, text }) => {
    const area = { x: from, y: top, width: Math.max(to - from, 0), height: Math.max(bottom - top, 0) };
    set(child(group, "rect"), { ...area, class: shaded ? "shaded" : "" });
    placeText(child(group, "text"), { text, x: (from + to) / 2, y: bottom - 6 }, font - 2);
  });
}

function drawThresholds(layer, all, { left, right, top, bottom, x, font, width }) {
  const thresholds = all
    .filter(({ x: at }) => x(at) >= left - 1 && x(at) <= right + 1)
    .sort((a, b) => a.x - b.x);
  let used = -FAR; // where the label before ends
  each(layer, "g", thresholds, (group, { x: at, label }, i) => {
    set(child(group, "path"), { d: `M${x(at)} ${top}V${bottom}` });
    const half = textWidth(label, font) / 2;
    const next = thresholds[i + 1];
    const crowded = next && x(next.x) - x(at) < half + textWidth(next.label, font) / 2 + 8;
    const middle = Math.max(clamp(crowded ? x(at) - half : x(at), half, width - half), used + half + 8);
    used = middle + half;
    placeText(child(group, "text"), { text: label, x: middle, y: top - 5 }, font);
  });
}

// --- lines, areas, points ---

/** A path through points, with one decimal of a pixel. */
function pathOf(x, y, xAt, yAt) {
  let d = "";
  for (let i = 0; i < x.length; i++) d += `${i ? "L" : "M"}${tenth(xAt(x[i]))} ${tenth(yAt(y[i]))}`;
  return d;
}

function areaOf(x, low, high, xAt, yAt) {
  const bottom = pathOf([...x].reverse(), [...low].reverse(), xAt, yAt);
  return `${pathOf(x, high, xAt, yAt)}L${bottom.slice(1)}Z`;
}

function drawLines(layers, spec, { x, y, left, right, font }) {
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
    const at = { text: level.label ?? "", x: left + 6, y: y(level.y) + font + 2, anchor: "start" };
    placeText(child(group, "text"), at, font - 1);
  });
}

function drawPoints(layers, points, box) {
  const { y, left, right } = box;
  const shown = points.map((point) => ({ ...point, ...positionOf(point, box) }));
  const barred = shown.filter(({ bar, px }) => bar && px >= left - 1 && px <= right + 1);
  each(layers.bars, "path", barred, (path, point) => {
    const ends = [y(point.y + point.bar), y(Math.max(point.y - point.bar, 0))];
    const caps = ends.map((end) => `M${point.px - 3} ${end}h6`).join("");
    setPath(path, `M${point.px} ${ends[0]}V${ends[1]}${caps}`, point.color);
  });
  each(layers.points, "path", shown, (path, { beyond, cx, cy, color, hollow }) => {
    setPath(path, shapes[beyond || "dot"](cx, cy, beyond ? 5 : 3.2), color, hollow ? "var(--paper)" : color);
  });
}

function drawMarks(layer, spec, box) {
  const { x, y, left, right, top, bottom, font } = box;
  const marks = [];
  for (const here of spec.marks.here ?? []) {
    const { beyond, cx, cy } = positionOf(here, box);
    marks.push({ kind: "here", color: here.color, d: shapes[beyond || "dot"](cx, cy, 6) });
  }
  for (const best of spec.marks.best ?? []) {
    const { beyond, cx, cy } = positionOf(best, box);
    const half = textWidth(best.label, font - 1) / 2;
    const at = { text: best.label, x: clamp(cx, left + half + 4, right - half - 2), y: cy + font + 5 };
    if (at.y > bottom - 4) at.y = cy - (beyond ? 16 : 10);
    const isHit = (other) => other && Math.abs(other.y - at.y) < font && Math.abs(other.x - at.x) < 2 * half;
    while (marks.some((other) => isHit(other.at))) at.y += font + 2;
    marks.push({ kind: "best", d: shapes[beyond || "diamond"](cx, cy, 5), at });
  }
  for (const { inside, label, x: xs, y: ys, color } of spec.lines) {
    const i = inside ? ys.findIndex((value) => y(value) > top + font) : -1;
    if (i < 0) continue;
    const at = { text: label, x: Math.max(x(xs[i]), left) + 6, y: y(ys[i]) - 5, anchor: "start", color: textColor(color) };
    marks.push({ kind: "peak", d: "", at });
  }
  for (const line of spec.lines) {
    const largest = line.peak && !line.ghost ? peakOf(line) : null;
    if (!largest || y(largest.y) >= top) continue;
    const text = `↑ ${shownNumber(largest.y, 3)}`;
    const half = textWidth(text, font - 1) / 2 + 9;
    const used = marks.filter(({ kind }) => kind === "peak").length;
    const height = top + font + used * (font + 2);
    // beside the curve, where it is lower than the text
    const isLower = (value) => y(value) > height + 4;
    const after = line.y.findIndex((value, i) => line.x[i] > largest.x && isLower(value));
    const before = line.y.findLastIndex((value, i) => line.x[i] < largest.x && isLower(value));
    const [px, left] = [after, before].map((i) => x(line.x[i] ?? largest.x));
    const middle = px + 2 * half > right ? left - half : px + half;
    marks.push({ kind: "peak", d: "", at: { text, x: middle, y: height, color: line.color } });
  }
  each(layer, "g", marks, (group, { kind, d, color, at }) => {
    set(group, { class: `mark-${kind}` });
    setPath(child(group, "path"), d, color);
    placeText(child(group, "text"), at ?? { text: "", x: 0, y: 0 }, font - 1);
  });
}

function peakOf(line) {
  let k = 0;
  for (let i = 1; i < line.y.length; i++) if (line.y[i] > line.y[k]) k = i;
  return { x: line.x[k], y: line.y[k] };
}

/** The colour of texts about a line, closer to the ink. */
function textColor(color) {
  return `color-mix(in srgb, ${color} 70%, var(--ink))`;
}

/** Move texts apart vertically; their order is kept. */
function spread(items, top, bottom) {
  const sorted = [...items].sort((a, b) => a.ideal - b.ideal);
  let floor = top;
  for (const item of sorted) {
    item.y = Math.max(item.ideal, floor + item.size / 2);
    floor = item.y + item.size / 2;
  }
  let ceiling = bottom;
  for (const item of sorted.reverse()) {
    item.y = Math.min(item.y, ceiling - item.size / 2);
    ceiling = item.y - item.size / 2;
  }
}

function drawLabels(layers, spec, { labels, y, right, top, bottom, font }) {
  const shown = [];
  const all = labelled(spec);
  for (const { name, lines, size: height } of labels) {
    const drawn = all.find((line) => line.name === name);
    const { low, high = drawn.y, color } = drawn;
    const isSeen = low ? (value, i) => value > low[i] : (value) => y(value) <= bottom;
    if (!high.some(isSeen)) continue;
    const end = high.length - 1;
    const at = low ? (y(high[end]) + y(low[end])) / 2 : y(high[end]);
    const beyond = at < top ? " ↑" : at > bottom ? " ↓" : "";
    const texts = [...lines.slice(0, -1), lines[lines.length - 1] + beyond];
    shown.push({ lines: texts, size: height, ideal: clamp(at, top, bottom), color: textColor(color) });
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
    setPath(path, `M${right + 1} ${tenth(label.ideal)}L${right + 7} ${tenth(label.y)}`, label.color);
  });
}

// --- values under the pointer ---

/** The values at a position, under the pointer or at the cursor; `current` returns {spec, box}. */
function createReadout(root, layer, current) {
  const readout = html("div", { class: "plot-readout", hidden: true, "aria-hidden": "true" });
  const announced = html("div", { class: "unseen", "aria-live": "polite" });
  root.append(readout, announced);
  let active = null; // the x under the pointer or the keyboard's cursor

  const indexAt = (line, x) => nearestIndex(line.x, x, current().spec.x.scale === "log");
  const textAt = (line, x) => shownNumber((line.value ?? line.y)[indexAt(line, x)], 6);
  const heading = ({ x: { symbol, label } }, x) => `${symbol ?? label} = ${shownNumber(x, 5)}`;

  function draw() {
    const { spec, box } = current();
    const lines = active === null ? [] : labelled(spec);
    readout.hidden = !lines.length;
    if (!lines.length) return layer.replaceChildren();
    const { x, y, left, right, top, bottom } = box;
    const at = lines[0].x[indexAt(lines[0], active)];
    const dots = lines
      .map((line) => ({ color: line.color, py: y((line.y ?? line.high)[indexAt(line, at)]) }))
      .filter(({ py }) => py >= top && py <= bottom)
      .map(({ color, py }) => ({ d: shapes.dot(x(at), py, 3.5), color }));
    each(layer, "path", [{ d: `M${x(at)} ${top}V${bottom}` }, ...dots], (path, { d, color }) => {
      setPath(path, d, color ? "none" : "", color ?? "none");
    });
    const rows = lines.map((line) => [line.color, line.label, textAt(line, at), line.dash]);
    const points = (spec.points ?? [])
      .filter((point) => Math.abs(x(point.x) - x(at)) < 6)
      .map(({ color, label, y: height, bar, hollow }) => {
        const error = bar ? ` ± ${shownNumber(bar / 2, 2)}` : "";
        return [color, label, shownNumber(height, 4) + error, hollow];
      });
    const made = [...rows, ...points].map(([color, label, value, dash]) => {
      const key = html("i");
      key.style.background = dash ? `linear-gradient(90deg, ${color} 35%, #0000 35% 65%, ${color} 65%)` : color;
      return html("div", {}, key, html("span", {}, label), html("b", {}, value));
    });
    readout.replaceChildren(html("div", {}, heading(spec, at)), ...made);
    const toRight = x(at) < (left + right) / 2;
    readout.style.left = toRight ? `${Math.round(x(at) + 12)}px` : "auto";
    readout.style.right = toRight ? "auto" : `${Math.round(box.width - x(at) + 12)}px`;
    readout.style.top = `${Math.max(0, top)}px`;
  }

  function follow(event) {
    const { spec, box } = current();
    const px = event.clientX - root.getBoundingClientRect().left;
    if (!box || px > box.right + 20) return leave();
    active = valueAt(spec.x, px, box.left, box.right);
    draw();
  }

  function leave() {
    active = null;
    if (current().box) draw();
  }

  function press(event) {
    const { spec } = current();
    const lines = spec ? labelled(spec) : [];
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
    draw();
    const texts = lines.map((line) => `${line.label} ${textAt(line, active)}`);
    announced.textContent = `${heading(spec, active)}: ${texts.join(", ")}`;
  }

  root.addEventListener("pointermove", follow);
  root.addEventListener("pointerdown", follow);
  root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && leave());
  root.addEventListener("pointercancel", leave); // the page is scrolled by touch
  root.addEventListener("keydown", press);
  root.addEventListener("blur", leave);
  return draw;
}

// --- the plot ---

/** Make a plot in a container, whose size it takes. */
export function createPlot(container, { onPick } = {}) {
  const id = `plot-${(plots += 1)}`;
  const access = onPick ? { role: "img" } : { role: "application", tabindex: "0", "aria-roledescription": "plot" };
  const root = html("div", { class: "plot", ...access });
  const svg = element("svg", root, { "aria-hidden": "true", focusable: "false" });
  const clip = element("rect", element("clipPath", element("defs", svg), { id: `${id}-frame` }));
  const layers = {};
  for (const name of LAYERS) layers[name] = element("g", svg, { class: `plot-${name}` });
  for (const name of CLIPPED) set(layers[name], { "clip-path": `url(#${id}-frame)` });
  const drawReadout = createReadout(root, layers.hover, () => ({ spec, box }));
  container.append(root);

  let spec = null;
  let size = { width: 0, height: 0 };
  let box = null; // the layout
  let axesKey = "";

  const observer = new ResizeObserver(([{ contentRect: { width, height } }]) => resize(width, height));
  observer.observe(root);

  function resize(width, height) {
    if (width === size.width && height === size.height) return;
    size = { width, height };
    axesKey = "";
    draw();
  }

  function draw() {
    if (!spec || !size.width || !size.height) return;
    const { x, y, marks } = spec;
    const names = labelled(spec).map(({ label }) => label).join();
    const key = JSON.stringify([x, y, names, Boolean(marks.thresholds?.length)]);
    if (key !== axesKey) {
      box = layout(spec, size);
      axesKey = key;
      set(svg, { viewBox: `0 0 ${size.width} ${size.height}`, ...size });
      drawAxes(clip, layers, spec, box);
    }
    if (spec.cells) drawCells(root, spec.cells, box);
    drawRegimes(layers.regimes, spec.regimes ?? [], box);
    drawThresholds(layers.thresholds, marks.thresholds ?? [], box);
    drawLines(layers, spec, box);
    drawPoints(layers, spec.points ?? [], box);
    drawMarks(layers.marks, spec, box);
    drawLabels(layers, spec, box);
    drawReadout();
    set(root, { "aria-label": `${spec.title}. ${spec.description ?? ""}` });
  }

  if (onPick) {
    root.addEventListener("click", (event) => {
      const { left, top } = root.getBoundingClientRect();
      const x = valueAt(spec.x, event.clientX - left, box.left, box.right);
      onPick(x, valueAt(spec.y, event.clientY - top, box.bottom, box.top));
    });
  }
  return {
    svg,
    update(next) {
      spec = next;
      if (size.width) draw();
      else resize(root.clientWidth, root.clientHeight); // as yet unknown
    },
    destroy() {
      observer.disconnect();
      root.remove();
    },
  };
}
