/**
 * Requests to the server (`doubletrouble page`), and the panels of "explore" that make them: simulations, and advice
 * within a budget. Only this server has this module.
 */

import { choiceControl, numberControl } from "./controls.js";
import { range } from "./curves.js";
import { button, html, panel, setText } from "./elements.js";
import { remarksOf, tablesOf } from "./printed.js";
import { control, fromJson, settings, shownNumber, toJson } from "./state.js";

const POLL = 500; // ms between requests while a simulation runs
const REST = 300; // ms after the last change before anything is requested
const RETRY = 5000; // ms after which a server that did not answer is asked again

export async function request(path, body) {
  const options = { method: "POST", body: body instanceof Blob ? body : toJson(body) };
  const response = await fetch(new URL(path, document.baseURI), options).catch(() => {
    throw Object.assign(new Error("the server does not answer; start it again: doubletrouble page"), { isSilent: true });
  });
  const answer = await response.text().then(fromJson).catch(() => ({}));
  if (!response.ok) throw new Error(answer.message ?? `the server answered ${response.status}`);
  return answer;
}

/** A sentence from a message of the server. */
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

/** The simulations of a view, as the server takes them. */
function simulationsOf(view) {
  const { along, dim, n_data } = view;
  return { settings: settings(view), along, dim, n_data, range: range(view) };
}

/** Estimates [value, standard error] by part; what is no number is NaN. */
function estimates(terms) {
  const numbers = (pair) => pair.map((value) => (typeof value === "number" ? value : NaN));
  return Object.fromEntries(Object.entries(terms).map(([name, pair]) => [name, numbers(pair)]));
}

/** The panel of simulations; `onPoints` is called with the points of each setting. */
export function simulationPanel(store, onPoints) {
  const status = html("p", { role: "status" });
  const progress = html("progress", { max: "1", value: "0", hidden: true, "aria-label": "Progress of the simulation" });
  const start = button("Simulate", () => {
    update(store.get());
    send("start");
  });
  const cancel = button("Cancel", () => send("cancel"), { hidden: true });
  const sizes = ["dim", "n_data"].map((name) => numberControl(store, name, { which: "view", id: "sim", slider: false }));
  const element = panel(
    "tool",
    "Check by simulation",
    html("p", {}, "The same models at a finite size, drawn over the curves with bars of two standard errors."),
    html("div", { class: "row" }, ...sizes.map((one) => one.element), start, cancel),
    progress,
    status,
  );
  let shown = { key: "", body: null }; // the simulations that are shown, as they are requested
  let running = false;
  let requests = 0; // only the answer to the latest is shown
  let timer = 0;

  function setRunning(now, startText) {
    running = now;
    for (const one of [progress, cancel]) one.hidden = !running;
    start.hidden = running;
    setText(start, startText);
    clearTimeout(timer);
    if (running) timer = setTimeout(() => send("status"), POLL);
  }
  function show(all) {
    const started = all.filter(Boolean);
    const sum = (name) => started.reduce((total, one) => total + one[name], 0);
    const [done, total] = [sum("done"), sum("total")];
    const points = all.map((one) =>
      (one?.points ?? []).map((p) => ({ x: p.x, causes: estimates(p.causes), effects: estimates(p.effects) })),
    );
    onPoints(points);
    progress.value = total ? done / total : 0;
    setRunning(started.some((one) => !one.ended), done && done < total ? "Go on" : "Simulate");
    setText(status, started.length ? summary(started, points.flat(), done, total) : "");
  }
  /** How many points are drawn and refused, and why. */
  function summary(started, points, done, total) {
    const refused = started.flatMap((one) => one.refused.map(({ message }) => message));
    const [reason, ...more] = new Set(refused);
    const reasons = reason ? reason + (more.length ? ", and similar" : "") : "";
    const texts = [`${done} of ${total} points drawn${reasons && `, ${refused.length} refused: ${reasons}`}`];
    const odd = points.filter(({ causes }) => !Number.isFinite(causes.total[0])).map(({ x }) => shownNumber(x, 3));
    const { along } = shown.body;
    const { symbol } = control(along);
    if (odd.length) texts.push(`the total is not finite at ${symbol} = ${odd.join(", ")}`);
    const ends = { cancelled: "cancelled", failed: "it failed" };
    for (const one of started) texts.push(ends[one.status], one.message);
    return [...new Set(texts)].filter(Boolean).map(sentence).join(" ");
  }
  async function send(action) {
    clearTimeout(timer);
    const number = (requests += 1);
    try {
      const answer = await request("api/simulations", { action, ...shown.body });
      if (number === requests) show(answer.settings);
    } catch (error) {
      if (number !== requests) return;
      // sizes that cannot be simulated are a message only if a simulation is requested
      setText(status, running || action !== "status" ? sentence(error.message) : "");
      setRunning(false, running ? "Go on" : "Simulate");
    }
  }
  function update(view) {
    for (const one of sizes) one.update(view);
    const body = simulationsOf(view);
    const anywhere = body.settings.map((setting) => ({ ...setting, [view.along]: 0 }));
    const key = toJson({ ...body, settings: anywhere });
    if (key === shown.key) return;
    shown = { key, body };
    requests += 1; // answers about other simulations are not shown
    show([]);
    timer = setTimeout(() => send("status"), REST);
  }
  return { element, update };
}

/** The panel of advice: which change reduces the error most within a budget. */
export function advicePanel(store) {
  const budget = numberControl(store, "budget", { which: "view", id: "advice", slider: false });
  const cost = choiceControl(store, "cost", { which: "view", id: "advice" });
  const summary = html("p", { "aria-live": "polite" });
  const changes = html("div");
  const row = html("div", { class: "row" }, budget.element, cost.element);
  const element = panel("tool", "Which change within a budget?", row, summary, changes);
  let timer = 0;
  let shown = "";

  async function send(key, body) {
    try {
      const advice = await request("api/advice", body);
      if (key !== shown) return;
      setText(summary, advice.verdict);
      changes.replaceChildren(...tablesOf(advice, "Changes"), ...remarksOf(advice));
    } catch (error) {
      if (key !== shown) return;
      setText(summary, sentence(error.message));
      changes.replaceChildren();
      if (error.isSilent) timer = setTimeout(() => send(key, body), RETRY);
    }
  }
  return {
    element,
    update(view) {
      budget.update(view);
      cost.update(view);
      const body = { setting: view.first, budget: view.budget, cost: view.cost };
      const key = toJson(body);
      if (key === shown) return;
      shown = key;
      clearTimeout(timer);
      const { scheme, time } = view.first;
      if (["ensemble", "divide"].includes(scheme) && time === Infinity) {
        timer = setTimeout(() => send(key, body), REST);
        return;
      }
      setText(summary, "Changes are compared for shared or divided data, trained to the end (t = ∞).");
      changes.replaceChildren();
    },
  };
}
