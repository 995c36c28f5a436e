/**
 * The view "your data": a table of the reader, the forecast error of random features on it by cause, and advice.
 *
 * The file is read by the server (`doubletrouble page`), which computes and holds the forecast; only this server
 * has this module. Nothing of the data is in the address.
 */

import { numberControl } from "./controls.js";
import { button, codeLines, html, panel, setText } from "./elements.js";
import { download } from "./exports.js";
import { createPlot } from "./plot.js";
import { remarksOf, sentencesOf, tablesOf } from "./printed.js";
import { request, sentence } from "./server.js";
import { declarations, parseNumber, shownNumber, toJson, writeNumber } from "./state.js";
import { unbroken } from "./words.js";

const MOST_BYTES = 20e6;
const POLL = 300; // ms between requests while a forecast is computed
const REST = 400; // ms after the last change before advice is requested
const SLOW = 500; // ms after which a pending answer is announced
const RIDGE = 1e-3; // of the first model, as in dt.forecast
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const PATH = "api/forecast";

const PARTS = ["noise", "initialization", "sampling", "bias", "bayes"];

const labelOf = (name) => declarations.parts.labels[name];
const colorOf = (name) => `var(--causes-${name})`;
const totalLabel = (members) => `Total, K = ${shownNumber(members, 6)}`;

/** Build the view in a container. */
export async function render(container) {
  const styles = html("link", { rel: "stylesheet", href: "data.css" });
  const loaded = new Promise((done) => ["load", "error"].forEach((end) => styles.addEventListener(end, done)));
  document.head.append(styles);
  const results = html("div", { class: "results" });
  const file = filePanel(container, (found) => {
    results.replaceChildren();
    choose(found, file.choices, results);
  });
  container.append(file.element, results);
  await loaded;
}

// --- the file ---

/** The panel that takes a file, by choice or drop; `onLoad` receives {data, name, rows, columns, target}. */
function filePanel(container, onLoad) {
  const status = html("span", { role: "status" }, "or drop it here");
  const input = html("input", { type: "file", id: "data-file", accept: ".csv,.tsv,.txt,text/csv", class: "unseen" });
  const label = html("label", { for: input.id, class: "file-button" }, "Choose a CSV file");
  const zone = html("div", { class: "drop" }, input, label, status);
  const choices = html("div");
  const where = LOOPBACK.includes(location.hostname)
    ? "the server on this machine and to no other"
    : `the server at ${location.host}`;
  const element = panel(
    "tool file-panel",
    "The test error on your own data",
    html("p", {}, "How large is the error of random features on your table, what causes it, and which change pays? ",
      "It is forecast from the rows, before any model is trained."),
    zone,
    html("p", { class: "soft remark" }, `The file is sent to ${where}. It is not in the address of this page, and a reload `,
      "forgets it."),
    choices,
  );
  let data = null; // the key of the table on the server
  let loads = 0; // only the latest file is shown

  function release() {
    if (data) navigator.sendBeacon(new URL(PATH, document.baseURI), toJson({ action: "release", data }));
    data = null;
  }
  addEventListener("pagehide", release);

  async function load(file) {
    const number = (loads += 1);
    if (!file) return;
    if (file.size > MOST_BYTES) return setText(status, "The file must have at most 20 MB.");
    setText(status, `Reading ${file.name} …`);
    try {
      const found = await request("api/data", file);
      if (number !== loads) return;
      release();
      data = found.data;
      setText(status, `${file.name}: ${found.rows} rows, ${found.columns.length} columns`);
      setText(label, "Choose another file");
      onLoad({ ...found, name: file.name });
    } catch (error) {
      if (number === loads) setText(status, `${file.name} was not read. ${sentence(error.message)}`);
    }
  }
  input.addEventListener("change", () => {
    load(input.files[0]);
    input.value = ""; // the same file can be chosen again
  });
  container.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  container.addEventListener("dragleave", () => zone.classList.remove("over"));
  container.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    load(event.dataTransfer.files[0]);
  });
  return { element, choices };
}

// --- the columns ---

function flag(id, text, checked, onchange) {
  const box = html("input", { type: "checkbox", id, checked, onchange });
  return { box, element: html("div", { class: "control flag" }, box, html("label", { for: id }, text)) };
}

function select(id, text, options, chosen, onchange) {
  const items = options.map(([value, label]) => html("option", { value, selected: value === chosen }, label));
  const list = html("select", { id, onchange }, ...items);
  return { list, element: html("div", { class: "control" }, html("label", { for: id }, text), " ", list) };
}

