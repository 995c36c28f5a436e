/** The view "explore": the plot with all controls, what the numbers mean, and what can be taken away. */

import { advise, meaning } from "./advice.js";
import { choiceControl, flagControl, numberControl } from "./controls.js";
import * as curves from "./curves.js";
import { button, codeLines, html, panel, setText, table } from "./elements.js";
import * as take from "./exports.js";
import { percent, plain, whole } from "./numbers.js";
import { pngOf, svgOf } from "./picture.js";
import { createPlot } from "./plot.js";
import { advicePanel, simulationPanel } from "./remote.js";
import { CELL_COLORS } from "./scales.js";
import {
  SETTING, control, declarations, featuresName, namesOf, read, settings, shownNumber, write,
} from "./state.js";
import { exactError, fewestMembers } from "./theory.js";
import { phrase } from "./words.js";

const NARROW = 560; // pixels below which two plots are one
const ANNOUNCE_AFTER = 700; // ms at rest before the sentence is announced to screen readers
const REST = 250; // ms without a change after which curves have all their points
const RATIO = {
  label: "Features counted",
  meaning: "features per training sample, or per input dimension",
  choices: { features_per_sample: "per sample, P/N", features_per_dim: "per dimension, P/D" },
};
const MAP = { columns: 48, rows: 36 };

// --- what is drawn ---

/** The look of a part. */
function styled(view, name) {
  return { name, label: declarations.parts.labels[name], color: `var(--${view.split}-${name})` };
}

function linesOf(view, { x, names, parts, total, training }, second, suffix = "") {
  const drawn = view.form === "areas" ? [] : names;
  const lines = drawn.map((name) => ({ ...styled(view, name), x, y: parts[name] }));
  const soft = { label: "Training error", color: "var(--soft)", dash: "2 3" };
  if (training) lines.push({ name: "training", ...soft, x, y: training });
  const whole = styled(view, "total");
  lines.push({ ...whole, label: whole.label + suffix, x, y: total, width: 3, peak: true });
  if (!second) return lines;
  // of the second setting, only the total has a label
  return lines.map((line) => {
    const label = line.peak ? line.label : "";
    return { ...line, name: `second ${line.name}`, label, dash: line.dash ? "2 6" : "7 4" };
  });
}

function areasOf(view, curve) {
  const areas = curves.stacked(curve, [...curve.names].reverse());
  return areas.map((area) => ({ ...area, ...styled(view, area.name) }));
}

function regimesOf(view, curve, [low, high]) {
  const [{ x: threshold, label } = {}] = curve.thresholds;
  if (view.form === "areas" || !(threshold > low && threshold < high)) return []; // not legible on areas
  const under = { label: "fewer features than samples", short: label.replace("=", "<") };
  const over = { label: "more features than samples", short: label.replace("=", ">"), shaded: true };
  const [left, right] = view.along === "samples_per_dim" ? [over, under] : [under, over];
  return [{ from: low, to: threshold, ...left }, { from: threshold, to: high, ...right }];
}

function pointsOf(view, drawn, points, hollow) {
  const names = view.form === "areas" ? ["total"] : [...drawn.names, "total"];
  return points.flatMap((point) =>
    names
      .filter((name) => !Number.isNaN(point[view.split][name]?.[0] ?? NaN))
      .map((name) => {
        const [y, error] = point[view.split][name];
        const { color, label } = styled(view, name);
        return { x: point.x, y, bar: 2 * error, color, label: `${label}, simulated`, hollow };
      }),
  );
}

