/**
 * The terms and symbols of the page, explained on hover, focus and tap.
 *
 * A text marks a term by braces: "{variance}", or "{variance|variances}" if another form is shown.
 */

import { html } from "./elements.js";

/** Terms and their meanings; `explain` adds those of the declarations. */
export const WORDS = {
  "double descent": "As the model grows, the test error falls, rises to a peak, and falls again.",
  overfitting: "A model fits its training labels, noise included, so closely that it errs on new data.",
  "interpolation threshold": "The smallest size at which a model can fit all its training labels.",
  "test error": "Mean squared difference between prediction and true value, on new inputs.",
  "training error": "Mean squared difference between prediction and label, on the training data.",
  variance: "How much a prediction varies with what is drawn at random: noise, features, inputs.",
  "random features":
    "Fixed random functions of the input: a network with one hidden layer of P nodes whose first weights stay.",
  "label noise": "Random errors in the training labels.",
  weights: "How much of each feature the model adds; the only numbers that training chooses.",
  underparametrized: "Fewer features than training samples, P < N: not all labels can be fitted.",
  overparametrized: "More features than training samples, P > N: all labels can be fitted, in many ways.",
  "smallest weights": "Of all weights that fit the labels equally well, training takes those of least norm.",
  P: "P, the number of random features of one model.",
  N: "N, the number of training samples.",
  ReLU: "The function max(0, z). A feature is this function of a random combination z of the inputs.",
  interaction: "What two causes do only together: none of it is left if either is averaged over.",
  "Gaussian ones": "Features whose nonlinear part is replaced by Gaussian noise, as in the theory.",
  linearized: "Replaced by the tangent at the initial weights: infinitely lazy.",
  α: "A factor of the output. The larger, the lazier the network: the less its weights must move.",
  Adam: "An optimizer whose steps do not depend on the size of the gradient.",
  "λ*": "The ridge of least test error for this setting.",
};

/** Add the declared meanings of symbols and of the parts of the error. */
export function explain({ controls, parts }) {
  for (const { symbol, label, meaning } of Object.values(controls)) {
    if (symbol) WORDS[symbol] ??= `${label}: ${meaning}.`;
  }
  for (const [name, meaning] of Object.entries(parts.meanings)) {
    WORDS[name] ??= `${meaning[0].toUpperCase()}${meaning.slice(1)}.`;
  }
}

const TIP = "word-tip";
const GAP = 6; // pixels between a word and its explanation
const LEAVE = 150; // ms in which the pointer can move from the word to the explanation

let shownFor; // the button that is explained
let timer = 0;

/** The one explanation of the page, made when it is first needed. */
function tip() {
  const found = document.getElementById(TIP);
  if (found) return found;
  const events = { onpointerenter: () => clearTimeout(timer), onpointerleave: hideSoon };
  const made = html("div", { id: TIP, class: TIP, role: "tooltip", hidden: true, ...events });
  (document.querySelector("main") ?? document.body).append(made); // within a landmark
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("scroll", hide, { passive: true, capture: true });
  addEventListener("resize", hide);
  return made;
}

function show(button, text) {
  clearTimeout(timer);
  const box = tip();
  box.textContent = text;
  box.hidden = false;
  button.setAttribute("aria-describedby", TIP);
  shownFor = button;
  const word = button.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  const right = document.documentElement.clientWidth - size.width - GAP;
  const below = word.bottom + GAP + size.height < document.documentElement.clientHeight;
  box.style.left = `${Math.max(GAP, Math.min(word.left, right))}px`;
  box.style.top = `${Math.max(GAP, below ? word.bottom + GAP : word.top - GAP - size.height)}px`;
}

function hide() {
  clearTimeout(timer);
  if (!shownFor) return;
  shownFor.removeAttribute("aria-describedby");
  shownFor = undefined;
  tip().hidden = true;
}

function hideSoon() {
  clearTimeout(timer);
  timer = setTimeout(hide, LEAVE);
}

/** A term of `WORDS` as a button that shows its explanation; another text may be shown for it. */
export function word(name, text = name) {
  if (!Object.hasOwn(WORDS, name)) throw new RangeError(`no explanation of '${name}'`);
  const button = html("button", { type: "button", class: "word" }, text);
  const open = () => show(button, WORDS[name]);
  button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && open());
  button.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hideSoon());
  button.addEventListener("focus", () => button.matches(":focus-visible") && open());
  button.addEventListener("blur", hide);
  button.addEventListener("click", (event) => {
    // a mouse has opened it by hovering; a tap or a key opens and closes it
    if (shownFor === button && event.detail !== 0 && !matchMedia("(hover: hover)").matches) hide();
    else open();
  });
  return button;
}

/** Relations and units that are not broken at the end of a line. */
export function unbroken(text) {
  return text
    .replace(/ ([=<>≤≥→]) /g, "\u00a0$1\u00a0")
    .replace(/F\/τ(?=\s)/g, "F/\u2060τ");
}

/** A text as nodes, with its marked terms as buttons; punctuation stays at its term. */
export function phrase(text) {
  return unbroken(text)
    .split(/([(“]?\{[^}]+\}[.,:;)”]*)/)
    .map((piece) => {
      const marked = /^([^{]*)\{([^}|]+)\|?([^}]*)\}(.*)$/.exec(piece);
      if (!marked) return piece;
      const [, before, name, shown, after] = marked;
      return html("span", { class: "together" }, before, word(name, shown || name), after);
    });
}