/** The choice of the columns in `host`, and what is forecast from them in `results`. */
function choose(found, host, results) {
  const { data, columns } = found;
  const usable = columns.map((column, i) => ({ ...column, i })).filter(({ numeric, classes }) => numeric || classes);
  if (usable.length < 2 || found.target === null) {
    const needed = "A forecast needs a target, a column of numbers that differ, and an input. ";
    return host.replaceChildren(html("p", {}, needed, leftOut(columns)));
  }
  const named = usable.filter(({ numeric }) => numeric).map(({ i, name }) => [String(i), name]);
  const target = select("data-target", "Target", named, String(found.target), update);
  const activations = Object.entries(declarations.controls.activation.choices);
  const activation = select("data-activation", "Activation", activations, "relu", changed);
  const all = columns.map(({ name }, i) => [String(i), name]);
  const groups = select("data-groups", "Groups", [["", "none"], ...all], "", update);
  const noise = html("input", { id: "data-noise", type: "text", inputmode: "decimal", size: 8, onchange: changed });
  const boxes = usable.map(({ i, name, remark, classes }) => {
    const about = classes ? `${classes} classes, one-hot encoded` : remark;
    const text = about ? `${name} (${about})` : name;
    return { i, ...flag(`data-column-${i}`, text, !remark, update) };
  });
  const setAll = (checked) => {
    for (const { box } of boxes) box.checked = checked;
    update();
  };
  const count = html("summary");
  const scale = flag("data-scale", "scale the inputs to variance 1", true, changed);
  const intercept = flag("data-intercept", "fit an intercept", true, changed);
  const drop = flag("data-drop", "", false, changed);
  const status = html("p", { role: "status" });
  const progress = html("progress", { "aria-label": "The forecast is computed", hidden: true });
  const start = button("Forecast", run, { class: "main" });
  const cancel = button("Cancel", () => send("cancel"), { hidden: true });
  const form = html(
    "form",
    { onsubmit: (event) => event.preventDefault(), "aria-label": "Columns and model" },
    html("div", { class: "row" }, target.element, activation.element, scale.element, intercept.element),
    html(
      "details",
      { class: "columns" },
      html("summary", {}, "Groups of rows, known noise"),
      html("div", { class: "row" }, groups.element, html("div", { class: "control" },
        html("label", { for: noise.id }, "Standard deviation of the label noise, if known"), " ", noise)),
      html("p", { class: "soft" }, "Rows of a group are left out together: repeated or related rows."),
    ),
    html(
      "details",
      { class: "columns" },
      count,
      html("div", { class: "buttons" }, ...[["All", true], ["None", false]].map(([text, checked]) =>
        button(text, () => setAll(checked), { class: "small" }))),
      html("div", { class: "boxes" }, ...boxes.map(({ element }) => element)),
    ),
    html("p", { class: "soft" }, leftOut(columns)),
    drop.element,
    html("div", { class: "buttons" }, start, cancel),
    progress,
    status,
  );
  host.replaceChildren(form);
  let timer = 0;
  let began = 0;
  let requests = 0; // only the answer to the latest is shown

  const isInput = ({ i }) => ![target.list.value, groups.list.value].includes(String(i));
  const inputs = () => boxes.filter((one) => one.box.checked && isInput(one)).map(({ i }) => i);

  function knownNoise() {
    const text = noise.value.trim();
    const value = parseNumber(text);
    return text === "" ? null : Number.isNaN(value) ? text : value; // the server refuses text
  }
  function update() {
    const used = inputs();
    for (const one of boxes) one.element.hidden = !isInput(one);
    setText(count, `Inputs: ${used.length} of ${boxes.filter(isInput).length} columns`);
    const others = [target, groups].map(({ list }) => list.value).filter(Boolean).map(Number);
    const incomplete = [...used, ...others].map((i) => columns[i]).filter(({ missing }) => missing);
    drop.element.hidden = !incomplete.length;
    const [first, ...more] = incomplete;
    if (first) {
      const rest = more.length ? `, and ${more.length} more` : "";
      const where = `${first.name}: ${first.missing}, first in ${first.first_missing}${rest}`;
      setText(drop.element.lastChild, `leave out rows with missing values (${where})`);
    }
    changed();
  }
  function changed() {
    if (results.childElementCount) setText(status, "The choice has changed: press “Forecast”.");
  }
  function choice() {
    return {
      target: Number(target.list.value),
      inputs: inputs(),
      groups: groups.list.value ? Number(groups.list.value) : null,
      noise: knownNoise(),
      activation: activation.list.value,
      scale: scale.box.checked,
      fit_intercept: intercept.box.checked,
      drop_missing: !drop.element.hidden && drop.box.checked,
    };
  }
  function run() {
    results.replaceChildren();
    began = Date.now();
    send("start", { choice: choice() });
  }
  async function send(action, more) {
    clearTimeout(timer);
    const number = (requests += 1);
    try {
      const answer = await request(PATH, { action, data, ...more });
      if (number === requests) show(answer);
    } catch (error) {
      if (number === requests) show({ status: "failed", message: error.message });
    }
  }
  function show({ status: state, message, summary, notes }) {
    if (!form.isConnected) return; // there is another file
    const running = state === "running";
    for (const one of [progress, cancel]) one.hidden = !running;
    start.hidden = running;
    const seconds = Math.round((Date.now() - began) / 1000);
    const texts = {
      running: `The forecast is computed … ${seconds > 2 ? `${seconds} s` : ""}`,
      ready: "",
      cancelled: "Cancelled.",
    };
    setText(status, texts[state] ?? sentence(message));
    if (running) timer = setTimeout(() => send("status"), POLL);
    if (state !== "ready") return;
    const name = columns[Number(target.list.value)].name;
    results.replaceChildren(...forecastView({ data, file: found.name, target: name, summary, notes }));
  }
  update();
}