/** The spec of the plot of some curves (see plot.js); `ghost` is the curve before the last change. */
function figureSpec(view, drawn, { ghost, points, suffixes }) {
  const x = axisOf(view);
  const lines = drawn.flatMap((curve, i) => linesOf(view, curve, i > 0, suffixes[i]));
  if (ghost) lines.unshift({ ghost: true, color: "var(--soft)", x: ghost.x, y: ghost.total, width: 2.5 });
  const here = drawn.map((curve) => ({ x: curve.here.x, y: curve.here.total }));
  const best = drawn
    .filter((curve) => curve.best && !curve.best.edge)
    .map(({ best }) => ({ ...best, label: `least ${shownNumber(best.y, 3)} at ${shownNumber(best.x, 3)}` }));
  const thresholds = [...new Map(drawn.flatMap((curve) => curve.thresholds).map((one) => [one.x, one])).values()];
  const at = here.map((one) => `At ${x.symbol} = ${shownNumber(one.x)} the total is ${shownNumber(one.y)}.`);
  return {
    title: `Test error and its parts against ${x.label}`,
    description: `${at.join(" ")} Left and right arrow keys read values along the curve.`,
    x,
    y: { label: "test error", scale: view.y, range: curves.heights(view) },
    lines,
    areas: view.form === "areas" ? areasOf(view, drawn[0]) : [],
    points: drawn.flatMap((curve, i) => pointsOf(view, curve, points[i] ?? [], i > 0)),
    marks: { here, best, thresholds },
    regimes: regimesOf(view, drawn[0], x.range),
    level: drawn[0].level !== undefined && { y: drawn[0].level, label: `${x.symbol} → ∞` },
  };
}

/** The horizontal axis of a view, as a plot takes it. */
function axisOf(view) {
  const { axis, symbol } = control(view.along);
  return { label: axis, symbol, scale: view.x, range: curves.range(view) };
}

function ratioSpec(view, [first, second]) {
  const ratio = first.total.map((value, i) => (value === second.total[i] ? 1 : second.total[i] / value));
  const finite = [...ratio].filter((value) => value > 0 && value < Infinity);
  const reach = (values) => [2, 5, 10, 20, 50, 100, 1000, 1e4].find((end) => values.every((one) => one <= end)) ?? 1e6;
  const [low, top] = [1 / reach(finite.map((value) => 1 / value)), reach(finite)];
  return {
    title: "Ratio of the totals, second to first",
    x: axisOf(view),
    y: { label: "ratio", scale: "log", range: [low, top] },
    lines: [{ name: "ratio", label: "second / first", color: "var(--accent)", x: first.x, y: ratio }],
    marks: {},
    level: { y: 1 },
  };
}

// --- the view ---

/** Build the view in a container; returns {update()}. */
export function render(container, store) {
  const [values, map, away] = [valuesTable, mapPanel, takeAway].map((make) => make(store));
  const bench = workbench(store, schedule);
  const simulation = simulationPanel(store, (points) => {
    bench.setPoints(points);
    schedule();
  });
  const advice = advicePanel(store);
  container.append(
    bench.element,
    html("div", { class: "below" }, values.element, map.element, simulation.element, advice.element, away.element),
  );

  let frame = 0;
  let changing = false; // a change is in progress
  let dragged = false; // and not yet at rest
  let timer = 0;
  let settled = store.get(); // the view before it
  let ghost = null; // the view that is drawn as a ghost

  function draw() {
    frame = 0;
    if (container.hidden) return;
    const view = store.get();
    const shown = bench.draw(view, ghost, dragged);
    values.update(view, shown);
    map.update(view, changing);
    away.update(view, shown, bench);
    simulation.update(view);
    advice.update(view);
  }
  function schedule() {
    frame ||= requestAnimationFrame(draw);
  }

  function rest() {
    dragged = false;
    schedule();
  }

  store.subscribe((view, previous, { commit, restored }) => {
    if (restored) ghost = null;
    else if (!changing) ghost = settled;
    dragged = changing = !commit;
    clearTimeout(timer);
    if (dragged) timer = setTimeout(rest, REST);
    if (commit) settled = view;
    schedule();
  });
  return { update: schedule };
}

/** Two media of page.css: controls below the plot, and beside it on a low screen. */
const BELOW = "(max-width: 59.99rem) and (min-height: 30.01rem), (max-width: 34.99rem)";
const LOW = "(min-width: 35rem) and (max-height: 30rem)";

