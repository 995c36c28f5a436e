/** What can be taken away: the settings in words, Python lines, CSV. */

import { heights, partsOf, range, thresholds } from "./curves.js";
import { html } from "./elements.js";
import {
  FEATURES, SETTING, applies, control, declarations, featuresName, settings, shownNumber, writeNumber,
} from "./state.js";
import { fewestMembers } from "./theory.js";

// --- settings in words ---

function worded(name, setting) {
  const declared = control(name);
  const value = setting[name];
  if (declared.choices) return (name === "scheme" ? "" : `${name} `) + value.replace("_", " ");
  return `${declared.symbol} = ${shownNumber(value, 6)}`;
}

function isShown(name, setting) {
  return applies(name, setting) && !(name === "time" && setting.time === Infinity);
}

/** A setting in symbols: "P/N = 2, N/D = 1, λ = 1e-5, ...". */
function described(setting, without) {
  const names = SETTING.filter((name) => name !== without && isShown(name, setting));
  return names.map((name) => worded(name, setting)).join(", ");
}

/** The values in which one setting differs from the other, in symbols. */
export function differences(setting, other) {
  const differ = SETTING.filter((name) => isShown(name, setting) && setting[name] !== other[name]);
  const texts = differ.map((name) => worded(name, setting));
  return texts.length > 2 ? `${texts.slice(0, 2).join(", ")}, …` : texts.join(", ");
}

/** The caption of a picture: what is drawn, each setting, the source. */
export function caption(view) {
  const axis = control(view.along);
  const parts = view.split === "effects" ? "its main effects and interactions" : "its parts by cause";
  const lines = settings(view).map((setting, i) => {
    const which = view.second ? ["First (solid): ", "Second (dashed): "][i] : "";
    return `${which}${described(setting, view.along)}.`;
  });
  return [
    `Test error and ${parts} against ${axis.axis}, exact in the limit of large D.`,
    ...lines,
    `${declarations.citation.url} · doubletrouble ${declarations.version}`,
  ];
}

// --- Python ---

