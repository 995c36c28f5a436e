/** Elements of the page that more than one module makes. */

/** An HTML element with properties and children. */
export function html(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

export function button(text, onclick, properties = {}) {
  return html("button", { type: "button", onclick, ...properties }, text);
}

export function panel(kind, title, ...children) {
  return html("section", { class: `panel ${kind}` }, html("h2", {}, title), ...children);
}

/** A table with heads of its columns; where it is too wide it scrolls, also by keyboard. */
export function table(name, heads, rows, properties = {}) {
  const head = html("tr", {}, ...heads.map((text) => html("th", { scope: "col" }, text)));
  const made = html("table", properties, html("thead", {}, head), html("tbody", {}, ...rows));
  const box = html("div", { class: "wide", role: "group", "aria-label": name }, made);
  const observer = new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  for (const one of [box, made]) observer.observe(one);
  return box;
}

export function codeLines(name, code) {
  return html("pre", { tabindex: "0", role: "group", "aria-label": name }, html("code", {}, code));
}

/** Write a text if it has changed. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