/** The plot and the controls beside it; `redraw` is called where another size needs it. */
function workbench(store, redraw) {
  const figure = createFigure(store, redraw);
  const controls = createControls(store);
  const box = html("div", { class: "figure" }, figure.host, figure.messages, figure.under);
  const element = html("div", { class: "workbench" }, box, controls.element);
  const [below, low] = [BELOW, LOW].map((query) => matchMedia(query));
  /** Move what is under the plot to where it is visible: the order of focus is that of reading. */
  function arrange() {
    if (below.matches) controls.basic.after(figure.under);
    else (low.matches ? element : box).append(figure.under);
  }
  for (const media of [below, low]) media.addEventListener("change", arrange);
  arrange();
  return {
    ...figure,
    element,
    draw(view, ghost, dragged) {
      const shown = figure.draw(view, ghost, dragged);
      controls.update(view, figure.isBeside(view));
      return shown;
    },
  };
}

function group(title, controls) {
  return html("details", { class: "group" }, html("summary", {}, title), ...controls.map((one) => one.element));
}

/** All controls, in the groups of their declarations. */
function createControls(store) {
  const all = [];
  const keep = (one) => {
    all.push(one);
    return one;
  };
  const resetTop = () => ({ top: 0 });
  const further = { // what a choice changes besides
    along: resetTop,
    y: resetTop,
    form: (form) => ({ y: form === "areas" ? "linear" : "log", top: 0 }),
  };
  const made = (name, which) => {
    const make = control(name).choices ? choiceControl : numberControl;
    return keep(make(store, name, { which, also: further[name] }));
  };
  const groupOf = (kind, which) => namesOf(kind).map((name) => made(name, which));
  const basicOf = (which) => groupOf("basic", which).map((one) => one.element);

  const presets = html(
    "select",
    { id: "preset", onchange: () => presets.value && store.open(`view=explore&${presets.value}`) },
    html("option", { value: "" }, "choose a figure …"),
    ...declarations.presets.map(({ query, figure, title }) =>
      html("option", { value: query }, `${figure ? `Figure ${figure}` : "Beyond the paper"}: ${title}`),
    ),
  );
  const asWritten = (query) => write(read(`view=explore&${query}`).view);
  const figures = new Map(declarations.presets.map(({ query }) => [asWritten(query), query]));

  const reset = button("Reset", () => store.open("view=explore"));
  const compare = button("Compare with a second setting", () => store.set({ second: {} })); // only while there is none
  const swap = button("Swap the two", () => {
    const { first, second } = store.get();
    store.set({ first: second, second: first });
  });
  const single = button("Remove the second", () => store.set({ second: null }));
  const basic = html("fieldset", { class: "basic" }, html("legend", {}, "Setting"), ...basicOf("first"));
  const secondTitle = html("legend", {});
  const more = group("More of the second", groupOf("more", "second"));
  const secondBox = html("fieldset", { class: "second" }, secondTitle, ...basicOf("second"), more);
  const layout = made("compare", "view");
  const valueIn = (view) => featuresName(view.first);
  const ratio = keep(choiceControl(store, "ratio", { declared: RATIO, valueIn, also: resetTop }));
  const presetLabel = html("label", { for: "preset" }, "As in the paper");
  const element = html(
    "section",
    { class: "controls", "aria-label": "Controls" },
    basic,
    secondBox,
    html("div", { class: "buttons" }, compare, swap, single, reset),
    group("More of the model and the data", [...groupOf("more", "first"), ratio]),
    group("The plot", [
      ...groupOf("plot", "view"),
      layout,
      keep(flagControl(store, "training", "show the training error")),
      keep(flagControl(store, "map", "show the map of K and λ")),
    ]),
    html("div", { class: "control choice" }, html("div", { class: "control-head" }, presetLabel, presets)),
  );
  return {
    element,
    basic,
    update(view, beside) {
      for (const one of all) one.update(view);
      compare.hidden = Boolean(view.second);
      for (const one of [swap, single, secondBox, layout.element]) one.hidden = !view.second;
      setText(secondTitle, beside ? "Second setting, on the right" : "Second setting, dashed");
      presets.value = figures.get(store.query()) ?? "";
    },
  };
}

