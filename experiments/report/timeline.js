// What each lane does in a step, as bars over time.
"use strict";

class Timeline {
  constructor(figure, section) {
    this.figure = figure;
    this.step = 0;
    this.rank = "";
    const ranks = [...new Set(figure.lanes.map(lane => lane.rank))];
    this.chart = chartPlace("");
    this.sums = readout(`${figure.title}: seconds by name`);
    const set = setterOf(this);
    section.append(
      element("div", {class: "controls"},
        slider("step", figure.step_ends_s.map((_, step) => `${step + 1}`), 0, value => set("step", value)),
        choice("ranks", [["", "all"], ...ranks.map(rank => [rank, `rank ${rank}`])], value => set("rank", value))),
      this.chart, this.sums);
  }

  // Places in the columns of bars that begin in this step, on the chosen ranks.
  chosen() {
    const begin = this.step > 0 ? this.figure.step_ends_s[this.step - 1] : 0;
    const end = this.figure.step_ends_s[this.step];
    const {begin_s: begins, rank} = this.figure.bars;
    return begins.map((_, i) => i).filter(i => begins[i] >= begin && begins[i] < end && (this.rank === "" || rank[i] === Number(this.rank)));
  }

  laneName(rank, lane) {
    const found = this.figure.lanes.find(one => one.rank === rank && one.lane === lane);
    return `rank ${rank}, ${found ? found.name : `lane ${lane}`}`;
  }

  drawBars(chosen) {
    const {rank, lane, name, begin_s: begins, seconds} = this.figure.bars;
    const lanes = this.figure.lanes.filter(one => this.rank === "" || one.rank === Number(this.rank)).map(one => this.laneName(one.rank, one.lane));
    const traces = Object.entries(this.figure.colours).map(([one, colour]) => {
      const bars = chosen.filter(i => name[i] === one);
      return {type: "bar", orientation: "h", name: one, base: bars.map(i => 1e3 * begins[i]), x: bars.map(i => 1e3 * seconds[i]),
              y: bars.map(i => this.laneName(rank[i], lane[i])), marker: {color: drawn(colour)},
              hovertemplate: `${one}<br>from %{base:.6g} ms, %{x:.4g} ms<extra>%{y}</extra>`};
    });
    const y = {title: "", type: "category", categoryorder: "array", categoryarray: lanes, autorange: "reversed"};
    const layout = layoutOf({title: "time (ms)"}, y,
                            {barmode: "overlay", ...legendAbove});
    this.chart.setAttribute("aria-label", `${this.figure.title}: ${chosen.length} operations of step ${this.step + 1}`);
    return drawChart(this.chart, traces, layout);
  }

  drawSums(chosen) {
    const sums = new Map();
    for (const i of chosen) {
      const {name, kind, seconds} = this.figure.bars;
      const sum = sums.get(name[i]) ?? {kind: kind[i], count: 0, seconds: 0};
      sums.set(name[i], {...sum, count: sum.count + 1, seconds: sum.seconds + seconds[i]});
    }
    tell(this.sums, ["operation", "kind", "how often", "seconds, of all ranks that are shown"],
         [...sums].map(([name, {kind, count, seconds}]) => [name, kind, String(count), shown(seconds)]));
  }

  draw() {
    const chosen = this.chosen();
    this.drawSums(chosen);
    return this.drawBars(chosen);
  }
}