function code(value) {
  if (value === Infinity) return "np.inf";
  const text = writeNumber(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function arrayLines(view, setting) {
  const [low, high] = range(view).map(code);
  const symbol = control(view.along).symbol;
  const even = `np.${view.x === "log" ? "geomspace" : "linspace"}(${low}, ${high}, 201)`;
  if (view.along === "n_members") {
    return [`x = np.unique(np.round(${even}).clip(${fewestMembers(setting.scheme)}))  # ${symbol}`];
  }
  const lines = [`x = ${even}  # ${symbol}`];
  for (const { x, label } of thresholds(setting, view.along)) {
    lines.push(`x = np.union1d(x, ${code(x)} * np.exp(np.linspace(-0.25, 0.25, 81)))  # denser near ${label}`);
    lines.push(`x = x[(x >= ${low}) & (x <= ${high})]`);
  }
  return lines;
}

function problemLines(view, setting) {
  const ratio = featuresName(setting);
  const at = Object.fromEntries([ratio, "samples_per_dim", "ridge"].map((name) => [name, code(setting[name])]));
  if (view.along in at) at[view.along] = "x";
  const fields = {
    features_per_dim: at.features_per_dim ?? `${at.features_per_sample} * ${at.samples_per_dim}`,
    samples_per_dim: at.samples_per_dim,
    ridge: at.ridge,
    noise: code(1 / setting.snr),
    nonlinear_signal: code(setting.nonlinear_signal),
    activation: `"${setting.activation}"`,
  };
  return ["problem = dt.Problem(", ...Object.entries(fields).map(([name, value]) => `    ${name}=${value},`), ")"];
}

function ensembleCode(view, setting) {
  const K = view.along === "n_members" ? "x" : setting.n_members === Infinity ? "np.inf" : String(setting.n_members);
  const options = {
    subsample: `, fraction=${code(setting.fraction)}`,
    feature_bank: `, bank_per_dim=${code(setting.bank_per_feature)} * problem.features_per_dim`,
  };
  const name = setting.scheme.replace(/(^|_)./g, (start) => start.at(-1).toUpperCase()); // FeatureBank
  return `dt.${name}(${K}${options[setting.scheme] ?? ""})`;
}

function errorCode(view, setting) {
  if (view.along === "time") return "dt.gradient_flow(problem, x, ensemble)";
  if (setting.time < Infinity) return `dt.gradient_flow(problem, ${code(setting.time)}, ensemble)`;
  return `dt.${view.split === "effects" ? "anova" : "exact_error"}(problem, ensemble)`;
}

function settingLines(view, setting, { axes, style, prefix }) {
  const names = partsOf(view.split, setting);
  const lines = [
    ...arrayLines(view, setting),
    ...problemLines(view, setting),
    `ensemble = ${ensembleCode(view, setting)}`,
    `error = ${errorCode(view, setting)}`,
    `parts = {name: np.broadcast_to(getattr(error, name), x.shape) for name in colors if hasattr(error, name)}`,
  ];
  if (view.form === "areas" && !style) {
    const stack = [...names].reverse().map((name) => `"${name}"`).join(", ");
    lines.push(
      `stack = [${stack}]`,
      `${axes}.stackplot(x, *(parts[name] for name in stack), labels=stack, colors=[colors[name] for name in stack])`,
      `${axes}.plot(x, parts["total"], color=colors["total"], label="total")`,
    );
  } else {
    const drawn = ["total", ...(view.form === "areas" ? [] : names)].map((name) => `"${name}"`).join(", ");
    lines.push(
      `for name in [${drawn}]:`,
      `    ${axes}.plot(x, parts[name], "${style || "-"}", color=colors[name], label=f"${prefix}{name}")`,
    );
  }
  if (view.training === "1" && setting.time === Infinity && view.along !== "time") {
    lines.push(
      `training = np.broadcast_to(dt.training_error(problem, ensemble), x.shape)`,
      `${axes}.plot(x, training, "${style || "-"}", color="grey", label="${prefix}training error")`,
    );
  }
  for (const { x, label } of thresholds(setting, view.along)) {
    lines.push(`${axes}.axvline(${code(x)}, color="grey", linestyle=":")  # ${label}`);
  }
  return lines;
}

/** Python lines that compute and draw the view with the library; they run as they are. */
export function python(view) {
  const beside = view.second && view.compare === "beside";
  const colors = declarations.parts.colors[view.split].light;
  const used = new Set(settings(view).flatMap((setting) => ["total", ...partsOf(view.split, setting)]));
  const [low, high] = range(view).map(code);
  const ends = heights(view).map((value) => code(Number(value.toPrecision(12))));
  const lines = [
    "import matplotlib.pyplot as plt",
    "import numpy as np",
    "",
    "import doubletrouble as dt",
    "",
    "colors = {",
    ...[...used].map((name) => `    "${name}": "${colors[name]}",`),
    "}",
    beside
      ? "figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(11, 4.5))"
      : "figure, left = plt.subplots()",
  ];
  settings(view).forEach((setting, i) => {
    const axes = beside && i ? "right" : "left";
    const dashed = view.second && !beside && i;
    const which = view.second ? ["first setting: ", "second setting: "][i] : "";
    const look = { axes, style: dashed ? "--" : "", prefix: dashed ? "second: " : "" };
    lines.push("", `# ${which}${described(setting, view.along)}`);
    lines.push(...settingLines(view, setting, look));
  });
  const drawn = beside ? ["left", "right"] : ["left"];
  const label = control(view.along).axis;
  lines.push("");
  for (const axes of drawn) {
    lines.push(
      `${axes}.set(xscale="${view.x}", xlim=(${low}, ${high}), yscale="${view.y}", ylim=(${ends.join(", ")}))`,
      `${axes}.set(xlabel="${label}", ylabel="test error")`,
      `${axes}.legend()`,
    );
  }
  lines.push("plt.show()", "");
  return lines.join("\n");
}

// --- CSV ---

/** The curves of the settings as CSV, then their simulated points: one row for each value of the axis. */
export function csv(view, curves, simulated) {
  const names = ["total", ...new Set(curves.flatMap((one) => one.names))];
  const training = view.training === "1";
  const errorNames = names.map((name) => `standard_error_${name}`);
  const columns = SETTING.filter((name) => !FEATURES.includes(name) || name in view.first);
  const rows = [["kind", "setting", ...columns, ...names, ...(training ? ["training_error"] : []), ...errorNames]];
  const fixed = (setting, x) => columns.map((name) => cell(name === view.along ? x : setting[name]));
  settings(view).forEach((setting, i) => {
    const one = curves[i];
    one.x.forEach((x, k) => {
      const values = names.map((name) => (name === "total" ? one.total[k] : one.parts[name]?.[k]));
      const trained = training ? [one.training?.[k]] : [];
      rows.push(["theory", i + 1, ...fixed(setting, x), ...[...values, ...trained].map(cell), ...names.map(() => "")]);
    });
  });
  settings(view).forEach((setting, i) => {
    for (const point of simulated[i] ?? []) {
      const estimates = point[view.split] ?? {};
      const [values, errors] = [0, 1].map((k) => names.map((name) => cell(estimates[name]?.[k])));
      rows.push(["simulation", i + 1, ...fixed(setting, point.x), ...values, ...(training ? [""] : []), ...errors]);
    }
  });
  return rows.map((row) => row.join(",")).join("\n") + "\n";
}

function cell(value) {
  return typeof value === "number" ? writeNumber(value) : value ?? "";
}

// --- files ---

export function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  html("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
