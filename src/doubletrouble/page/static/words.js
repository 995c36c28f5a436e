/**
 * The terms and symbols of the page, each explained where it stands: on hover, focus and tap.
 *
 * A text marks a term by braces: "{variance}", or "{variance|variances}" if another form is shown.
 */

import { html } from "./elements.js";

/** Terms by name: what they mean, in one or two sentences. */
export const WORDS = {
  "double descent":
    "The test error falls, rises to a peak at the interpolation threshold, and falls again as the model grows.",
  overfitting: "A model fits its training labels, noise included, so closely that it errs on new data.",
  "interpolation threshold":
    "The smallest size at which a model can pass through all its training labels. Here: P = N.",
  "test error": "Mean squared difference between prediction and true value, on new inputs.",
  "training error": "Mean squared difference between prediction and label, on the training data.",
  variance:
    "How much a prediction would change if the same thing were drawn again: other noise, other features, other data.",
  bias: "Error of the average prediction, over all draws. Averaging more models does not reduce it.",
  noise: "Variance over the noise on the training labels: noise that the model has fitted.",
  initialization:
    "Variance over the random features. In a neural network: over the random weights that training starts from.",
  sampling: "Variance over which inputs happen to be in the training data.",
  "random features":
    "Fixed random functions of the input. Training chooses only their weights in a sum. " +
    "P of them make a network with one hidden layer of width P.",
  ensemble: "Several models, each with its own random features, whose predictions are averaged.",
  "label noise": "Random errors in the training labels.",
  weights: "How much of each feature the model adds; the only numbers that training chooses.",
  ridge:
    "A penalty λ on large weights. λ = 0 fits the labels as closely as possible; a large λ keeps all weights small.",
  "divide and conquer":
    "Each of K models is trained on its own part of the data, N/K samples; their predictions are averaged.",
  underparametrized: "Fewer features than training samples, P < N: in general the labels cannot all be fitted.",
  overparametrized: "More features than training samples, P > N: all labels can be fitted, in many ways.",
  "smallest weights": "Of all weights that fit the labels equally well, training takes those of least norm.",
  "signal-to-noise ratio": "F/τ: the size of the true signal, F, relative to that of the label noise, τ.",
  P: "P, the number of random features of one model: its width.",
  N: "N, the number of training samples.",
  "P/N": "Features per training sample: the size of the model relative to the data.",
  D: "D, the dimension of the inputs. In the theory P, N and D are large, with fixed ratios.",
  K: "K, the number of models whose predictions are averaged.",
  λ: "λ (lambda), the ridge: the penalty on large weights.",
  "λ*": "The ridge of least test error for this setting.",
  "P/D": "Features per input dimension: the size of the model relative to that of the inputs.",
  "N/D": "Training samples per input dimension: the amount of data.",
  "F⋆": "Size of a part of the target that these models cannot learn; to them it is like label noise.",
  C: "C, the budget: the largest total cost of the models.",
  η: "η (eta), the share of the samples that each model draws.",
  "B/P": "Features in the common bank for each feature of a model.",
  t: "Time of training by gradient descent; ∞ is the end of training.",
  "F/τ": "The signal-to-noise ratio: size of the true signal F relative to the label noise τ. ∞ is no noise.",
};

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
  return text.replace(/ ([=<>≤≥→]) /g, "\u00a0$1\u00a0").replaceAll(" %", "\u00a0%");
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
