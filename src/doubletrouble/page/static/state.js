/**
 * The state of the page: one view, which the query of the address holds.
 *
 * A view is {first, second, along, split, ...}: `first` and `second` (or null) are settings, the other names
 * how they are drawn. Differences from the defaults are written, those of `second` from `first`, with all
 * digits. Names, domains and defaults are those of declarations.json, but for `PAGE`.
 */

import { QUESTIONS } from "./questions.js";
import { fewestMembers } from "./theory.js";

const SECOND = "second.";
const LONGEST_QUERY = 4000;
const MOST_FIELDS = 100;
const MOST_MESSAGES = 6;
const SHOWN = 40; // characters of a refused text
const WRITE_EVERY = 400; // ms between addresses while a slider is dragged
const RETRY = 1000; // ms after which an address that the browser has refused is written again

/** The declarations of Python, and names of one setting (all others belong to the view); both are loaded. */
export let declarations = null;
export let SETTING = [];

const STEP_IDS = Object.keys(QUESTIONS);
const STEP = { choices: Object.fromEntries(["", ...STEP_IDS].map((id) => [id, id])), default: "" };
const FLAG = { choices: { 0: "no", 1: "yes" }, default: "0" };

/** Links to the views: a server has more. */
export const links = [...document.querySelectorAll("a[data-view]")];

/** Names of the page itself: they change what is shown, not what is computed. */
const PAGE = {
  view: { label: "View", choices: Object.fromEntries(links.map((a) => [a.dataset.view, a.text])), default: "story" },
  step: { label: "Step", ...STEP },
  embed: { label: "Figure", ...STEP },
  compare: {
    label: "Two settings",
    meaning: "two settings in one plot, or in two plots beside each other",
    choices: { overlay: "in one plot", beside: "side by side" },
    default: "overlay",
  },
  training: { label: "Training error", ...FLAG },
  map: { label: "Map of K and λ", ...FLAG },
  top: { label: "Top of the vertical axis", low: 1e-100, high: 1e300, default: 0 }, // 0: the usual one
};

/** JSON as Python has it: infinite numbers are "inf". */
export const toJson = (value) => JSON.stringify(value, (_, one) => (one === Infinity ? "inf" : one));
export const fromJson = (text) => JSON.parse(text, (_, one) => (one === "inf" ? Infinity : one));

/** The declarations, completed; `anchor` is that of a claim's heading in the documentation. */
export async function loadDeclarations() {
  const response = await fetch(new URL("declarations.json", import.meta.url));
  if (!response.ok) throw new Error(`declarations.json has status ${response.status}`);
  declarations = fromJson(await response.text());
  SETTING = namesOf("basic", "more");
  declarations.claims = Object.entries(declarations.claims).map(([claim, verdict], i) => {
    const heading = `${i + 1} ${claim}`.toLowerCase();
    const anchor = heading.replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    return { number: i + 1, claim, verdict, anchor };
  });
  return declarations;
}

/** Names of the controls of some groups, in their order. */
export function namesOf(...groups) {
  const { controls } = declarations;
  return Object.keys(controls).filter((name) => groups.includes(controls[name].group));
}

/** The declaration of a control. */
export function control(name, { controls } = declarations) {
  const owner = Object.hasOwn(controls, name) ? controls : PAGE;
  return Object.hasOwn(owner, name) ? owner[name] : undefined;
}

/** Whether a setting has a control: of the two ratios of the features it has one. */
export function applies(name, setting) {
  const schemes = control(name)?.schemes;
  return (!FEATURES.includes(name) || name in setting) && (!schemes || schemes.includes(setting.scheme));
}

// --- numbers and texts ---

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITY = /^\+?(inf|infinity)$/i;

/** The number that a text means: 0.1, 1e-5, 300/120, inf or ∞; NaN for anything else. */
export function parseNumber(text) {
  const plain = text.trim().replaceAll("∞", "inf").replaceAll("−", "-");
  const [above, below, more] = plain.split("/").map((part) => part.trim());
  if (more !== undefined) return NaN;
  const value = below === undefined ? plainNumber(above) : plainNumber(above) / plainNumber(below);
  return value + 0; // -0 becomes 0
}

function plainNumber(text) {
  if (INFINITY.test(text)) return Infinity;
  return NUMBER.test(text) ? Number(text) : NaN;
}