/** Which columns are neither numbers nor few classes, which are inputs if they are ticked. */
function leftOut(columns) {
  const texts = columns
    .filter(({ numeric, classes }) => !numeric && !classes)
    .map(({ name, remark }) => `${name} (${remark})`);
  const shown = texts.length > 4 ? [...texts.slice(0, 3), `${texts.length - 3} more`] : texts;
  const encoded = columns.filter(({ classes }) => classes).map(({ name }) => name);
  const ticked = encoded.length ? `Columns of classes are inputs if they are ticked: ${encoded.join(", ")}. ` : "";
  return ticked + (texts.length ? `Left out: ${shown.join(", ")}.` : "");
}

// --- the forecast ---

/** The declarations of the four controls. */
function controlsOf({ n_samples: rows, feature_range: features, sample_range: [fewest, most] }) {
  const { n_members, ridge } = declarations.controls;
  const counted = { whole: true, low: 1, high: 1e9 };
  return {
    n_features: {
      ...counted, label: "Features", symbol: "P", meaning: "random features of each model", typical: features,
      default: rows, or_inf: true, stops: { infinity: true },
    },
    n_members,
    ridge: { ...ridge, default: RIDGE, or_inf: false },
    n_samples: {
      ...counted, label: "Rows", symbol: "N", meaning: `rows of the training set; there are ${rows}`,
      low: fewest, high: most, typical: [fewest, most], default: rows,
    },
  };
}

