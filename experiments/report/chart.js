// The page's charts: Plotly's, in the colours of the page.
"use strict";

function colourOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// "#0072B2" and a share as a colour that lets light through.
function transparent(colour, share) {
  const parts = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
  return `rgba(${parts.join(",")},${share})`;
}

// 1, 2 and 5 of each decade, or 1 of many; Plotly's own of an axis of few decades are digits without their decade.
function logTicks(values) {
  const positive = values.filter(value => value > 0);
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  if (positive.length === 0) return {};
  const digits = most / least < 100 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let decade = Math.floor(Math.log10(least)); decade <= Math.log10(most); ++decade)
    ticks.push(...digits.map(digit => Number(`${digit}e${decade}`)));
  return {tickvals: ticks, ticktext: ticks.map(String)};
}

// `values` are those that the axis shows, for the ticks of one that is logarithmic.
function axisOf(settings) {
  const {title, values = [], ...others} = settings;
  const ticks = others.type === "log" ? logTicks(values) : {};
  return {title: {text: title}, ...ticks, automargin: true, gridcolor: colourOf("--grid"), zerolinecolor: colourOf("--grid"), exponentformat: "none", ...others};
}

const legendAbove = {showlegend: true, legend: {orientation: "h", y: 1.02, yanchor: "bottom"}};

function layoutOf(x, y, more = {}) {
  return {
    paper_bgcolor: colourOf("--ground"), plot_bgcolor: colourOf("--ground"), font: {color: colourOf("--ink"), size: 13},
    xaxis: axisOf(x), yaxis: axisOf(y), margin: {l: 10, r: 10, t: 30, b: 10}, showlegend: false, hovermode: "closest", ...more,
  };
}

// An empty chart that says to a screen reader what it shows; `summary` may be changed later.
function chartPlace(summary) {
  return element("div", {class: "chart", role: "img", "aria-label": summary});
}

function drawChart(place, traces, layout) {
  return Plotly.react(place, traces, layout, {responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"]});
}