/** The plots, and what is under them: messages, the key, the ratio of two settings, the sentence. */
function createFigure(store, redraw) {
  const host = html("div", { class: "plots" });
  const ratioHost = html("div", { class: "ratio", hidden: true });
  const key = html("p", { class: "key" });
  const outside = html("span", {});
  const fitAxis = () => store.set({ top: curves.fittedTop(store.get(), shown.map((one) => one.total)) });
  const fit = button("Fit the axis", fitAxis, { class: "small" });
  const usual = button("Usual axis", () => store.set({ top: 0 }), { class: "small" });
  const axisNote = html("p", { class: "axis-note" }, outside, " ", fit, " ", usual);
  const sentence = html("p", { class: "sentence" });
  const announcement = html("p", { class: "unseen", role: "status" });
  const messages = html("div", { class: "messages", role: "status" });
  const under = html("div", { class: "under" }, key, axisNote, ratioHost, sentence, announcement);
  const plots = [createPlot(host)];
  let ratio = null;
  let isWide = true; // enough for two plots
  let points = []; // simulated ones of each setting
  let shown = []; // curves as drawn last
  let ghostCurve = { view: null, curve: null };
  let text = ""; // the sentence
  let timer = 0;

  new ResizeObserver(([{ contentRect: { width } }]) => {
    if (isWide === width >= NARROW) return;
    isWide = !isWide;
    redraw();
  }).observe(host);

  const isBeside = (view) => Boolean(view.second) && view.compare === "beside" && isWide;

  function ghostOf(view, ghost) {
    const isComparable = ghost?.along === view.along && ghost.x === view.x;
    const isSame = (name) => name === view.along || ghost.first[name] === view.first[name];
    if (!isComparable || SETTING.every(isSame)) return null;
    if (ghostCurve.view !== ghost) {
      ghostCurve = { view: ghost, curve: curves.curve(ghost, ghost.first, { best: false }) };
    }
    return ghostCurve.curve;
  }

  function draw(view, ghost, dragged) {
    const x = curves.grid(view, dragged);
    const training = view.training === "1";
    shown = settings(view).map((setting) => curves.curve(view, setting, { x, training }));
    const beside = isBeside(view);
    if (beside && plots.length < 2) plots.push(createPlot(host));
    if (!beside && plots.length > 1) plots.pop().destroy();
    host.classList.toggle("two", beside);
    const { first, second } = view;
    const pairs = second ? [[first, second], [second, first]] : [];
    const differing = pairs.map((pair) => take.differences(...pair));
    const isShort = differing.every((one) => one && one.length <= 14);
    const suffixes = isShort ? differing.map((one) => `, ${one}`) : [", first", ", second"];
    if (beside) {
      shown.forEach((curve, i) => {
        const options = { points: [points[i]], suffixes: [suffixes[i]] };
        plots[i].update(figureSpec(view, [curve], options));
      });
    } else {
      plots[0].update(figureSpec(view, shown, { ghost: ghostOf(view, ghost), points, suffixes }));
    }
    key.hidden = !second || beside;
    const dashed = points[1]?.length ? "Dashed and hollow" : "Dashed";
    setText(key, `Solid: ${differing[0] || "first setting"}. ${dashed}: ${differing[1] || "second setting, the same"}.`);
    ratioHost.hidden = !second;
    if (second) {
      ratio ??= createPlot(ratioHost);
      ratio.update(ratioSpec(view, shown));
    }
    drawAxisNote(view);
    drawMessages(view);
    drawSentence(view);
    return shown;
  }

  function drawAxisNote(view) {
    const [low, high] = curves.heights(view);
    const above = shown.some(({ here }) => here.total > high);
    const below = shown.some(({ here }) => here.total < low);
    setText(outside, above ? "This setting is above the axis." : below ? "This setting is below the axis." : "");
    usual.hidden = !view.top;
    axisNote.classList.toggle("urgent", above || below);
  }

  function drawMessages(view) {
    const texts = [...store.messages()];
    if (view.form === "areas" && view.y === "log") {
      texts.push("On a logarithmic axis the height of an area is not its share; a linear vertical axis shows shares.");
    }
    if (view.split === "effects" && points.flat().some(({ effects }) => Object.keys(effects).length === 1)) {
      texts.push("Main effects cannot be simulated for this scheme; of the simulation, the total is drawn.");
    }
    if (messages.textContent !== texts.join("")) messages.replaceChildren(...texts.map((one) => html("p", {}, one)));
  }

  function drawSentence(view) {
    const next = sentenceOf(view.first);
    if (next === text) return;
    text = next;
    sentence.replaceChildren(...phrase(marked(text)));
    clearTimeout(timer);
    timer = setTimeout(() => setText(announcement, text), ANNOUNCE_AFTER);
  }

  return {
    host,
    messages,
    under,
    draw,
    isBeside,
    setPoints: (next) => (points = next),
    points: () => points,
    plots: () => plots,
  };
}

