/**
 * What needs the server (`doubletrouble page`): simulations, advice within a budget, and your data.
 *
 * The server marks its page, and has the modules; without the mark the panels show how to start it.
 */

import { codeLines, html, panel } from "./elements.js";

const COMMANDS = "pip install -c constraints.txt '.[cli,page]'\ndoubletrouble page";

const hasServer = document.querySelector('meta[name="doubletrouble-server"]') !== null;
const server = hasServer ? await import("./server.js") : null;

/** A panel that needs the server, where there is none: how to start it. */
function howToStart(title, what) {
  const element = panel(
    "tool",
    title,
    html("p", {}, `${what} run in Python, in a copy of the repository:`),
    codeLines("Commands that start the server", COMMANDS),
    html("p", { class: "soft" }, "The address of this page then works there, too."),
  );
  return { element, update() {} };
}

export function simulationPanel(store, onPoints) {
  return server?.simulationPanel(store, onPoints) ?? howToStart("Check by simulation", "Simulations");
}

export function advicePanel(store) {
  return server?.advicePanel(store) ?? howToStart("Which change within a budget?", "Comparisons within a budget");
}

/** The view "your data", in a file that only the server has. */
export async function render(container) {
  if (server) return (await import("./data.js")).render(container);
  container.append(howToStart("Your data", "Forecasts of the error on your own table").element);
}
