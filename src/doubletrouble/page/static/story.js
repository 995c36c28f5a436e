/**
 * The story on the page: steps with sliders and animations, a summary, and the claims.
 *
 * The step that was changed is in the address (`step`, with its setting); all others show their start.
 */

import { numberControl } from "./controls.js";
import { button, html, setText, table } from "./elements.js";
import { createPlot } from "./plot.js";
import { defaultView, featuresName, SETTING, shownNumber } from "./state.js";
import { claimNotes, steps } from "./steps.js";
import { phrase, unbroken } from "./words.js";

// --- the step in the address ---

const NAMES = ["features_per_sample", "n_members", "ridge", "snr"]; // all other values are those of the start
const GIVEN = new URLSearchParams(location.search); // when the page was opened
const MARK = 1; // of `top`: a setting of all defaults would be read as the start of the step

/** The setting that a view has for a step: its own if the step was changed, else its start. */
function settingOf(step, view, plain) {
  const found = { ...plain, ...step.setting };
  const isOwn = view.step === step.id && (view.top || !isPlain(view.first, plain));
  const isNamed = !view.step && view.embed === step.id; // ?embed=causes&n_members=10
  for (const name of "features_per_sample" in view.first ? NAMES : []) {
    if (isOwn || (isNamed && GIVEN.has(name))) found[name] = view.first[name];
    found[name] = Math.min(found[name], step.most?.[name] ?? Infinity);
  }
  return found;
}

function isPlain(setting, plain) {
  return SETTING.every((name) => setting[name] === plain[name]);
}

/** The store as the controls of one step see it. */
function storeOf(step, store, plain) {
  const { declarations } = store;
  const controls = { ...declarations.controls };
  for (const [name, typical] of Object.entries({ features_per_sample: [0.1, 10], ...step.ranges })) {
    const high = step.most?.[name];
    const label = step.labels?.[name] ?? controls[name].label;
    controls[name] = { ...controls[name], label, typical, ...(high && { high, or_inf: false, stops: {} }) };
  }
  return {
    declarations: { ...declarations, controls },
    get: () => ({ ...store.get(), first: settingOf(step, store.get(), plain) }),
    set(patch, how) {
      const first = { ...settingOf(step, store.get(), plain), ...patch.first };
      const top = isPlain(first, plain) ? MARK : 0;
      store.set({ view: "story", step: step.id, first, second: null, ratio: featuresName(plain), top }, how);
    },
  };
}

// --- "show me" ---

const FEW = 5; // steps of a move where motion is reduced

let running = null; // the one animation: {step, end()}
let isAnimated = false; // whether the animation makes the present change

/** Move sliders through the moves of a step; any other change ends it. */
function animate(step, store, onEnd) {
  running?.end();
  const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let handle = 0;
  let at = 0; // the move
  let began; // when it began
  let before; // the value that is shown

  function valueAt([control, from, to], share) {
    if (share === 1) return to;
    const { typical, whole } = store.declarations.controls[control];
    const [a, b] = [from, to].map((end) => Math.min(Math.max(end, typical[0]), typical[1])); // 0 and ∞ are beyond
    const value = a * (b / a) ** share;
    return from === to ? to : whole ? Math.round(value) : Number(value.toPrecision(3));
  }
  function change(first, commit) {
    isAnimated = true;
    store.set({ first }, { commit });
    isAnimated = false;
  }
  function end() {
    cancelAnimationFrame(handle);
    running = null;
    onEnd();
  }
  function tick(now) {
    began ??= now;
    const [control, , , seconds] = step.show[at];
    const passed = (now - began) / 1000 / seconds;
    const share = Math.min(reduced ? Math.floor(FEW * passed) / FEW : passed, 1);
    const isLast = share === 1 && at === step.show.length - 1;
    const value = valueAt(step.show[at], share);
    if (value !== before || isLast) change({ [control]: value }, isLast);
    before = value;
    if (isLast) return end();
    if (share === 1) [at, began, before] = [at + 1, now, undefined];
    handle = requestAnimationFrame(tick);
  }
  const start = { ...step.setting };
  for (const [control, from] of [...step.show].reverse()) start[control] = from;
  change(start, false);
  handle = requestAnimationFrame(tick);
  running = { step, end };
}

// --- the claims ---

const REMARKS = {
  true: "The paper says so too",
  "true with a condition": "The paper says so, true with a condition",
  false: "The paper says otherwise",
};

