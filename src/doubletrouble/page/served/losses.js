/**
 * The view "losses": the error by cause along P/N with any convex loss, for numbers and for two classes.
 *
 * The curves are computed by the server (`doubletrouble page`); only this server has this module, and declares the
 * controls of the group "losses". Features, models, ridge, data and activation are those of the view "explore".
 */

import { choiceControl, numberControl } from "./controls.js";
import { button, codeLines, html, panel, setText } from "./elements.js";
import { plain } from "./numbers.js";
import { createPlot } from "./plot.js";
import { sentencesOf, tablesOf } from "./printed.js";
import { request, sentence } from "./server.js";
import { FEATURES, control, declarations, features, shownNumber, toJson } from "./state.js";
import { unbroken } from "./words.js";

const SLOW = 400; // ms after which a pending answer is announced
const CAUSES = ["noise", "initialization", "sampling", "bias"];
const CLASSES = "classification";
const FALLBACK = { classification: "logistic", regression: "huber" }; // where a task does not have a loss
const OF_TASK = { classification: ["flips"], regression: ["snr", "outliers"] };
const NUMBERS = {
  first: [...FEATURES, "n_members", "ridge", "samples_per_dim", "snr"],
  view: ["flips", "outliers"],
};
const ORDER = ["flips", "snr", "outliers", ...FEATURES, "n_members", "ridge", "samples_per_dim"];

const hasTask = (loss, task) => declarations.losses[loss].includes(task);
const colorOf = (name) => (name === "total" ? "var(--causes-total)" : `var(--causes-${name})`);
const labelOf = (name) => declarations.parts.labels[name];
const perSample = (setting) => features(setting, "features_per_sample");
const totalLabel = (members) => `Total, K = ${shownNumber(members, 6)}`;
const nameOf = (task) => (task === CLASSES ? "error rate" : "squared test error");

/** What a curve depends on, as the server takes it. */
function bodyOf({ first, task, loss, flips, outliers }) {
  return { setting: { ...first, scheme: "ensemble", nonlinear_signal: 0, time: Infinity }, task, loss, flips, outliers };
}

/** Build the view in a container. */
export async function render(container, store) {
  const styles = html("link", { rel: "stylesheet", href: "losses.css" });
  const loaded = new Promise((done) => ["load", "error"].forEach((end) => styles.addEventListener(end, done)));
  document.head.append(styles);

  const figure = createFigure();
  const controls = createControls(store);
  const messages = html("div", { class: "messages", role: "status", hidden: true }, html("p"));
  const box = html("div", { class: "figure" }, figure.host, messages, figure.under);
  const bench = html("div", { class: "workbench" }, box, controls.element);
  const [split, python] = [splitPanel(), pythonPanel()];
  const below = html("div", { class: "below" }, split.element, python.element);
  container.append(bench, below);

  let shown = ""; // the request that is shown or pending
  let busy = false;

  async function refresh() {
    if (busy) return; // one question at a time, then the latest
    busy = true;
    for (let body = bodyOf(store.get()); toJson(body) !== shown; body = bodyOf(store.get())) {
      shown = toJson(body);
      const slow = setTimeout(() => figure.say("The curves are computed …"), SLOW);
      try {
        const found = await request("api/losses", body);
        figure.draw(body, found);
        split.update(body, found.here);
        python.update(found.python);
        figure.say(found.here.message ? sentence(found.here.message) : "");
      } catch (error) {
        figure.say(sentence(error.message));
      }
      clearTimeout(slow);
    }
    busy = false;
  }
  function update(view = store.get()) {
    if (view.view !== "losses") return;
    if (!hasTask(view.loss, view.task)) { // of an address
      const { choices } = control("loss");
      const others = control("task").choices[Object.keys(FALLBACK).find((task) => task !== view.task)];
      const loss = FALLBACK[view.task];
      const message = `The loss “${choices[view.loss]}” is for ${others}; “${choices[loss]}” is shown.`;
      store.set({ loss }, { message });
      return;
    }
    controls.update(view);
    const all = store.messages();
    setText(messages.firstChild, all.join(" "));
    messages.hidden = !all.length;
    refresh();
  }
  // the medium of page.css in which controls are below the plot
  const narrow = matchMedia("(max-width: 59.99rem) and (min-height: 30.01rem), (max-width: 34.99rem)");
  const arrange = () => (narrow.matches ? controls.basic : figure.host).after(figure.under);
  narrow.addEventListener("change", arrange);
  arrange();
  store.subscribe((view) => update(view));
  await loaded;
  return { update };
}

// --- the controls ---

