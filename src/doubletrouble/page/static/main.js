/** The page: the declarations, the store, and one view or, for `?embed=NAME`, one figure of the story. */

import { createStore, links, loadDeclarations, viewOf } from "./state.js";
import { explain } from "./words.js";

const moduleOf = ({ view, file = view }) => [view, () => import(`./${file}.js`)];
const VIEWS = Object.fromEntries(links.map((link) => moduleOf(link.dataset)));
VIEWS[viewOf(location.search)](); // in parallel with the declarations

/** Colours of the parts as properties of the page: --causes-noise, ..., for light and dark. */
function addColors({ parts: { colors } }) {
  const rules = (theme) => {
    const named = Object.entries(colors).flatMap(([split, themes]) =>
      Object.entries(themes[theme]).map(([name, color]) => `--${split}-${name}: ${color};`),
    );
    return named.join(" ");
  };
  const sheet = document.querySelector('link[href$="page.css"]').sheet;
  const add = (rule) => sheet.insertRule(rule, sheet.cssRules.length);
  add(`:root { ${rules("light")} }`);
  add(`@media screen and (prefers-color-scheme: dark) { :root { ${rules("dark")} } }`);
}

async function start() {
  const declarations = await loadDeclarations();
  addColors(declarations);
  explain(declarations);
  const store = createStore();
  const shown = {}; // views that have been built

  async function build(name, embed) {
    const { render } = await VIEWS[name]();
    return render(document.getElementById(name), store, embed);
  }

  /** Messages about the address, where no step of the story has them. */
  function note(view) {
    const isShown = view.view === "story" && !view.step && !view.embed;
    document.getElementById("notes").textContent = isShown ? store.messages().join(" ") : "";
  }

  async function show(view) {
    const name = view.embed ? "story" : view.view;
    document.documentElement.classList.toggle("embedded", Boolean(view.embed));
    for (const key in VIEWS) document.getElementById(key).hidden = key !== name;
    for (const link of links) link.ariaCurrent = link.dataset.view === name ? "page" : null;
    shown[name] ??= build(name, view.embed || undefined);
    (await shown[name])?.update?.();
    document.getElementById("starting").hidden = true;
  }

  for (const link of links) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      store.set({ view: link.dataset.view, step: "" });
      scrollTo(0, 0);
    });
  }
  store.subscribe((view, previous) => {
    if (view.view !== previous.view) show(view).catch(failed);
    note(view);
  });
  note(store.get());
  await show(store.get());
  document.documentElement.classList.add("ready");
  for (const name in VIEWS) setTimeout(VIEWS[name], 1000); // so that the other view opens without a network, too
}

function failed(error) {
  const status = document.getElementById("starting");
  status.hidden = false;
  status.textContent = `The page could not be shown: ${error.message}`;
  throw error;
}

start().catch(failed);