/** The table of claims: those of the steps first, the others folded. */
function claimsTable(declarations, plain) {
  const notes = claimNotes(plain);
  const docs = document.querySelector('meta[name="doubletrouble-docs"]')?.content;
  const row = ({ number, claim, verdict, anchor }) => {
    const name = docs ? html("a", { href: `${docs}claims.html#${anchor}` }, claim) : claim;
    const links = steps.flatMap(({ id, claims }, i) =>
      claims?.includes(number) ? [" ", html("a", { href: `#step-${id}` }, `Step ${i + 1}`)] : [],
    );
    return html(
      "tr",
      { id: `claim-${number}` },
      html("td", {}, html("span", { class: `verdict ${verdict}` }, verdict)),
      html("th", { scope: "row" }, `${number}. `, name),
      html("td", {}, ...phrase(notes[number] ?? ""), ...links),
    );
  };
  const { claims } = declarations;
  const isTold = ({ number }) => steps.some((step) => step.claims?.includes(number));
  const heads = ["verdict", "claim of the paper", "what holds"];
  const rows = (name, some) => table(name, heads, some.map(row), { class: "claims" });
  const count = (kind) => claims.filter(({ verdict }) => verdict === kind).length;
  const counts = Object.keys(REMARKS).map((kind) => `${count(kind)} are ${kind}`);
  const [told, others] = [claims.filter(isTold), claims.filter((claim) => !isTold(claim))];
  return html(
    "div",
    {},
    paragraph("step-sentence", `Of ${claims.length} claims, ${counts.join(", ")}.`),
    rows("Claims", told),
    html("details", {}, html("summary", {}, "Further claims"), rows("Further claims", others)),
  );
}

// --- rendering ---

const INTRO = `
  Make a model larger, and its error on new data first falls, then rises to a peak, and then falls again: {double
  descent}.

  Why is there a peak, what removes it, and what stays? Eight live figures answer. Their curves are exact for a
  simple model, regression with {random features}. Move the sliders, or press “Show me”.`;

/** Draw the story, or only the step whose id is `embed`, in a container; returns {update()}. */
export function render(container, store, embed) {
  const only = steps.filter(({ id }) => id === embed);
  const shownSteps = only.length ? only : steps;
  const plain = defaultView().first;
  const sections = shownSteps.map((step) => createStep(step, store, plain, only.length > 0));
  const nodes = sections.map(({ element }) => element);
  if (!only.length) {
    nodes.unshift(introduction());
    nodes.splice(nodes.length - 1, 0, summary());
  }
  container.replaceChildren(...nodes);

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        sections.find(({ element }) => element === target).setVisible(isIntersecting);
      }
    },
    { rootMargin: "300px 0px" },
  );
  for (const { element } of sections) observer.observe(element);

  const update = () => sections.forEach((section) => section.update());
  addEventListener("beforeprint", () => sections.forEach((section) => section.paint?.()));
  update();
  store.subscribe((view, previous, how) => {
    if (!isAnimated) running?.end();
    for (const section of sections) section.update(how);
    if (how.restored && view.step && view.step !== previous.step) scrollTo(view.step);
  });
  requestAnimationFrame(() => {
    if (only.length) return;
    if (store.get().step) scrollTo(store.get().step);
    else if (location.hash) location.replace(location.hash); // what it names is there only now
  });

  function scrollTo(id) {
    document.getElementById(`step-${id}`)?.scrollIntoView({ block: "start", behavior: "instant" });
  }
  return { update };
}

function paragraph(name, ...children) {
  return html("p", { class: name }, ...children);
}

/** Paragraphs of a text, which empty lines part. */
function paragraphs(text) {
  return text.split("\n\n").map((one) => html("p", {}, ...phrase(one.trim().replace(/\s+/g, " "))));
}

function introduction() {
  const items = steps.map(({ id, title }) => html("li", {}, html("a", { href: `#step-${id}` }, title)));
  const short = html("p", {}, html("a", { href: "#in-short" }, "In short"));
  return html(
    "div",
    { class: "story-intro" },
    html("div", {}, ...paragraphs(INTRO)),
    html("nav", { "aria-label": "Steps" }, html("ol", {}, ...items), short),
  );
}

/** The summary, which is also that of the page without JavaScript. */
function summary() {
  const heading = html("h2", { id: "in-short" }, "In short");
  const answers = document.querySelector("#fallback dl").cloneNode(true);
  return html("section", { class: "story-summary", "aria-labelledby": heading.id }, heading, answers);
}

/** What a figure leaves unsaid: the values without a slider. */
function captionOf({ controls, caption }, first, seed) {
  const fixed = controls.includes("ridge") ? "" : `λ = ${shownNumber(first.ridge, 3)}, `;
  return unbroken(`${caption?.(first, seed) ?? ""} ${fixed}`.trimStart());
}

/** The longest sentence of an animation, whose room is kept free. */
function longestSentence({ show, sentence }, start) {
  const first = { ...start };
  const sentences = show.map(([control, , to]) => {
    first[control] = to;
    return sentence(first);
  });
  return sentences.reduce((a, b) => (b.length > a.length ? b : a));
}

