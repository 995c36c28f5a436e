/**
 * What needs the server (`doubletrouble page`): simulations and advice within a budget.
 *
 * The server marks the page that it serves; without the mark nothing is requested, and the panels say
 * how to start it.
 */

import { choiceControl, html, numberControl } from "./controls.js";
import { SETTING, settings, shownNumber } from "./state.js";

const POLL = 500; // ms between requests while a simulation runs
const REST = 300; // ms after the last change before advice is requested
const COMMANDS = ["pip install 'doubletrouble[cli,page]'", "doubletrouble page"];

/** Whether this page comes from the server. */
export function hasServer() {
  return document.querySelector('meta[name="doubletrouble-server"]') !== null;
}

async function request(method, path, parameters = {}) {
  const url = new URL(path, document.baseURI);
  const options = { method, headers: { Accept: "application/json" } };
  if (method === "POST") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(parameters);
  } else for (const name in parameters) url.searchParams.set(name, parameters[name]);
  const response = await fetch(url, options);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.message ?? body.error ?? `the server answered ${response.status}`);
  return body;
}

/** How to start the server, for panels that need it. */
function howToStart(what) {
  return html(
    "div",
    { class: "needs-server" },
    html("p", {}, `${what} run in Python, on your own computer:`),
    html("pre", { tabindex: "0", "aria-label": "Commands that start the server" }, html("code", {}, COMMANDS.join("\n"))),
    html("p", { class: "soft" }, "The address of this page then works there, too. Everything else needs no server."),
  );
}

/** A sentence from a message of the server. */
function sentence(text) {
  const plain = String(text);
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (/[.!?]$/.test(plain) ? "" : ".");
}

/** What a simulation depends on: the settings but for their places on the axis. */
function signature(view) {
  const fixed = settings(view).map((setting) => SETTING.map((name) => (name === view.along ? "" : setting[name])));
  return JSON.stringify([fixed, view.along, view.x, view.dim, view.draws]);
}

/**
 * The panel of simulations.
 *
 * @param {function(object[][]): void} onPoints - called with the points of each setting.
 */
export function simulationPanel(store, onPoints) {
  const title = html("h2", {}, "Check by simulation");
  if (!hasServer()) {
    return { element: html("section", { class: "panel" }, title, howToStart("Simulations")), update() {} };
  }
  const status = html("p", { role: "status" });
  const progress = html("progress", { max: "1", value: "0", hidden: true, "aria-label": "Progress of the simulation" });
  const start = html("button", { type: "button", onclick: run }, "Simulate");
  const cancel = html("button", { type: "button", hidden: true, onclick: stop }, "Cancel");
  const sizes = ["dim", "draws"].map((name) => numberControl(store, name, { which: "view", id: "sim", slider: false }));
  const element = html(
    "section",
    { class: "panel" },
    title,
    html("p", {}, "The same models at a finite size: points with bars of two standard errors are drawn over the curves."),
    html("div", { class: "row" }, ...sizes.map((one) => one.element), start, cancel),
    progress,
    status,
  );
  let known = null; // the signature that is shown
  let timer = 0;

  function show(body) {
    const all = body.settings ?? [];
    onPoints(all.map((one) => one.points ?? []));
    const done = all.reduce((sum, one) => sum + (one.done ?? 0), 0);
    const total = all.reduce((sum, one) => sum + (one.total ?? 0), 0);
    const running = all.some((one) => one.ended === false && ["running", "waiting", "queued"].includes(one.status));
    progress.hidden = !running;
    progress.value = total ? done / total : 0;
    cancel.hidden = !running;
    start.hidden = running;
    start.textContent = done && done < total ? "Go on" : "Simulate";
    const messages = all.flatMap((one) => [one.message, ...(one.refused ?? [])]).filter(Boolean);
    const count = total ? `${done} of ${total} points.` : "";
    status.textContent = [count, ...new Set(messages.map(sentence))].join(" ").trim();
    clearTimeout(timer);
    if (running) timer = setTimeout(poll, POLL);
  }
  const fail = (error) => (status.textContent = sentence(error.message));
  async function poll() {
    const asked = known;
    try {
      const body = await request("GET", "api/simulations", { query: store.query() });
      if (asked === known) show(body);
    } catch (error) {
      fail(error);
    }
  }
  async function run() {
    status.textContent = "Starting …";
    try {
      await request("POST", "api/simulations", { query: store.query() });
      await poll();
    } catch (error) {
      fail(error);
    }
  }
  async function stop() {
    try {
      await request("DELETE", "api/simulations", { query: store.query() });
      await poll();
    } catch (error) {
      fail(error);
    }
  }
  let waiting = 0;
  return {
    element,
    update(view) {
      for (const one of sizes) one.update(view);
      const now = signature(view);
      if (now === known) return;
      known = now;
      onPoints([]);
      status.textContent = "";
      clearTimeout(timer);
      clearTimeout(waiting);
      waiting = setTimeout(poll, REST);
    },
  };
}

/** The panel of advice: which change reduces the error most within a budget. */
export function advicePanel(store) {
  const title = html("h2", {}, "Which change within a budget?");
  if (!hasServer()) {
    return { element: html("section", { class: "panel" }, title, howToStart("Comparisons within a budget")), update() {} };
  }
  const budget = numberControl(store, "budget", { which: "view", id: "advice", slider: false });
  const cost = choiceControl(store, "cost", { which: "view", id: "advice" });
  const answer = html("div", { "aria-live": "polite" });
  const element = html("section", { class: "panel" }, title, html("div", { class: "row" }, budget.element, cost.element), answer);
  let timer = 0;
  let known = "";

  async function ask(key, parameters) {
    try {
      const advice = await request("GET", "api/advice", parameters);
      if (key !== known) return;
      const rows = (advice.options ?? []).map((option) =>
        html(
          "tr",
          { class: option.name === advice.choice ? "chosen" : "" },
          html("th", { scope: "row" }, option.label ?? option.name),
          html("td", {}, shownNumber(Number(option.total ?? option.error?.total))),
        ),
      );
      const head = html("tr", {}, html("th", { scope: "col" }, "Change"), html("th", { scope: "col" }, "Error"));
      const table = html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows));
      answer.replaceChildren(html("p", {}, advice.summary ?? ""), rows.length ? table : "");
    } catch (error) {
      if (key === known) answer.replaceChildren(html("p", {}, sentence(error.message)));
    }
  }
  return {
    element,
    update(view) {
      budget.update(view);
      cost.update(view);
      const parameters = { query: store.query(), cost: view.cost };
      if (view.budget) parameters.budget = view.budget;
      const key = JSON.stringify([view.first, view.budget, view.cost]);
      if (key === known) return;
      known = key;
      clearTimeout(timer);
      timer = setTimeout(() => ask(key, parameters), REST);
    },
  };
}