/** A sentence of advice with λ* as a term that is explained (see words.js). */
function marked(text) {
  return text.replaceAll("λ*", "{λ*}");
}

/** The largest part of the error and what to change; for stopped training, the error at its end. */
function sentenceOf(setting) {
  const [problem, scheme] = [curves.problemOf(setting), curves.schemeOf(setting)];
  if (setting.time === Infinity) return meaning(advise(problem, scheme), declarations.parts);
  const end = plain(exactError(problem, scheme).total);
  const sentence = `This is at time t = ${whole(setting.time)}; trained to the end, the error would be ${end}.`;
  return meaning({ now: { parts: curves.errorHere(setting) }, sentence }, declarations.parts);
}

/** The values at the setting, by part with shares. */
function valuesTable(store) {
  const { names: words, meanings } = declarations.parts;
  const element = panel("", "Values at this setting", "");
  let key = "";
  let cells = [];

  function build(names, count) {
    const heads = count > 1 ? ["first", "share", "second", "share", "ratio"] : ["error", "share"];
    cells = names.map(() => heads.map(() => html("td")));
    const rows = names.map((name, i) => {
      const swatch = html("i", { class: "swatch" });
      swatch.style.background = `var(--${store.get().split}-${name})`;
      const what = html("span", { class: "soft meaning-of" }, meanings[name]);
      const label = html("th", { scope: "row" }, swatch, words[name], what);
      return html("tr", { class: name === "total" ? "total" : "" }, label, ...cells[i]);
    });
    element.lastChild.replaceWith(table("Values", ["part", ...heads], rows, { class: "values" }));
  }

  return {
    element,
    update(view, shown) {
      const names = [...new Set([...shown.flatMap((one) => one.names), "total"])];
      const next = [view.split, shown.length, ...names].join();
      if (next !== key) build(names, shown.length);
      key = next;
      names.forEach((name, i) => {
        const values = shown.map(({ here }) => (name === "total" ? here.total : here.parts[name]));
        const texts = values.flatMap((value, k) => {
          const share = value / shown[k].here.total; // of no part, of 0 and of ∞ there is none
          const hasShare = share >= 0 && shown[k].here.total < Infinity;
          return [value === undefined ? "–" : shownNumber(value, 6), hasShare ? percent(share) : "–"];
        });
        if (values.length > 1) {
          const ratio = values[0] === values[1] ? 1 : values[1] / values[0];
          texts.push(Number.isNaN(ratio) ? "–" : shownNumber(ratio, 4));
        }
        texts.forEach((text, k) => setText(cells[i][k], text));
      });
    },
  };
}

