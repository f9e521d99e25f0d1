// A study: fixed flags, what is swept, and what the outcome is compared with.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/settings/settings.hpp"
#include "experiments/study/comparison/observations.hpp"

namespace trigram {

/// One key and the values that it takes; keys that go together are one, "a&b", whose values are "1&2".
struct Axis {
  std::string key;
  std::vector<std::string> values;
};

/// [row.NAME]: one system under study. Rows of one series are drawn and compared as one curve.
struct Row {
  std::string name;
  std::string series;
  std::string panel;  ///< of the figures that it is drawn in; empty: of every panel
  Settings settings;
  int line = 0;                                 ///< of its section
  std::optional<Observation> observation = {};  ///< of a row that a table of [measurements] makes
};

/// [variant.NAME]: all rows, or those listed, once more with other flags; reported beside, never among, the main runs.
struct Variant {
  std::string name;
  std::vector<std::string> rows;  ///< by name, series or source; empty: all
  std::string also;               ///< a variant before it, whose flags its rows have too; empty: none
  Settings settings;
  int line = 0;  ///< of its section
};

/// [measure]: what a run comes down to, `value` being a path in run.json, or "time_to_goal_s" and the like.
struct Measure {
  std::string value = "summary.iteration_s";
  double scale = 1;
  std::string label;    ///< empty in the file: made from value and scale
  std::string x_label;  ///< of the first swept key; empty: the key
  std::string x;  ///< the swept key that is drawn along; empty in the file: the first. It comes first in Study::sweep.
  std::string facet;           ///< the swept key whose values have a panel each; empty: one panel
  std::string x_axis, y_axis;  ///< linear or log; empty: as values span decades
};

/// [target]: published points. A row's series meets the published series of its name; `axis` meets column `x`.
struct Target {
  std::filesystem::path file;
  std::string x, series, value;      ///< columns
  std::string axis;                  ///< the swept key that x is
  std::string unit;                  ///< what axis values carry after the number of column x: "Gbps"
  double aim_low = 0, aim_high = 0;  ///< range of x that has an aim; points outside are printed apart
};

/// [calibrate]: parameters found before the main runs by the mean absolute relative error of `rows` against the target.
/// The published points of `given` rows are among the study's own parameters (a measured compute time), so they predict
/// nothing either.
struct Calibration {
  std::vector<std::string> rows;
  std::vector<std::string> given;
  std::vector<Axis> grids;
  Settings known;  ///< [calibrated]: what a search found before, used instead of searching; empty: none
};

/// [selection]: one flag chosen for each row from a grid on the validation split, then run with fresh seeds.
struct Selection {
  std::string flag;
  std::vector<std::string> grid;
  std::string by = "summary.loss";  ///< smaller is better
  std::vector<std::string> seeds;
};

/// [curves]: how learning curves are drawn; what is empty is as the curves need it.
struct CurveView {
  /// Of an axis or a score, in steps, seconds, bytes, joules and USD.
  struct Range {
    double low = 0, high = 0;
  };
  std::vector<std::string> against;     ///< panels beside each other: step, time, bytes, energy, money
  std::vector<std::string> scores;      ///< panels below each other: loss, accuracy, worst_accuracy
  std::string x_axis;                   ///< of all panels but those by steps: linear or log
  std::map<std::string, Range> ranges;  ///< by axis or score
};

/// [goal]: the loss that a run is to reach; time and bytes to get there are reported.
struct Goal {
  double loss = 0;
};

/// [map]: which row's measure is least at every pair of two swept keys, and on the cluster as it is. A row that stands
/// earlier is preferred where the error bar does not tell rows apart.
struct WinnerMap {
  std::string against;  ///< the row that others are compared with
  double error = 0.1;   ///< a share: the error bar of clusters that have none
};

/// [learning]: runs more of each row, whose steps to the goal a map's times are multiplied by.
struct Learning {
  Settings flags;                  ///< win over the row's
  std::vector<std::string> seeds;  ///< a run each; empty: one run, with the row's own seed
};

/// A whole study.
struct Study {
  std::string name, title;
  std::filesystem::path file;
  std::optional<std::filesystem::path> notes;
  Settings run;
  int run_line = 0;  ///< of [run]
  std::vector<Axis> sweep;
  std::vector<Row> rows;  ///< at least one; those of tables behind the others
  std::vector<Variant> variants;
  Measure measure;
  std::optional<Target> target;
  std::optional<Calibration> calibration;
  std::optional<Selection> selection;
  std::optional<Goal> goal;
  std::optional<WinnerMap> map;
  CurveView curves;
  std::optional<Learning> learning;
};

/// The keys of an axis, or their values, that go together: "a&b" is a and b.
std::vector<std::string> parts_of(const std::string& text);

/// Whether `names` has a row's name or series, its measurement's source, or the system or algorithm that it says.
bool names_row(const std::vector<std::string>& names, const Row& row);

/// Whether some row is a measurement.
bool has_observations(const Study& study);

/// The swept keys by which lines of tables and figures differ: all but the first, along which they run, and but `seed`,
/// over which medians are taken.
std::vector<std::string> line_keys(const Study& study);

}  // namespace trigram
