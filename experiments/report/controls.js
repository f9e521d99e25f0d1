// Controls of the page's figures: elements of HTML that a keyboard and a screen reader know.
"use strict";

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// `options` are pairs of a value and what is shown; `changed` gets the value.
function choice(label, options, changed) {
  const select = element("select", {}, ...options.map(([value, text]) => element("option", {value}, text)));
  select.addEventListener("change", () => changed(select.value));
  return element("label", {}, `${label} `, select);
}

// The colour of a line, cell or swatch; black is that of the page's letters, since a dark page would hide it.
function drawn(colour, ink = colourOf("--ink")) {
  return colour === "#000000" ? ink : colour;
}

function swatch(colour) {
  return element("span", {class: "swatch", style: `background:${drawn(colour, "var(--ink)")}`});
}

// Sets a property of a figure and draws it again.
function setterOf(figure) {
  return (name, value) => {
    figure[name] = value;
    figure.draw();
  };
}

function checkbox(label, checked, changed, colour) {
  const box = element("input", {type: "checkbox"});
  box.checked = checked;
  box.addEventListener("change", () => changed(box.checked));
  return element("label", {}, box, colour ? swatch(colour) : " ", label);
}

// A slider over a list of texts, which says the chosen one; `changed` gets its place. The element has a method `moveTo`.
function slider(label, texts, chosen, changed) {
  const said = element("output", {}, texts[chosen]);
  const range = element("input", {type: "range", min: 0, max: texts.length - 1, step: 1, "aria-label": label, "aria-valuetext": texts[chosen]});
  range.value = chosen;
  const tell = () => {
    said.textContent = texts[range.value];
    range.setAttribute("aria-valuetext", texts[range.value]);
  };
  range.addEventListener("input", () => {
    tell();
    changed(Number(range.value));
  });
  const whole = element("label", {class: "slider"}, element("span", {}, label), range, said);
  whole.moveTo = place => {
    range.value = place;
    tell();
  };
  return whole;
}

function row(cell, values) {
  return element("tr", {}, ...values.map(value => element(cell, cell === "th" ? {scope: "col"} : {}, value)));
}

// Replaces what the table of `place` says.
function tell(place, columns, rows) {
  place.replaceChildren(element("table", {}, row("th", columns), ...rows.map(values => row("td", values))));
}

// Where a figure says in words what is shown, to a screen reader when it changes.
function readout(name) {
  return element("div", {class: "scroll readout", role: "region", "aria-live": "polite", "aria-label": name, tabindex: 0});
}

// A number as the program prints it: four digits.
function shown(value) {
  return value === null || value === undefined ? "none" : String(Number(value.toPrecision(4)));
}