/** Everything that is shown of a forecast, as elements. */
function forecastView(forecast) {
  const { data, summary } = forecast;
  const controls = controlsOf(summary);
  const defaults = Object.fromEntries(Object.entries(controls).map(([name, one]) => [name, one.default]));
  let setting = { ...defaults };
  const store = {
    declarations: { controls },
    get: () => setting,
    set(patch, { message = "" } = {}) {
      const isNew = Object.keys(patch).some((name) => patch[name] !== setting[name]);
      if (isNew) setting = { ...setting, ...patch };
      setText(messages.firstChild, message);
      messages.hidden = !message;
      for (const one of made) one.update(setting);
      if (isNew) refresh();
    },
  };
  const messages = html("div", { class: "messages", role: "status", hidden: true }, html("p"));
  const figure = createFigure(forecast);
  const made = Object.keys(controls).map((name) => numberControl(store, name, { which: "view", id: "data" }));
  const reset = button("Reset", () => store.set(defaults));
  const best = button("Best ridge", () => store.set({ ridge: bestRidge }), { disabled: true });
  const basic = html("fieldset", { class: "basic" }, html("legend", {}, "Model"), ...made.map((one) => one.element));
  const buttons = html("div", { class: "buttons" }, best, reset);
  const controlBox = html("section", { class: "controls", "aria-label": "Controls" }, basic, buttons);
  const box = html("div", { class: "figure" }, figure.host, messages, figure.under);
  const bench = html("div", { class: "workbench" }, box, controlBox);
  const [split, changes] = [splitPanel(), advicePanel()];
  const away = takeAway(forecast, () => ({ setting, answer }));
  const below = html("div", { class: "below" }, split.element, changes.element, forecastPanel(forecast), away);
  let answer = null; // the curve that is shown
  let bestRidge = RIDGE; // of the last advice
  let busy = false;
  let stale = false;
  let timer = 0;

  async function refresh() {
    clearTimeout(timer);
    stale = true;
    if (busy) return; // one question at a time, then the latest
    busy = true;
    while (stale) {
      stale = false;
      await ask("error", (found, asked) => {
        answer = { ...found, setting: asked };
        figure.draw(asked, found);
        split.update(asked, found.here);
        changes.element.classList.add("stale");
      });
    }
    busy = false;
    if (bench.isConnected) timer = setTimeout(advise, REST);
  }
  async function advise() {
    if (busy) return;
    busy = true;
    const before = setting;
    await ask("advice", (found, asked) => {
      if (asked !== setting) return;
      bestRidge = Number(found.best_ridge.toPrecision(3));
      best.disabled = bestRidge === asked.ridge;
      changes.update(found);
    });
    busy = false;
    if (before !== setting) refresh();
  }
  async function ask(action, show) {
    const asked = setting;
    const slow = setTimeout(() => figure.wait(asked), SLOW);
    try {
      show(await request(PATH, { action, data, setting: asked }), asked);
      figure.say("");
    } catch (error) {
      figure.say(sentence(error.message));
    }
    clearTimeout(slow);
  }
  // the medium of page.css in which controls are below the plot
  const narrow = matchMedia("(max-width: 59.99rem) and (min-height: 30.01rem), (max-width: 34.99rem)");
  const arrange = () => (narrow.matches ? basic : figure.host).after(figure.under);
  narrow.addEventListener("change", arrange);
  arrange();
  refresh();
  return [bench, below];
}

// --- the plot ---

/** Pieces of a line: solid, and dashed where it is extrapolated; an invisible line has the label and the values. */
function pieces({ x, y, extrapolated, ...look }) {
  const { width = 2, dash, ...rest } = look;
  const lines = [];
  for (let from = 0; from < x.length; ) {
    let to = from;
    while (to + 1 < x.length && extrapolated[to + 1] === extrapolated[from]) to += 1;
    const begin = Math.max(from - 1, 0); // so that pieces join
    const part = { x: x.slice(begin, to + 1), y: y.slice(begin, to + 1) };
    lines.push({ color: rest.color, width, dash: extrapolated[from] ? "5 5" : dash, ...part });
    from = to + 1;
  }
  return [...lines, { ...rest, dash, width: 0, x, y }];
}

function createFigure({ summary }) {
  const host = html("div", { class: "plots" });
  const plot = createPlot(host);
  const key = html("p", { class: "key" });
  const text = html("p", { class: "sentence" });
  const status = html("p", { class: "soft", role: "status" });
  const under = html("div", { class: "under" }, key, text, status);
  const { baseline, n_samples: rows } = summary;
  let range = null; // of the vertical axis, that of the first curve

  function axisOf({ infinite_models: best }) {
    const low = Math.min(...best, baseline) / 100;
    const ends = [1, 2, 5, 10].map((m) => m * 10 ** Math.floor(Math.log10(1.5 * baseline)));
    return [10 ** Math.floor(Math.log10(low)), ends.find((end) => end >= 1.5 * baseline)];
  }
  function spec(setting, found) {
    const { n_features: x, parts, total, standard_error: error, extrapolated, here } = found;
    const { n_members: K, n_samples: N } = setting;
    const line = (name, label, color, y, more) => pieces({ name, label, color, x, y, extrapolated, ...more });
    const ink = colorOf("total");
    const lines = PARTS.flatMap((name) => line(name, labelOf(name), colorOf(name), parts[name]));
    const limit = (name, members, y, dash) => {
      if (K !== members) lines.push(...line(name, totalLabel(members), ink, y, { dash, width: 1.5 }));
    };
    limit("one", 1, found.one_model, "8 3 2 3");
    limit("many", Infinity, found.infinite_models, "1.5 3");
    lines.push(...line("total", totalLabel(K), ink, total, { width: 3, peak: true }));
    range ??= axisOf(found);
    const low = total.map((value, i) => Math.max(value - error[i], Number.MIN_VALUE));
    return {
      title: "Forecast test error and its causes against the random features P",
      description:
        `At P = ${shownNumber(setting.n_features)} the total is ${shownNumber(here.total)}. ` +
        "Left and right arrow keys read values along the curve.",
      x: { label: "random features P", symbol: "P", scale: "log", range: summary.feature_range },
      y: { label: "squared test error", scale: "log", range },
      lines,
      areas: [{ name: "band", color: ink, x, low, high: total.map((value, i) => value + error[i]) }],
      marks: { here: [{ x: setting.n_features, y: here.total }], thresholds: [{ x: N, label: "P = N" }] },
      level: { y: baseline, label: "predicting the mean" },
    };
  }
  return {
    host,
    under,
    say: (message) => setText(status, message),
    wait({ n_samples: N }) {
      setText(status, N < rows ? `The rows are split for N = ${N} …` : "The error is computed …");
    },
    draw(setting, found) {
      plot.update(spec(setting, found));
      const dashed = found.extrapolated.some(Boolean) ? " Dashed: extrapolated, the rows do not determine it." : "";
      setText(key, `Band: one standard error of the total.${dashed}`);
      setText(text, unbroken(`${inWords(setting)}: ${sentencesOf(found.here.printed)}`));
    },
  };
}

