/** Elements of an SVG drawing: they are reused, and only attributes that have changed are written. */

const SVG = "http://www.w3.org/2000/svg";
const MOST_WIDTHS = 2000; // of texts that are remembered

export const FAMILY = "system-ui, sans-serif";

const measure = document.createElement("canvas").getContext("2d");
const widths = new Map();

export function textWidth(text, size) {
  const key = `${size} ${text}`;
  if (!widths.has(key)) {
    if (widths.size >= MOST_WIDTHS) widths.clear();
    measure.font = `${size}px ${FAMILY}`;
    widths.set(key, measure.measureText(text).width);
  }
  return widths.get(key);
}

/** Break a label into lines of at most some width. */
export function wrapped(label, size, most) {
  const lines = [];
  for (const word of label.split(" ")) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && textWidth(longer, size) > most) lines.push(word);
    else lines.splice(Math.max(lines.length - 1, 0), 1, longer);
  }
  return lines;
}

export function element(tag, parent, attributes = {}) {
  const made = set(document.createElementNS(SVG, tag), attributes);
  parent?.append(made);
  return made;
}

export function set(node, attributes) {
  for (const name in attributes) {
    const text = String(attributes[name]);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
  return node;
}

/** Write a path and its colours, "" for those of the style sheet. */
export function setPath(node, d, stroke = "", fill = "") {
  set(node, { d });
  if (node.style.stroke !== stroke) node.style.stroke = stroke;
  if (node.style.fill !== fill) node.style.fill = fill;
}

/** Write {text, x, y, anchor, color, turn} into a text element. */
export function placeText(node, { text, x, y, anchor = "middle", color = "", turn = "" }, size) {
  if (node.textContent !== text) node.textContent = text;
  set(node, { x: tenth(x), y: tenth(y), "text-anchor": anchor, "font-size": size, transform: turn });
  if (node.style.fill !== color) node.style.fill = color;
}

export function child(group, tag) {
  return group.querySelector(tag) ?? element(tag, group);
}

/** Give a group one child per item, and set each; children are reused. */
export function each(group, tag, items, apply) {
  while (group.childElementCount > items.length) group.lastElementChild.remove();
  while (group.childElementCount < items.length) element(tag, group);
  items.forEach((item, i) => apply(group.children[i], item, i));
}

export function tenth(value) {
  return Math.round(value * 10) / 10;
}
