/**
 * Controls of the page, made from their declarations.
 *
 * A control is {element, update(view)}: it changes the store, and `update` shows what the store has.
 */

import { html } from "./elements.js";
import { applies, contains, control, parseNumber, readValue, shownNumber, writeNumber } from "./state.js";
import { WORDS, word } from "./words.js";

const STOPS = 160; // of a slider, between the ends of its range
const stopsOf = new WeakMap();

const isLog = (declared) => declared.scale !== "linear";

/** The values of a slider, in order: 0 and ∞ may stand before and after its range. */
export function stops(declared) {
  if (!stopsOf.has(declared)) stopsOf.set(declared, newStops(declared));
  return stopsOf.get(declared);
}

function newStops(declared) {
  const [low, high] = declared.typical;
  const values = [];
  for (let i = 0; i <= STOPS; i++) {
    const value = isLog(declared) ? low * (high / low) ** (i / STOPS) : low + ((high - low) * i) / STOPS;
    values.push(declared.whole ? Math.round(value) : Number(value.toPrecision(3)));
  }
  const ends = [declared.stops?.zero ? [0] : [], declared.stops?.infinity ? [Infinity] : []];
  return [...ends[0], ...new Set(values), ...ends[1]];
}

/** The position of a slider that shows a value best. */
function nearestStop(declared, value) {
  const all = stops(declared);
  const exact = all.indexOf(value);
  if (exact >= 0) return exact;
  const position = isLog(declared) ? Math.log : Number;
  const at = position(Math.max(value, Number.MIN_VALUE));
  const away = all.map((stop) => Math.abs(position(stop) - at));
  return away.lastIndexOf(Math.min(...away));
}

/** The owner of the value of a control: the view, or its first or second setting. */
function ownerOf(which, name) {
  if (which === "view") return { owner: (view) => view, patch: (value) => ({ [name]: value }) };
  return { owner: (view) => view[which] ?? view.first, patch: (value) => ({ [which]: { [name]: value } }) };
}

/** A number: a box and a slider; `which` is "first", "second" or "view", `id` the prefix of identifiers. */
export function numberControl(store, name, { which = "first", id = "set", slider: hasSlider = true } = {}) {
  const { owner, patch } = ownerOf(which, name);
  const declared = control(name, store.declarations);
  const key = `${id}-${which}-${name}`;
  const isNamed = declared.symbol === declared.label.toLowerCase(); // by its label
  const hasWord = Object.hasOwn(WORDS, declared.symbol) && !isNamed;
  const symbol = html("span", { class: "symbol" }, hasWord ? word(declared.symbol) : "");
  const label = html("label", { for: hasSlider ? `${key}-slider` : `${key}-box` }, declared.label);
  const meaning = html("span", { class: "meaning", id: `${key}-meaning` }, declared.meaning);
  const described = { "aria-describedby": meaning.id };
  const range = { type: "range", id: `${key}-slider`, class: "slider", max: stops(declared).length - 1, ...described };
  const slider = hasSlider ? html("input", range) : null;
  const box = html("input", {
    type: "text", id: `${key}-box`, class: "box", inputmode: "decimal", autocomplete: "off", spellcheck: "false",
    enterkeyhint: "done",
    ...(slider ? { "aria-label": `${declared.label} ${declared.symbol}, exact value` } : described),
  });
  const head = html("div", { class: "control-head" }, label, symbol, box);
  const element = html("div", { class: "control number", "data-control": name }, head, slider, meaning);

  let typing = false;
  let before = null; // the value before typing, for Escape
  let after = null; // and after the last key
  let held = false; // a key of the slider is down
  let moved = false;

  const valueOf = () => stops(declared)[slider.valueAsNumber];
  slider?.addEventListener("input", () => {
    moved = true;
    store.set(patch(valueOf()), { commit: false });
  });
  slider?.addEventListener("change", () => held || commitSlider());
  slider?.addEventListener("keydown", () => (held = true));
  for (const end of ["keyup", "blur"]) {
    slider?.addEventListener(end, () => {
      held = false;
      if (moved) commitSlider();
    });
  }
  function commitSlider() {
    moved = false;
    store.set(patch(valueOf()), { commit: true });
  }

  box.addEventListener("input", () => {
    if (!typing) before = owner(store.get())[name];
    typing = true;
    const value = parseNumber(box.value);
    const valid = contains(declared, value);
    box.setAttribute("aria-invalid", String(!valid));
    after = valid ? value : owner(store.get())[name];
    if (valid) store.set(patch(value), { commit: false });
    after = owner(store.get())[name]; // another one, where the view needs it
  });
  box.addEventListener("change", commitBox);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") commitBox();
    if (event.key === "Escape" && typing) {
      typing = false;
      store.set(patch(before), { commit: true });
    }
  });
  function commitBox() {
    if (!typing) return;
    typing = false;
    const { value, message } = readValue(declared, box.value, before);
    store.set(patch(value), { commit: true, message });
    update(store.get());
  }

  function update(view) {
    const setting = owner(view);
    element.hidden = which !== "view" && !applies(name, setting);
    if (!(name in setting)) return;
    const value = setting[name];
    if (value !== after) typing = false; // another value is shown: by Back, for example
    if (slider) {
      const position = nearestStop(declared, value);
      if (slider.valueAsNumber !== position) slider.value = position;
      const words = `${declared.label} ${declared.symbol} = ${value === Infinity ? "infinite" : shownNumber(value)}`;
      if (slider.ariaValueText !== words) slider.ariaValueText = words;
    }
    if (typing) return;
    const text = value === Infinity ? "∞" : writeNumber(value);
    if (box.value !== text) box.value = text;
    box.removeAttribute("aria-invalid");
  }
  update(store.get());
  return { element, update };
}

/** One of a few names, as a list; `also(value)` is a further patch. */
export function choiceControl(store, name, { which = "view", id = "set", also, declared, valueIn } = {}) {
  declared ??= control(name);
  const { owner, patch } = ownerOf(which, name);
  const key = `${id}-${which}-${name}`;
  const options = Object.entries(declared.choices).map(([value, label]) =>
    html("option", { value }, label),
  );
  const select = html("select", { id: key, "aria-describedby": `${key}-meaning` }, ...options);
  const meaning = html("span", { class: "meaning", id: `${key}-meaning` }, declared.meaning ?? "");
  const label = html("label", { for: key }, declared.label);
  const head = html("div", { class: "control-head" }, label, select);
  const element = html("div", { class: "control choice", "data-control": name }, head, meaning);
  select.addEventListener("change", () => store.set({ ...patch(select.value), ...also?.(select.value) }));
  function update(view) {
    const value = valueIn ? valueIn(view) : owner(view)[name];
    if (select.value !== value) select.value = value;
  }
  update(store.get());
  return { element, update };
}

/** A box to tick for a name of the view that is "0" or "1". */
export function flagControl(store, name, label, { id = "set" } = {}) {
  const box = html("input", { type: "checkbox", id: `${id}-view-${name}` });
  const text = html("label", { for: box.id }, label);
  const element = html("div", { class: "control flag", "data-control": name }, box, text);
  box.addEventListener("change", () => store.set({ [name]: box.checked ? "1" : "0" }));
  const update = (view) => (box.checked = view[name] === "1");
  update(store.get());
  return { element, update };
}
