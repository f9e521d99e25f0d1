// Which row of a study is fastest where: a map over two of the swept keys, at values of the others that sliders choose, a cut through it,
// and the times at the chosen place.
"use strict";

const mostInCut = 6;

class Grid {
  constructor(figure, section) {
    this.figure = figure;
    this.place = figure.axes.map(axis => Math.floor(axis.values.length / 2));
    this.x = 0;
    this.y = Math.min(1, figure.axes.length - 1);
    this.toGoal = false;
    this.map = figure.axes.length > 1 ? [chartPlace(""), element("p", {class: "note"})] : [];
    this.cut = chartPlace("");
    this.times = readout(`${figure.title}: times at the chosen place`);
    this.sliders = figure.axes.map((axis, index) => slider(axis.label, axis.values, this.place[index], value => this.move(index, value)));
    section.append(element("div", {class: "controls"}, ...this.choices()), element("div", {class: "controls"}, ...this.sliders), ...this.map,
                   this.times, this.cut);
  }

  choices() {
    const axes = this.figure.axes.map((axis, index) => [index, axis.label]);
    const set = setterOf(this);
    const measures = [["", this.figure.measure], ["goal", `seconds to a loss of ${this.figure.goal}`]];
    return [
      ...(this.figure.axes.length > 2 ? [choice("across", axes, value => set("x", Number(value))), this.upwards(axes, set)] : []),
      ...(this.figure.rows.some(one => one.steps > 0) ? [choice("measure", measures, value => set("toGoal", value === "goal"))] : []),
    ];
  }

  upwards(axes, set) {
    const made = choice("upwards", axes, value => set("y", Number(value)));
    made.querySelector("select").value = this.y;
    return made;
  }

  move(axis, value) {
    this.place[axis] = value;
    this.sliders[axis].moveTo(value);
    this.draw();
  }

  // What each row takes at a place, fastest first, without those that have no number there.
  at(place) {
    let index = 0;
    this.figure.axes.forEach((axis, i) => { index = index * axis.values.length + place[i]; });
    const factor = one => this.toGoal ? one.steps : 1;
    return this.figure.rows.filter(one => one.values[index] !== null && factor(one) > 0)
      .map(one => ({name: one.name, colour: one.colour, time: one.values[index] * factor(one), error: one.errors[index]}))
      .sort((a, b) => a.time - b.time);
  }

  // Whether the first, which is the faster, is so with less than 90 %, where logarithms are off by normal errors of their own.
  notCalled(one, other) {
    return Math.log(other.time / one.time) < this.figure.called * Math.hypot(Math.log1p(one.error), Math.log1p(other.error));
  }

  with(changes) {
    const place = [...this.place];
    for (const [axis, value] of changes) place[axis] = value;
    return place;
  }

  title() {
    return this.toGoal ? `seconds to a loss of ${this.figure.goal}` : this.figure.measure;
  }

  gain(times, fastest) {
    const against = times.find(one => one.name === this.figure.against);
    return against ? against.time / fastest.time : null;
  }

  hover(times) {
    if (times.length === 0) return "no row has a number here";
    const [fastest, ...others] = times;
    const gain = this.gain(times, fastest);
    const near = others.filter(one => this.notCalled(fastest, one)).map(one => one.name);
    return `${fastest.name}: ${shown(fastest.time)}` + (gain ? `<br>${shown(gain)} times as fast as ${this.figure.against}` : "") +
      (near.length > 0 ? `<br>with less than 90 % faster than ${near.slice(0, 5).join(", ")}` : "");
  }

