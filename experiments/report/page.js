// Unpacks Plotly, draws the page's figures, and draws them again where the page becomes light or dark.
"use strict";

const kinds = {curves: Curves, grid: Grid, timeline: Timeline, advice: Advice};

async function unpacked(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

async function begin() {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  document.head.append(element("script", {}, await unpacked("plotly")));
  const drawn = figures.map((figure, index) => new kinds[figure.kind](figure, document.getElementById(`figure_${index}`)));
  const drawAll = () => Promise.all(drawn.map(one => one.draw()));
  document.getElementById("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  await drawAll();
  document.documentElement.dataset.drawn = Math.round(performance.now());
}

begin();