/** One step: its text, figure, sentence and controls. */
function createStep(step, store, plain, embedded) {
  let seed = 3;
  let visible = false;
  let handle = 0;
  let last = ""; // the setting that is shown
  const local = storeOf(step, store, plain);

  const heading = html("h2", { id: `title-${step.id}` }, step.title);
  const number = embedded ? null : paragraph("step-number", `${steps.indexOf(step) + 1} of ${steps.length}`);
  const text = html("div", { class: "step-text" }, number, heading, ...(embedded ? [] : paragraphs(step.text)));
  const element = html("section", { class: "step", id: `step-${step.id}`, "aria-labelledby": heading.id }, text);
  if (!step.figure) {
    element.classList.add("step-wide");
    element.append(claimsTable(store.declarations, plain), links());
    return { element, setVisible() {}, update() {} };
  }

  const sentence = paragraph("step-sentence");
  const room = paragraph("step-room", unbroken(longestSentence(step, local.get().first)));
  const spoken = html("p", { class: "unseen", role: "status" });
  const message = html("p", { class: "step-message", role: "alert" });
  const showButton = button("Show me", toggleShow, { class: "show-me" });
  const resetButton = button("Reset", reset);
  const againButton = step.id === "fit" ? button("Draw again", drawAgain) : null;
  const controls = step.controls.map((name) => numberControl(local, name, { id: `story-${step.id}` }));
  const holders = Array.from({ length: step.plots ?? 1 }, () => html("div", { class: "step-plot" }));
  const titles = holders.map(() => paragraph("step-plot-title"));
  const notes = html("span");
  const { samples_per_dim: ratio } = step.setting;
  const data = phrase(`{N/D|N = ${ratio ? `${ratio} D` : "D"}}, {ReLU} features.`);
  const framed = holders.flatMap((holder, i) => [titles[i], holder]);
  const figure = html("div", { class: step.plots ? "step-figure double" : "step-figure" }, ...framed);
  const aside = html(
    "div",
    { class: "step-side" },
    html("div", { class: "step-callout" }, sentence, room),
    spoken,
    html("div", { class: "step-buttons" }, showButton, againButton, resetButton),
    html("div", { class: "step-controls" }, ...controls.map((one) => one.element)),
    message,
    paragraph("step-caption", notes, ...data),
    links(),
  );
  element.append(figure, aside);
  const plots = holders.map((holder) => createPlot(holder));
  write(local.get().first);

  function links() {
    const { url } = store.declarations.citation;
    const items = step.paper.map((part) => html("a", { href: url, target: "_blank" }, `${part} of the paper`));
    if (embedded) items.push(html("a", { href: `?step=${step.id}`, target: "_blank" }, "The whole story"));
    else if (step.figure) {
      const about = store.declarations.claims.filter((claim) => step.claims?.includes(claim.number));
      for (const { number: n, verdict } of about) {
        items.push(html("a", { href: `#claim-${n}` }, `${REMARKS[verdict]} (claim ${n})`));
      }
      items.push(html("a", { href: "?view=explore", onclick: toExplore }, "Open in explore"));
    }
    return paragraph("step-links", ...items);
  }
  function toExplore(event) {
    event.preventDefault();
    const { first } = local.get();
    const along = "features_per_sample";
    store.set({ view: "explore", step: "", top: 0, along, first, second: null, ...step.explore?.(first) });
    window.scrollTo({ top: 0, behavior: "instant" });
  }
  const isRunning = () => running?.step === step;
  const halt = () => local.set({ first: {} }, { commit: true }); // a change that is not the animation's ends it
  function toggleShow() {
    if (isRunning()) return halt();
    animate(step, local, () => (showButton.textContent = "Show me again"));
    showButton.textContent = "Stop";
  }
  function reset() {
    store.set({ view: "story", step: "", top: 0, first: plain, second: null, ratio: featuresName(plain) });
  }
  function drawAgain() {
    seed += 1;
    schedule();
  }

  /** Write sentence and caption, also before the figure is seen, to keep their place. */
  function write(first) {
    setText(sentence, unbroken(step.sentence(first)));
    setText(notes, captionOf(step, first, seed));
  }
  function paint() {
    handle = 0;
    const { first } = local.get();
    write(first);
    const description = sentence.textContent;
    [step.figure(first, seed)].flat().forEach((spec, i) => {
      setText(titles[i], spec.title);
      plots[i].update({ ...spec, description });
    });
  }
  function schedule() {
    if (visible) handle ||= requestAnimationFrame(paint);
  }
  return {
    element,
    paint,
    setVisible(now) {
      visible = now;
      schedule();
      if (!now && isRunning()) halt();
    },
    update(how) {
      const view = local.get();
      const isActive = view.step === step.id;
      resetButton.hidden = !isActive;
      setText(message, isActive || embedded ? store.messages().join(" ") : "");
      if (how?.commit && isActive) spoken.textContent = step.sentence(view.first);
      const key = SETTING.map((name) => view.first[name]).join();
      if (key === last && !isActive) return; // another step was changed
      last = key;
      for (const one of controls) one.update(view);
      if (!visible) write(view.first);
      schedule();
    },
  };
}
