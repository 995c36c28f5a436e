/**
 * What needs the server (`doubletrouble page`): simulations and advice within a budget.
 *
 * The server marks the page that it serves; without the mark nothing is requested, and the panels say
 * how to start it.
 */

import { button, choiceControl, codeLines, html, numberControl, panel, setText, table } from "./controls.js";
import { range } from "./curves.js";
import { settings, shownNumber } from "./state.js";

const POLL = 500; // ms between requests while a simulation runs
const REST = 300; // ms after the last change before advice is requested
const COMMANDS = "pip install 'doubletrouble[cli,page]'\ndoubletrouble page";

/** Whether this page comes from the server. */
function hasServer() {
  return document.querySelector('meta[name="doubletrouble-server"]') !== null;
}

/** Infinite numbers are text in JSON. */
function strict(name, value) {
  return value === Infinity ? "inf" : value;
}

/** A number of the server, where an infinite one is text. */
function number(value) {
  return value === "inf" ? Infinity : Number(value);
}

function factor(value) {
  return `×${shownNumber(number(value), 3)}`;
}

async function request(path, body) {
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify(body, strict) };
  const response = await fetch(new URL(path, document.baseURI), options);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.message ?? `the server answered ${response.status}`);
  return answer;
}

/** A panel that needs the server, where there is none: how to start it. */
function howToStart(title, what) {
  const element = panel(
    "tool",
    title,
    html("p", {}, `${what} run in Python, on your own computer:`),
    codeLines("Commands that start the server", COMMANDS),
    html("p", { class: "soft" }, "The address of this page then works there, too. Everything else needs no server."),
  );
  return { element, update() {} };
}

/** A sentence from a message of the server. */
function sentence(text) {
  const plain = String(text);
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (/[.!?]$/.test(plain) ? "" : ".");
}

/** The simulations of a view, as the server takes them. */
function simulationsOf(view, declarations) {
  const { along, dim, draws } = view;
  return { settings: settings(view), along, dim, draws, range: range(view, declarations) };
}

/** The panel of simulations; `onPoints` is called with the points of each setting. */
export function simulationPanel(store, onPoints) {
  const title = "Check by simulation";
  if (!hasServer()) return howToStart(title, "Simulations");
  const status = html("p", { role: "status" });
  const progress = html("progress", { max: "1", value: "0", hidden: true, "aria-label": "Progress of the simulation" });
  const start = button("Simulate", () => ask("start"));
  const cancel = button("Cancel", () => ask("cancel"), { hidden: true });
  const sizes = ["dim", "draws"].map((name) => numberControl(store, name, { which: "view", id: "sim", slider: false }));
  const element = panel(
    "tool",
    title,
    html("p", {}, "The same models at a finite size, drawn over the curves with bars of two standard errors."),
    html("div", { class: "row" }, ...sizes.map((one) => one.element), start, cancel),
    progress,
    status,
  );
  let known = null; // the simulations that are shown
  let timer = 0;

  function show({ settings: all }) {
    const begun = all.filter(Boolean);
    onPoints(all.map((one) => one?.points ?? []));
    const done = begun.reduce((sum, one) => sum + one.done, 0);
    const total = begun.reduce((sum, one) => sum + one.total, 0);
    const running = begun.some((one) => !one.ended);
    progress.hidden = !running;
    progress.value = total ? done / total : 0;
    cancel.hidden = !running;
    start.hidden = running;
    setText(start, done && done < total ? "Go on" : "Simulate");
    const states = { cancelled: "Cancelled.", failed: "It failed." };
    const ends = begun.map((one) => (one.done < one.total && states[one.status]) || "");
    const messages = begun.flatMap((one) => [one.message, ...one.refused]).filter(Boolean).map(sentence);
    const count = total ? `${done} of ${total} points.` : "";
    setText(status, [count, ...new Set([...ends, ...messages])].filter(Boolean).join(" "));
    clearTimeout(timer);
    if (running) timer = setTimeout(() => ask("status"), POLL);
  }
  async function ask(action) {
    const asked = known;
    try {
      const answer = await request("api/simulations", { action, ...simulationsOf(store.get(), store.declarations) });
      if (asked === known) show(answer);
    } catch (error) {
      if (asked !== known) return;
      // sizes that cannot be simulated are a message only if a simulation is wanted
      setText(status, action === "status" ? "" : sentence(error.message));
    }
  }
  let waiting = 0;
  return {
    element,
    update(view) {
      for (const one of sizes) one.update(view);
      const wanted = simulationsOf(view, store.declarations);
      const anywhere = wanted.settings.map((setting) => ({ ...setting, [view.along]: 0 }));
      const now = JSON.stringify({ ...wanted, settings: anywhere }, strict);
      if (now === known) return;
      known = now;
      onPoints([]);
      setText(status, "");
      clearTimeout(timer);
      clearTimeout(waiting);
      waiting = setTimeout(() => ask("status"), REST);
    },
  };
}

/** The panel of advice: which change reduces the error most within a budget. */
export function advicePanel(store) {
  const title = "Which change within a budget?";
  if (!hasServer()) return howToStart(title, "Comparisons within a budget");
  const budget = numberControl(store, "budget", { which: "view", id: "advice", slider: false });
  const cost = choiceControl(store, "cost", { which: "view", id: "advice" });
  const answer = html("div", { "aria-live": "polite" });
  const row = html("div", { class: "row" }, budget.element, cost.element);
  const element = panel("tool", title, row, answer);
  let timer = 0;
  let known = "";

  async function ask(key, body) {
    try {
      const advice = await request("api/advice", body);
      if (key !== known) return;
      const rows = advice.options.map((option) =>
        html(
          "tr",
          { class: option.name === advice.choice ? "chosen" : "" },
          html("th", { scope: "row" }, option.label),
          html("td", {}, shownNumber(number(option.error_total))),
          html("td", {}, factor(option.relative_features)),
          html("td", {}, factor(option.relative_training)),
        ),
      );
      const changes = table("Changes", ["Change", "Error", "Features", "Training"], rows);
      answer.replaceChildren(html("p", {}, advice.summary), changes);
    } catch (error) {
      if (key === known) answer.replaceChildren(html("p", {}, sentence(error.message)));
    }
  }
  return {
    element,
    update(view) {
      budget.update(view);
      cost.update(view);
      const body = { setting: view.first, budget: view.budget, cost: view.cost };
      const key = JSON.stringify(body, strict);
      if (key === known) return;
      known = key;
      clearTimeout(timer);
      timer = setTimeout(() => ask(key, body), REST);
    },
  };
}