/** A number as text that is read back to the last bit. */
export function writeNumber(value) {
  if (value === Infinity) return "inf";
  const size = Math.abs(value);
  const text = size > 0 && size < 1e-3 ? value.toExponential() : String(value);
  return text.replace("e+", "e");
}

/** A number for readers, to some digits. */
export function shownNumber(value, digits = 4) {
  if (value === Infinity) return "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e5 && size >= 1e-4) return String(Number(value.toPrecision(digits)));
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return `${Number(mantissa)}e${Number(exponent)}`;
}

export function contains(declared, value) {
  if (value === declared.default) return true;
  if (value === Infinity) return declared.or_inf || declared.high === Infinity;
  const inside = value >= declared.low && value <= declared.high;
  return inside && !(declared.whole && value % 1 !== 0);
}

/** The value in the domain that is nearest to a number. */
export function nearest(declared, value) {
  if (contains(declared, value)) return value;
  const inside = Math.min(Math.max(value, declared.low), declared.high);
  return declared.whole ? Math.round(inside) : inside;
}

function domain(declared) {
  if (declared.choices) return `one of ${Object.keys(declared.choices).filter(Boolean).join(", ")}`;
  const ends = `[${writeNumber(declared.low)}, ${writeNumber(declared.high)}]`;
  return `a ${declared.whole ? "whole " : ""}number in ${ends}${declared.or_inf ? " or inf" : ""}`;
}

function refusal(declared, text, used) {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  const decimal = /^\d*,\d+$/.test(text.trim()) ? " Write a decimal point." : "";
  const name = declared.symbol ?? declared.label;
  return `${name} must be ${domain(declared)}, got '${shown}'; ${written(used) || "none"} is shown.${decimal}`;
}

/** The {value, message} of a text for a control: the nearest valid value. */
export function readValue(declared, text, before = declared.default) {
  if (declared.choices) {
    if (Object.hasOwn(declared.choices, text)) return { value: text, message: "" };
    const alike = text.trim().toLowerCase();
    const value = Object.hasOwn(declared.choices, alike) ? alike : before;
    return { value, message: refusal(declared, text, value) };
  }
  const number = parseNumber(text);
  // "1e999" is no infinity, and "1e-999" is not zero
  const overflown = number === Infinity && !/inf|∞/i.test(text);
  const underflown = number === 0 && /[1-9]/.test(text.split("/")[0].split(/e/i)[0]);
  if (contains(declared, number) && !overflown && !underflown) return { value: number, message: "" };
  const value = Number.isNaN(number) ? before : nearest(declared, overflown ? Number.MAX_VALUE : number);
  return { value, message: refusal(declared, text, value) };
}

function written(value) {
  return typeof value === "number" ? writeNumber(value) : value;
}

// --- settings and views ---

/** The ratios of the features, P/N and P/D: a setting has one of them. */
export const FEATURES = ["features_per_sample", "features_per_dim"];

/** The ratio that a setting has. */
export const featuresName = (setting) => FEATURES.find((name) => name in setting);

/** The features of a setting as one of the ratios. */
export function features(setting, name) {
  if (name in setting) return setting[name];
  const { samples_per_dim: N } = setting;
  return name === "features_per_dim" ? setting.features_per_sample * N : setting.features_per_dim / N;
}

/** A setting with other values; one ratio of the features replaces the other. */
function changedSetting(setting, patch) {
  const result = { ...setting, ...patch };
  if (featuresName(patch)) for (const name of FEATURES) if (!(name in patch)) delete result[name];
  return result;
}

/** A setting with as many features as before, as far as it can, by one of the ratios. */
function counted(setting, name, messages) {
  if (name in setting) return setting;
  const [declared, ratio] = [control(name), features(setting, name)];
  const value = nearest(declared, ratio);
  if (value !== ratio) messages.push(refusal(declared, writeNumber(ratio), value));
  return changedSetting(setting, { [name]: value });
}