  drawMap() {
    const [xs, ys] = [this.figure.axes[this.x], this.figure.axes[this.y]];
    const cells = ys.values.map((_, y) => xs.values.map((_, x) => this.at(this.with([[this.x, x], [this.y, y]]))));
    const names = this.figure.rows.map(one => one.name);
    const winners = cells.map(line => line.map(times => times.length > 0 ? names.indexOf(times[0].name) : null));
    const steps = this.figure.rows.flatMap(({colour}, i) => [i, i + 1].map(end => [end / names.length, drawn(colour)]));
    const close = cells.flatMap((line, y) => line.flatMap((times, x) =>
      times.length > 1 && this.notCalled(times[0], times[1]) ? [[xs.values[x], ys.values[y]]] : []));
    const map = {
      type: "heatmap", x: xs.values, y: ys.values, z: winners, zmin: -0.5, zmax: names.length - 0.5, colorscale: steps, showscale: false, xgap: 1, ygap: 1,
      text: cells.map(line => line.map(times => this.hover(times))), hovertemplate: "%{text}<extra>%{x}, %{y}</extra>", opacity: 0.85,
    };
    const doubtful = this.marks(close, "x", 8);
    const here = this.marks([[xs.values[this.place[this.x]], ys.values[this.place[this.y]]]], "circle", 14);
    this.tellWinners(this.figure.rows.filter((_, i) => winners.some(line => line.includes(i))), xs, ys);
    return drawChart(this.map[0], [map, doubtful, here], layoutOf(this.category(xs), this.category(ys)));
  }

  category(axis) {
    return {title: axis.label, type: "category", categoryorder: "array", categoryarray: axis.values};
  }

  tellWinners(rows, xs, ys) {
    const names = rows.map(one => one.name).join(", ");
    this.map[0].setAttribute("aria-label", `${this.figure.title}: over ${xs.label} and ${ys.label} the fastest are ${names}`);
    const legend = rows.flatMap(({name, colour}) => [swatch(colour), `${name} `]);
    this.map[1].replaceChildren("The fastest: ", ...legend, "; a cross: faster than the next with less than 90 %; the circle: the chosen place.");
  }

  // White with a black edge, to be seen on any colour.
  marks(points, symbol, size) {
    return {x: points.map(point => point[0]), y: points.map(point => point[1]), mode: "markers", hoverinfo: "skip",
            marker: {symbol, size, color: "#ffffff", line: {color: "#000000", width: 1.5}}};
  }

  drawCut() {
    const axis = this.figure.axes[this.x];
    const fastest = this.at(this.place).slice(0, mostInCut).map(one => one.name);
    const names = this.figure.rows.filter(one => fastest.includes(one.name) || one.name === this.figure.against);
    const traces = names.map(one => {
      const points = axis.values.map((_, x) => this.at(this.with([[this.x, x]])).find(other => other.name === one.name));
      return {x: axis.values, y: points.map(point => point ? point.time : null), name: one.name, mode: "lines+markers", line: {color: drawn(one.colour)},
              error_y: {type: "data", array: points.map(point => point ? point.error * point.time : 0), thickness: 1}};
    });
    this.cut.setAttribute("aria-label", `${this.title()} along ${axis.label} of ${names.map(one => one.name).join(", ")}`);
    return drawChart(this.cut, traces, layoutOf(this.category(axis),
      {title: this.title(), type: "log", values: traces.flatMap(trace => trace.y)}, legendAbove));
  }

  drawTimes() {
    const times = this.at(this.place);
    const rows = times.map(one => {
      const gain = this.gain(times, one);
      return [one.name, shown(one.time), one.error > 0 ? `± ${shown(100 * one.error)} %` : "", gain ? `${shown(gain)}x` : "",
              one === times[0] ? "fastest" : this.notCalled(times[0], one) ? "slower with less than 90 %" : ""];
    });
    tell(this.times, ["row", this.title(), "error bar", `as fast as ${this.figure.against}`, ""], rows);
  }

  async draw() {
    this.drawTimes();
    await this.drawCut();
    if (this.map.length === 0) return;
    await this.drawMap();
    this.map[0].removeAllListeners("plotly_click");
    this.map[0].on("plotly_click", ({points}) => this.choose(points[0]));
  }

  choose(point) {
    for (const [axis, value] of [[this.x, point.x], [this.y, point.y]]) {
      this.place[axis] = this.figure.axes[axis].values.indexOf(value);
      this.sliders[axis].moveTo(this.place[axis]);
    }
    this.draw();
  }
}