function createControls(store) {
  const id = "loss";
  const task = choiceControl(store, "task", {
    id,
    also: (chosen) => (hasTask(store.get().loss, chosen) ? {} : { loss: FALLBACK[chosen] }),
  });
  const loss = choiceControl(store, "loss", { id });
  const numbers = {};
  for (const [which, names] of Object.entries(NUMBERS)) {
    for (const name of names) numbers[name] = numberControl(store, name, { which, id });
  }
  const activation = choiceControl(store, "activation", { which: "first", id });
  const made = [task, loss, ...ORDER.map((name) => numbers[name]), activation];
  const basic = html("fieldset", { class: "basic" }, html("legend", {}, "Labels and model"),
    ...made.map((one) => one.element));
  const reset = button("Reset", () => {
    const names = [...NUMBERS.first, "activation"].filter((name) => name !== "features_per_dim");
    const first = Object.fromEntries(names.map((name) => [name, control(name).default]));
    const own = Object.fromEntries(["task", "loss", ...NUMBERS.view].map((name) => [name, control(name).default]));
    store.set({ first, ...own });
  });
  const buttons = html("div", { class: "buttons" }, reset);
  const element = html("section", { class: "controls", "aria-label": "Controls" }, basic, buttons);
  return {
    element,
    basic,
    update(view) {
      for (const one of made) one.update(view);
      for (const [owner, names] of Object.entries(OF_TASK)) {
        for (const name of names) numbers[name].element.hidden = owner !== view.task;
      }
      for (const option of loss.element.querySelectorAll("option")) {
        option.hidden = option.disabled = !hasTask(option.value, view.task);
      }
      numbers.ridge.element.hidden = view.loss === "max_margin"; // without effect there
    },
  };
}

// --- the plot ---

function createFigure() {
  const host = html("div", { class: "plots" });
  const plot = createPlot(host);
  const text = html("p", { class: "sentence" });
  const status = html("p", { class: "soft", role: "status" });
  const under = html("div", { class: "under" }, text, status);

  /** The vertical axis: rates up to 1/2, or squared errors over some decades. */
  function axisOf(task, { total, infinite_models: many }) {
    if (task === CLASSES) return { scale: "linear", range: [0, 0.5] };
    const least = Math.min(...many.filter((value) => value > 0));
    const low = 10 ** Math.floor(Math.log10(least / 30));
    const top = Math.max(...total.filter(Number.isFinite), 10 * low);
    return { scale: "log", range: [low, Math.min(10 ** Math.ceil(Math.log10(1.2 * top)), 1e4 * low)] };
  }
  function spec({ setting, task, loss }, found) {
    const { x, parts, total, here, threshold } = found;
    const { n_members: K } = setting;
    const at = perSample(setting);
    const ink = colorOf("total");
    const lines = CAUSES.filter((name) => parts[name].some((value) => value > 0)).map((name) => ({
      name, label: labelOf(name), color: colorOf(name), x, y: parts[name], width: 2,
    }));
    const limit = (name, members, y, dash) => {
      if (K !== members) lines.push({ name, label: totalLabel(members), color: ink, x, y, dash, width: 1.5 });
    };
    limit("one", 1, found.one_model, "8 3 2 3");
    limit("many", Infinity, found.infinite_models, "1.5 3");
    lines.push({ name: "total", label: totalLabel(K), color: ink, x, y: total, width: 3, peak: true });
    const { typical } = control("features_per_sample");
    const margin = threshold < 1;
    return {
      title: `The ${nameOf(task)} and its causes against P/N, ${control("loss").choices[loss]}`,
      description:
        (here.message ? "" : `At P/N = ${shownNumber(at)} the total is ${shownNumber(here.total)}. `) +
        "Left and right arrow keys read values along the curve.",
      x: { label: "features P/N", symbol: "P/N", scale: "log", range: typical },
      y: { label: nameOf(task), ...axisOf(task, found) },
      lines,
      marks: {
        here: here.message ? [] : [{ x: at, y: here.total }],
        thresholds: [{ x: threshold, label: margin ? `separable from P/N = ${shownNumber(threshold, 3)}` : "P = N" }],
      },
    };
  }
  return {
    host,
    under,
    say: (message) => setText(status, message),
    draw(body, found) {
      plot.update(spec(body, found));
      setText(text, unbroken(meaning(body, found)));
    },
  };
}

/** The error in words. */
function meaning({ setting, task, loss }, { here, threshold }) {
  const model = `At P/N = ${shownNumber(perSample(setting), 4)}, K = ${shownNumber(setting.n_members, 6)}`;
  const fits = threshold < 1
    ? `Without a ridge the fit separates the two classes from P/N = ${shownNumber(threshold, 3)} on.`
    : "Without a ridge the fit has every label from P = N on.";
  if (here.message) return fits;
  const why = task === CLASSES
    ? " The causes are averaged over in their order, noise first: the parts depend on it. A linear target has no bias."
    : "";
  const name = control("loss").choices[loss];
  const error = `${model} and the loss “${name}” the ${nameOf(task)} is ${plain(here.total)}.`;
  return `${error} ${sentencesOf(here.printed)} ${fits}${why}`;
}

// --- the panels ---

function splitPanel() {
  const title = html("p", { class: "soft" });
  const body = html("div");
  const element = panel("", "The error by cause", title, body);
  return {
    element,
    update({ setting, task }, { printed, message }) {
      element.hidden = Boolean(message);
      if (message) return;
      setText(title, `The ${nameOf(task)} at P/N = ${shownNumber(perSample(setting), 4)}.`);
      body.replaceChildren(...tablesOf(printed, "The error by cause"));
    },
  };
}

function pythonPanel() {
  const code = codeLines("Python lines", "");
  const copied = html("span", { role: "status", class: "soft" });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      setText(copied, " Copied.");
    } catch {
      setText(copied, " Select the lines to copy them.");
    }
  });
  const element = panel("tool", "In Python", code, html("div", { class: "buttons" }, copy, copied));
  return {
    element,
    update(line) {
      const imports = line.includes("math.inf") ? "import math\n\n" : "";
      setText(code.firstChild, `${imports}import doubletrouble as dt\n\nprint(${line})`);
      setText(copied, "");
    },
  };
}