/** A view whose values go together, by one ratio of the features, and messages about those that had to change. */
function consistent(view, ratio = FEATURES.includes(view.along) ? view.along : featuresName(view.first)) {
  const messages = [];
  const result = { ...view, first: counted({ ...view.first }, ratio, messages) };
  if (view.second) result.second = counted({ ...view.second }, ratio, messages);
  const untimed = (setting) => !applies("time", setting);
  for (const setting of settings(result)) {
    const fewest = fewestMembers(setting.scheme);
    if (setting.n_members < fewest) {
      messages.push(`This scheme needs at least ${fewest} models; ${fewest} are shown.`);
      setting.n_members = fewest;
    }
    if (setting.time < Infinity && untimed(setting)) {
      messages.push("Training time is not known for this scheme; t = ∞ is shown.");
      setting.time = Infinity;
    }
  }
  if (result.along === "time" && settings(result).some(untimed)) {
    messages.push("Training time is not known for this scheme; the features are along the axis.");
    result.along = ratio;
  }
  const inTime = result.along === "time" || settings(result).some((setting) => setting.time < Infinity);
  if (inTime && result.split === "effects") {
    messages.push("In training time the split by cause is known; it is shown.");
    result.split = "causes";
  }
  if (result.map === "1" && result.first.time < Infinity) {
    messages.push("The map of K and λ is drawn for t = ∞ only.");
  }
  if (result.training === "1" && inTime) messages.push("The training error is drawn for t = ∞ only.");
  return { view: result, messages };
}

export function settings(view) {
  return view.second ? [view.first, view.second] : [view.first];
}

function viewNames() {
  const declared = Object.keys(declarations.controls).filter((name) => !SETTING.includes(name));
  return [...declared, ...Object.keys(PAGE)];
}

export function defaultView() {
  const value = (name) => control(name).default;
  const names = SETTING.filter((name) => name !== "features_per_dim");
  const first = Object.fromEntries(names.map((name) => [name, value(name)]));
  return { first, second: null, ...Object.fromEntries(viewNames().map((n) => [n, value(n)])) };
}

/** The view that is opened where a query does not name one: old links have no `view`. */
function impliedView(names) {
  const named = names.filter((name) => name !== "embed");
  return !named.length || named.includes("step") ? "story" : "explore";
}

/** The name of the view that a query opens, before there are declarations. */
export function viewOf(query) {
  const given = new URLSearchParams(query);
  if (STEP_IDS.includes(given.get("embed"))) return "story";
  return Object.hasOwn(PAGE.view.choices, given.get("view")) ? given.get("view") : impliedView([...given.keys()]);
}

/** The view of a query, or the nearest valid one, and messages about what had to change. */
export function read(query) {
  const start = defaultView();
  const isLong = query.length > LONGEST_QUERY;
  const pairs = isLong ? [] : [...new URLSearchParams(query)];
  if (isLong || pairs.length > MOST_FIELDS) {
    const most = `at most ${LONGEST_QUERY} characters and ${MOST_FIELDS} fields`;
    return { view: { ...start, view: "explore" }, messages: [`An address must have ${most}; it is not read.`] };
  }
  const given = new Map(pairs);
  const messages = repeated(pairs);
  const ofView = viewNames();
  const [first, second] = [[], []]; // pairs of the settings
  const view = { ...start, view: impliedView([...given.keys()]) };
  for (const [name, text] of given) {
    if (name.startsWith(SECOND)) second.push([name.slice(SECOND.length), text]);
    else if (!ofView.includes(name)) first.push([name, text]);
    else view[name] = noted(messages, readValue(control(name), text, view[name]));
  }
  view.first = readSetting(start.first, first, messages);
  if (!given.has("along")) view.along = featuresName(view.first);
  if (second.length) {
    const own = [];
    view.second = readSetting(view.first, second, own);
    messages.push(...own.map((message) => `Second setting: ${message}`));
  }
  const result = consistent(view);
  messages.push(...result.messages);
  if (messages.length > MOST_MESSAGES) {
    const more = messages.length - MOST_MESSAGES;
    messages.splice(MOST_MESSAGES, more, `There are ${more} more such values.`);
  }
  return { view: result.view, messages };
}

function noted(messages, { value, message }) {
  if (message) messages.push(message);
  return value;
}

function readSetting(owner, pairs, messages) {
  const patch = {};
  for (const [name, text] of pairs) {
    const before = FEATURES.includes(name) ? features(owner, name) : owner[name];
    if (!SETTING.includes(name)) messages.push(`There is no control named '${name.slice(0, SHOWN)}'.`);
    else patch[name] = noted(messages, readValue(control(name), text, before));
  }
  if (FEATURES.every((name) => name in patch)) {
    messages.push(`${FEATURES[0]} must be left out with ${FEATURES[1]}.`);
    delete patch[FEATURES[0]];
  }
  const result = changedSetting(owner, patch);
  for (const name of Object.keys(patch)) {
    if (!applies(name, result) && name !== "time") messages.push(`This scheme has no ${control(name).symbol}.`);
  }
  return result;
}