/** A model in words. */
function inWords({ n_features, n_members, ridge, n_samples }) {
  const [P, K, lambda] = [shownNumber(n_features, 6), shownNumber(n_members, 6), shownNumber(ridge, 3)];
  return `P = ${P}, K = ${K}, λ = ${lambda}, N = ${n_samples}`;
}

// --- the panels ---

/** The error of the model by cause. */
function splitPanel() {
  const title = html("p", { class: "soft" });
  const body = html("div");
  return {
    element: panel("", "The error by cause", title, body),
    update(setting, { printed }) {
      setText(title, `${inWords(setting)}.`);
      body.replaceChildren(...tablesOf(printed, "The error by cause"));
    },
  };
}

/** What each change of the model brings. */
function advicePanel() {
  const summary = html("p", { "aria-live": "polite" }, "The changes are compared …");
  const body = html("div");
  const element = panel("", "Which change pays?", summary, body);
  return {
    element,
    update(advice) {
      element.classList.remove("stale");
      setText(summary, advice.verdict);
      body.replaceChildren(...tablesOf(advice, "Changes"), ...remarksOf(advice));
    },
  };
}

/** The forecast at best, its checks, the label noise and the notes. */
function forecastPanel({ summary: { printed }, notes }) {
  return panel(
    "",
    "Can it be trusted?",
    html("p", {}, `${printed.lead} ${printed.verdict}`.trim()),
    ...tablesOf(printed, "The forecast"),
    ...remarksOf({ ...printed, notes: [...notes, ...printed.notes] }),
  );
}

/** The curve as CSV, and Python lines. */
function takeAway({ data, file }, current) {
  const status = html("p", { role: "status", class: "soft" });
  const script = codeLines("Python lines", "");
  const python = async () => (await request(PATH, { action: "python", data, setting: current().setting, file })).python;
  const actions = {
    CSV: () => download("forecast.csv", csv(current()), "text/csv"),
    Python: async () => download("forecast.py", await python(), "text/x-python"),
  };
  const attempt = async (name, act) => {
    setText(status, "");
    try {
      await act();
    } catch (error) {
      setText(status, `${name} failed: ${error.message}`);
    }
  };
  const buttons = Object.entries(actions).map(([name, act]) => button(name, () => attempt(name, act)));
  const fill = () => lines.open && attempt("Python", async () => setText(script.firstChild, await python()));
  const title = html("summary", {}, "Python lines that compute this forecast");
  const lines = html("details", { ontoggle: fill }, title, script);
  return panel("tool", "Take it with you", html("div", { class: "buttons" }, ...buttons), status, lines);
}

/** The curve as CSV: a row for each P. */
function csv({ answer }) {
  const heads = ["n_features", "ridge", "n_members", "n_samples", ...PARTS, "total", "total_standard_error"];
  const rows = answer.n_features.map((P, i) => {
    const { ridge, n_members, n_samples } = answer.setting;
    const values = [P, ridge, n_members, n_samples, ...PARTS.map((name) => answer.parts[name][i]), answer.total[i]];
    const more = [answer.standard_error[i], answer.one_model[i], answer.infinite_models[i]];
    return [...[...values, ...more].map(writeNumber), answer.extrapolated[i] ? "True" : "False"].join(",");
  });
  return [[...heads, "total_one_model", "total_infinite_models", "extrapolated"].join(","), ...rows].join("\n") + "\n";
}
