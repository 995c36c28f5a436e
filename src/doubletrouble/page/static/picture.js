/** Pictures of a plot: SVG and PNG files with a caption. */

import { FAMILY, element, set, wrapped } from "./svg.js";

const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-weight",
  "paint-order",
];
const DRAWN = ["path", "text", "rect", "tspan"];
const PASSING = ".plot-ghosts, .plot-hover"; // not in pictures
const LINE_HEIGHT = 17;

const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

/** A CSS colour as #rrggbb with its opacity. */
function plainColor(css) {
  if (css === "none" || !css) return css;
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = css;
  pixel.fillRect(0, 0, 1, 1);
  const { data } = pixel.getImageData(0, 0, 1, 1); // red, green, blue, opacity
  if (data[3] === 0) return "none";
  const hex = Array.from(data, (value) => value.toString(16).padStart(2, "0"));
  return `#${hex.slice(0, data[3] === 255 ? 3 : 4).join("")}`;
}

/** A drawing as a document of its own, with the styles of the page, and lines of a caption below it. */
export function svgOf(svg, caption) {
  const { width, height } = svg.viewBox.baseVal;
  const { color, backgroundColor } = getComputedStyle(document.body);
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*");
  const passing = copy.querySelectorAll(PASSING);
  copy.querySelectorAll("*").forEach((node, i) => {
    const styles = getComputedStyle(originals[i]);
    node.removeAttribute("style");
    node.removeAttribute("class");
    if (!DRAWN.includes(node.tagName)) return;
    for (const name of STYLES) {
      const value = styles.getPropertyValue(name);
      node.setAttribute(name, name === "fill" || name === "stroke" ? plainColor(value) : value);
    }
  });
  for (const layer of passing) layer.remove();
  const lines = caption.flatMap((text) => wrapped(text, 12, width - 16));
  const whole = height + (lines.length ? lines.length * LINE_HEIGHT + 12 : 0);
  set(copy, { xmlns: svg.namespaceURI, width, height: whole, viewBox: `0 0 ${width} ${whole}`, "font-family": FAMILY });
  copy.removeAttribute("aria-hidden");
  lines.forEach((line, i) => {
    const at = { x: 8, y: height + 14 + i * LINE_HEIGHT };
    element("text", copy, { ...at, "font-size": 12, fill: plainColor(color) }).textContent = line;
  });
  copy.prepend(element("rect", null, { width: "100%", height: "100%", fill: plainColor(backgroundColor) }));
  copy.prepend(element("title", null));
  copy.firstChild.textContent = caption.join(" ");
  return new XMLSerializer().serializeToString(copy);
}

/** The same as a PNG, twice as many pixels on each side; an Error where the browser makes none. */
export async function pngOf(svg, caption) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svgOf(svg, caption)], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("the browser cannot make a picture of this size");
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}