function repeated(pairs) {
  const texts = new Map();
  for (const [name, text] of pairs) texts.set(name, [...(texts.get(name) ?? []), text]);
  return [...texts]
    .filter(([, all]) => new Set(all).size > 1)
    .map(([name, all]) => `'${name.slice(0, SHOWN)}' must be given once, got ${all.length} values; the last is read.`);
}

/** The query of a view, without the question mark. */
export function write(view) {
  const start = defaultView();
  const items = differences(view.first, start.first);
  for (const name of viewNames()) {
    if (name !== "view" && view[name] !== start[name]) items.push([name, written(view[name])]);
  }
  if (view.second) {
    const others = differences(view.second, view.first);
    // a second setting equal to the first is one all the same
    const ratio = featuresName(view.second);
    const some = others.length ? others : [[ratio, written(view.second[ratio])]];
    items.push(...some.map(([name, text]) => [SECOND + name, text]));
  }
  if (view.view !== impliedView(items.map(([name]) => name))) items.unshift(["view", view.view]);
  return new URLSearchParams(items).toString();
}

function differences(setting, from) {
  const differs = (name) => name in setting && setting[name] !== from[name];
  return SETTING.filter(differs).map((name) => [name, written(setting[name])]);
}

/** A view with a patch: {first: {...}, second: {...} or null, name: value}; `ratio` is that of the features. */
function patched(view, patch) {
  const { first, second, ratio, ...others } = patch;
  const result = { ...view, ...others };
  if (ratio && FEATURES.includes(result.along)) result.along = ratio;
  if (first) result.first = changedSetting(view.first, first);
  if (second === null) result.second = null;
  else if (second) result.second = changedSetting(view.second ?? result.first, second);
  return consistent(result, ratio);
}

// --- the store ---

/**
 * The store of the page: the present view, and the address that holds it.
 *
 * A change in progress (`commit: false`, a dragged slider) opens one entry of the history and replaces it; a
 * change that has ended closes it. Subscribers are called with (view, previous view, {commit, restored}).
 */
export function createStore() {
  let { view, messages } = read(location.search);
  let open = false; // whether the last entry of the history belongs to a change in progress
  let timer = 0;
  let last = location.search; // of the entry of the history that is shown
  const subscribers = [];

  const query = () => write(view);
  const path = (text) => location.pathname + (text ? `?${text}` : "") + location.hash;
  function writeAddress(commit) {
    clearTimeout(timer);
    timer = 0;
    const url = path(query());
    try {
      if (open) history.replaceState(null, "", url);
      else if (url !== path(location.search.slice(1))) {
        history.pushState(null, "", url);
        open = true;
      }
    } catch { // browsers refuse very frequent changes of the address
      timer = setTimeout(() => writeAddress(commit), RETRY);
      return;
    }
    last = location.search;
    if (commit) open = false;
  }
  function show(result, how) {
    const previous = view;
    ({ view, messages } = result);
    for (const subscriber of subscribers) subscriber(view, previous, how);
  }

  addEventListener("popstate", () => {
    open = false;
    if (location.search === last) return; // only the fragment is another
    clearTimeout(timer);
    timer = 0;
    last = location.search;
    show(read(location.search), { commit: true, restored: true });
  });
  addEventListener("pagehide", () => timer && writeAddress(false));

  return {
    declarations,
    get: () => view,
    query,
    /** Messages about values that had to change, of the last change or of the address. */
    messages: () => messages,
    /** Change the view; a `message` about it is shown first. */
    set(patch, { commit = true, message } = {}) {
      const result = patched(view, patch);
      if (message) result.messages.unshift(message);
      show(result, { commit, restored: false });
      if (commit) writeAddress(true);
      else timer ||= setTimeout(() => writeAddress(false), open ? WRITE_EVERY : 0);
    },
    /** Show the view of a query, as a link to it would. */
    open(text) {
      show(read(text), { commit: true, restored: true });
      writeAddress(true);
    },
    subscribe: (subscriber) => subscribers.push(subscriber),
  };
}