/** The map of the total error over K and λ. */
function mapPanel(store) {
  const axes = ["n_members", "ridge"].map((name) => control(name));
  const host = html("div", { class: "map" });
  const [least, most, bar] = ["span", "span", "i"].map((tag) => html(tag));
  bar.style.background = `linear-gradient(to right, ${CELL_COLORS.join()})`;
  const element = panel(
    "",
    "Test error by K and λ",
    html("p", {}, "The total error of the first setting (ring) at other K and λ."),
    html("p", { class: "tool" }, "A click moves the setting."),
    host,
    html("p", { class: "map-legend soft" }, least, bar, most),
  );
  const plot = createPlot(host, {
    onPick: (K, ridge) => store.set({ first: { n_members: Math.round(K), ridge: Number(ridge.toPrecision(3)) } }),
  });
  let key = "";
  let timer = 0;

  function draw({ first }) {
    const [problem, scheme] = [curves.problemOf(first), curves.schemeOf(first)];
    const fewest = fewestMembers(first.scheme);
    const values = ({ typical: [low, high] }, count) =>
      Array.from({ length: count }, (_, i) => low * (high / low) ** ((i + 0.5) / count));
    const cells = values(axes[1], MAP.rows).flatMap((ridge) =>
      values(axes[0], MAP.columns).map((K) => {
        const n_members = Math.max(Math.round(K), fewest);
        return { x: n_members, y: ridge, total: exactError({ ...problem, ridge }, { ...scheme, n_members }).total };
      }),
    );
    const best = cells.reduce((a, b) => (b.total < a.total ? b : a));
    const largest = Math.max(...cells.map(({ total }) => total));
    const high = Math.min(largest, 1000 * best.total);
    const range = Math.log(high / best.total) || 1;
    const [x, y] = axes.map(({ axis, typical }) => ({ label: axis, scale: "log", range: typical }));
    const label = `least ${shownNumber(best.total, 3)}`;
    plot.update({
      title: `Map of the total error over K and λ: ${label} at K = ${best.x}, λ = ${shownNumber(best.y, 2)}`,
      x, y,
      lines: [],
      cells: { columns: MAP.columns, shares: cells.map(({ total }) => Math.log(total / best.total) / range) },
      marks: { here: [{ x: first.n_members, y: first.ridge }], best: [{ ...best, label }] },
    });
    setText(least, shownNumber(best.total, 3));
    setText(most, shownNumber(high, 3) + (largest > high ? " and more" : ""));
  }

  return {
    element,
    update(view, changing) {
      element.hidden = view.map !== "1" || view.first.time < Infinity;
      const next = SETTING.map((name) => view.first[name]).join();
      if (element.hidden || next === key) return;
      key = next;
      clearTimeout(timer);
      timer = setTimeout(() => draw(store.get()), changing ? 60 : 0);
    },
  };
}

/** Python lines, data, pictures, the address and the citation. */
function takeAway(store) {
  const status = html("p", { role: "status", class: "soft" });
  const { citation } = declarations;
  const script = codeLines("Python lines", "");
  let view = store.get();
  let shown = [];
  let bench = null;
  const copy = async (text) => {
    await navigator.clipboard.writeText(text);
    setText(status, "Copied.");
  };
  /** Download a picture of each plot, of its own setting where they are beside each other. */
  const pictures = async (kind, type, make) => {
    const plots = bench.plots();
    const captions = plots.map((_, i) => {
      const drawn = plots.length > 1 ? { ...view, first: settings(view)[i], second: null } : view;
      return take.caption(drawn);
    });
    const files = await Promise.all(plots.map((plot, i) => make(plot.svg, captions[i])));
    files.forEach((file, i) => take.download(`doubletrouble${i ? "-2" : ""}.${kind}`, file, type));
  };
  const actions = {
    "Copy the link": () => copy(location.href),
    CSV: () => take.download("doubletrouble.csv", take.csv(view, shown, bench.points()), "text/csv"),
    SVG: () => pictures("svg", "image/svg+xml", svgOf),
    PNG: () => pictures("png", "image/png", pngOf),
    Python: () => take.download("doubletrouble_page.py", take.python(view), "text/x-python"),
    "Copy the Python lines": () => copy(take.python(view)),
  };
  const run = async (name) => {
    setText(status, "");
    try {
      await actions[name]();
    } catch (error) {
      setText(status, `${name} failed: ${error.message}`);
    }
  };
  const buttons = Object.keys(actions).map((name) => button(name, () => run(name)));
  const title = html("summary", {}, "Python lines that compute and draw this figure");
  const lines = html("details", { ontoggle: fill }, title, script);
  const source = html("p", {}, html("a", { href: citation.url }, citation.text));
  const cite = html("details", {}, html("summary", {}, "Citation"), source, codeLines("BibTeX entry", citation.bibtex));
  const row = html("div", { class: "buttons" }, ...buttons);
  const element = panel("tool", "Take it with you", row, status, lines, cite);

  function fill() {
    if (lines.open) setText(script.firstChild, take.python(view));
  }
  return {
    element,
    update(nextView, nextShown, nextBench) {
      [view, shown, bench] = [nextView, nextShown, nextBench];
      fill();
    },
  };
}
