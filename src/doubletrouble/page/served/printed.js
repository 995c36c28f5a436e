/** Results of the library as they are printed: the server sends their texts, and the cells of their tables. */

import { html, table } from "./elements.js";
import { declarations } from "./state.js";

const LONG = 20; // characters of a cell that is wide

/** The table of a result, with the colours of causes. */
function printedTable({ title, columns, rows, parts, choice }, name) {
  const cell = ({ numeric }, text, k, part) => {
    if (k > 0) return html("td", { class: numeric ? "number" : text.length > LONG ? "words long" : "words" }, text);
    if (!part) return html("th", { scope: "row" }, text);
    const meaning = html("span", { class: "soft meaning-of" }, declarations.parts.meanings[part]);
    return html("th", { scope: "row" }, swatch(part), text, meaning);
  };
  const made = rows.map((cells, i) =>
    html(
      "tr",
      { class: parts[i] === "total" ? "total" : i === choice ? "chosen" : "" },
      ...cells.map((text, k) => cell(columns[k], text, k, parts[i])),
    ),
  );
  const heads = columns.map(({ heading, numeric }) => html("span", { class: numeric ? "" : "words" }, heading));
  return table(title || name, heads, made, { class: "printed" });
}

function swatch(part) {
  const made = html("span", { class: "swatch", "aria-hidden": "true" });
  made.style.background = `var(--causes-${part})`;
  return made;
}

/** The tables of a result, with their titles. */
export function tablesOf({ tables }, name) {
  return tables.flatMap((one) => [one.title ? html("h3", {}, one.title) : null, printedTable(one, name)]).filter(Boolean);
}

/** The texts of a result in one line: a warning, the verdict, and the lines below its tables. */
export function sentencesOf({ lead, verdict, lines }) {
  return [lead, verdict, ...lines].filter(Boolean).join(" ");
}

/** The lines below the tables of a result, and its notes. */
export function remarksOf({ lines, notes }) {
  return [
    ...lines.map((text) => html("p", { class: "soft remark" }, text)),
    ...notes.map((text) => html("p", { class: "note" }, text)),
  ];
}
