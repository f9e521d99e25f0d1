// Learning curves: lines with bands that can be switched, against what the reader chooses, and read off at a place.
"use strict";

const places = 100;
const dashes = ["solid", "dash", "dot", "dashdot", "longdash"];  // told apart in grey, too

class Curves {
  constructor(figure, section) {
    this.figure = figure;
    this.shown = new Set(figure.lines.map(line => line.label));
    this.scale = figure.scales[0].key;
    this.score = figure.scores[0].key;
    this.bands = true;
    this.logarithmic = {x: false, y: false};
    this.at = places;
    this.chart = chartPlace(figure.title);
    this.values = readout(`${figure.title}: values`);
    const set = setterOf(this);
    const named = list => list.map(({key, label}) => [key, label]);
    section.append(
      element("div", {class: "controls"},
        choice("score", named(figure.scores), value => set("score", value)),
        choice("against", named(figure.scales), value => set("scale", value)),
        checkbox("ranges over seeds", true, value => set("bands", value)),
        checkbox("logarithmic x", false, value => set("logarithmic", {...this.logarithmic, x: value})),
        checkbox("logarithmic y", false, value => set("logarithmic", {...this.logarithmic, y: value}))),
      element("fieldset", {}, element("legend", {}, "lines"),
        ...figure.lines.map(line => checkbox(line.label, true, value => this.show(line.label, value), line.colour))),
      this.chart,
      element("div", {class: "controls"},
        slider("read off at", [...Array(places + 1).keys()].map(part => `${part} % of the axis`), places, value => set("at", value))),
      this.values);
  }

  show(label, wanted) {
    if (wanted) this.shown.add(label); else this.shown.delete(label);
    this.draw();
  }

  lines() {
    return this.figure.lines.map((line, index) => {
      const {x, ...score} = line.scores[this.score];
      return {...line, ...score, points: x[this.scale], dash: dashes[index % dashes.length]};
    }).filter(line => this.shown.has(line.label));
  }

  traces(line) {
    const band = {
      x: [...line.points, ...[...line.points].reverse()], y: [...line.high, ...[...line.low].reverse()], fill: "toself", mode: "lines",
      line: {width: 0}, fillcolor: transparent(drawn(line.colour), 0.2), hoverinfo: "skip",
    };
    const middle = {x: line.points, y: line.middle, name: line.label, mode: "lines", line: {color: drawn(line.colour), width: 2, dash: line.dash}};
    return this.bands && line.runs > 1 ? [band, middle] : [middle];
  }

  goal() {
    const goal = this.figure.goal;
    if (goal === null || this.score !== "loss") return [];
    return [{type: "line", xref: "paper", x0: 0, x1: 1, y0: goal, y1: goal, line: {color: colourOf("--faint"), dash: "dot", width: 1}}];
  }

  // Of each line the last evaluation that is not behind the place.
  readOff(lines) {
    const end = Math.max(...lines.flatMap(line => line.points));
    const at = end * this.at / places;
    const rows = lines.map(line => {
      const last = line.points.filter(x => x <= at).length - 1;
      return last < 0 ? [line.label, "none", "none", "none"] :
        [line.label, shown(line.points[last]), shown(line.middle[last]), `${shown(line.low[last])} to ${shown(line.high[last])}`];
    });
    tell(this.values, ["line", this.label("scales", this.scale), this.label("scores", this.score), "range"], rows);
  }

  label(list, key) {
    return this.figure[list].find(one => one.key === key).label;
  }

  draw() {
    const lines = this.lines();
    const type = which => this.logarithmic[which] ? "log" : "linear";
    const layout = layoutOf(
      {title: this.label("scales", this.scale), type: type("x"), values: lines.flatMap(line => line.points)},
      {title: this.label("scores", this.score), type: type("y"), values: lines.flatMap(line => [...line.low, ...line.high])},
      {shapes: this.goal()});
    this.readOff(lines);
    return drawChart(this.chart, lines.flatMap(line => this.traces(line)), layout);
  }
}
