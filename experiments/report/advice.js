// The time of a step with each method, with ranges, for those that a reader still considers.
"use strict";

const considered = ["synchronous", "asynchronous", "full precision", "low precision", "centralized", "decentralized"];

class Advice {
  constructor(figure, section) {
    this.figure = figure;
    this.chances = [0, 50, 68, 90, 95, 99];
    this.least = 0;
    this.kinds = new Set(considered);
    this.chart = chartPlace("");
    this.table = readout(`${figure.title}: times`);
    section.append(
      element("div", {class: "controls"},
        slider("faster with at least", this.chances.map(chance => `${chance} %`), 0, place => {
          this.least = this.chances[place] / 100;
          this.draw();
        })),
      element("fieldset", {}, element("legend", {}, "methods that are"),
        ...considered.filter(kind => figure.methods.some(one => one.kinds.includes(kind)))
          .map(kind => checkbox(kind, true, wanted => this.consider(kind, wanted)))),
      this.chart, this.table);
  }

  consider(kind, wanted) {
    if (wanted) this.kinds.add(kind); else this.kinds.delete(kind);
    this.draw();
  }

  shown() {
    const today = this.figure.today;
    return this.figure.methods.filter(one => one.name === today || (one.chance >= this.least && one.kinds.every(kind => this.kinds.has(kind))));
  }

  drawTable(methods) {
    const range = one => one.of_95 ? `${shown(1e3 * one.of_95[0])} to ${shown(1e3 * one.of_95[1])}` : "";
    const rows = methods.map(one => [
      one.name, shown(1e3 * one.seconds), range(one), one.name === this.figure.today ? "today" : `${shown(one.gain)}x`,
      one.name === this.figure.today ? "" : `${Math.round(100 * one.chance)} %`, shown(one.bytes / 1e6), one.kinds.join(", ")]);
    tell(this.table, ["method", "step (ms)", "95 % from (ms)", "gain", "faster with", "MB sent", "trigram"], rows);
  }

  draw() {
    const methods = this.shown();
    this.drawTable(methods);
    const dots = {
      mode: "markers", y: methods.map(one => one.name), x: methods.map(one => 1e3 * one.seconds),
      marker: {size: 10, color: methods.map(one => one.name === this.figure.today ? "#E69F00" : "#0072B2")},
      error_x: {type: "data", symmetric: false, array: methods.map(one => one.of_95 ? 1e3 * (one.of_95[1] - one.seconds) : 0),
                arrayminus: methods.map(one => one.of_95 ? 1e3 * (one.seconds - one.of_95[0]) : 0)},
      hovertemplate: "%{y}: %{x:.4g} ms<extra></extra>",
    };
    this.chart.style.height = `${6 + 1.4 * methods.length}rem`;
    this.chart.setAttribute("aria-label", `${this.figure.title}: ${methods.map(one => one.name).join(", ")}, fastest first`);
    return drawChart(this.chart, [dots], layoutOf({title: "a step (ms)", type: "log", values: dots.x},
                                                {title: "", type: "category", autorange: "reversed"}));
  }
}
