// Tables of predictions beside measurements, and of what each mechanism is worth.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "experiments/program/tables/tables.hpp"
#include "experiments/study/comparison/agreement.hpp"
#include "experiments/study/left_out.hpp"

namespace trigram {
namespace {

using Cells = std::vector<std::vector<std::string>>;
using Some = std::vector<Prediction>;

std::string in_percent(double ratio) {
  constexpr double hundred = 100, tenths = 10;
  return std::isnan(ratio) ? "-" : short_number(std::round(tenths * hundred * ratio) / tenths) + " %";
}

std::string text_of(const Share& share) {
  return share.all == 0 ? "-" : std::to_string(share.right) + "/" + std::to_string(share.all);
}

/// "96/97/121": right, called, and asked for.
std::string text_of(const Calls& calls) {
  if (calls.asked == 0) return "-";
  return std::to_string(calls.called.right) + "/" + std::to_string(calls.called.all) + "/" +
         std::to_string(calls.asked);
}

Some only(const Some& all, const std::function<bool(const Observation&)>& keep) {
  Some kept;
  std::ranges::copy_if(all, std::back_inserter(kept), [&](const Prediction& one) { return keep(one.measured()); });
  return kept;
}

bool is_predicted(const Observation& one) { return one.used.empty(); }

std::vector<std::string> in_order(const Some& all, std::string Observation::*what) {
  std::vector<std::string> names;
  for (const Prediction& one : all) {
    const std::string& name = one.measured().*what;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string worst_of(const Some& some) {
  if (some.empty()) return "-";
  const Prediction& worst =
      *std::ranges::max_element(some, {}, [](const Prediction& one) { return std::abs(one.error()); });
  return in_percent(worst.error()) + " " + worst.measured().method + " at " + worst.measured().condition;
}

double mean_signed(const Some& some) {
  double sum = 0;
  for (const Prediction& one : some) sum += one.error();
  return some.empty() ? std::nan("") : sum / static_cast<double>(some.size());
}

std::vector<std::string> method_line(const std::string& source, const std::string& method, const Some& some) {
  const Some predicted = only(some, is_predicted);
  return {source,
          method,
          std::to_string(some.size()),
          std::to_string(predicted.size()),
          in_percent(mean_error(predicted)),
          in_percent(mean_signed(predicted)),
          worst_of(predicted)};
}

std::string by_method(const Some& all) {
  Cells rows = {{"source", "method", "points", "predicted", "mean |error|", "mean error", "worst"}};
  for (const std::string& source : in_order(all, &Observation::source)) {
    const Some of_source = only(all, [&](const Observation& one) { return one.source == source; });
    for (const std::string& method : in_order(of_source, &Observation::method)) {
      const Some some = only(of_source, [&](const Observation& one) { return one.method == method; });
      if (!only(some, is_predicted).empty()) rows.push_back(method_line(source, method, some));
    }
  }
  return aligned(rows);
}

std::string by_source(const Some& all) {
  Cells rows = {
      {"source", "points", "predicted", "mean |error|", "mean error", "within 25 %", "order", "pays", "worst"}};
  const auto add = [&](const std::string& name, const Some& some) {
    const Some predicted = only(some, is_predicted);
    constexpr double near = 0.25;
    const auto within =
        std::ranges::count_if(predicted, [](const Prediction& one) { return std::abs(one.error()) <= near; });
    rows.push_back({name, std::to_string(some.size()), std::to_string(predicted.size()),
                    in_percent(mean_error(predicted)), in_percent(mean_signed(predicted)), std::to_string(within),
                    text_of(right_of(distinct_pairs(predicted))), text_of(right_of(asked_to_pay(some))),
                    worst_of(predicted)});
  };
  for (const std::string& source : in_order(all, &Observation::source))
    add(source, only(all, [&](const Observation& one) { return one.source == source; }));
  add("all", all);
  return aligned(rows);
}

/// Each source judged by ranges that the others made, beside arithmetic.
std::string by_left_out(const Some& all) {
  Cells rows = {{"left out", "rows", "mean |error|", "arithmetic", "skill", "in 68 %", "in 95 %", "68 % within",
                 "of arithmetic", "order called", "pays called"}};
  LeftOut sum;
  const auto share = [](int some, int rows_of) { return in_percent(static_cast<double>(some) / rows_of); };
  for (const LeftOut& one : left_out(all)) {
    rows.push_back({one.source, std::to_string(one.rows), in_percent(one.error), in_percent(one.arithmetic),
                    std::isnan(one.arithmetic) ? "-" : short_number(std::round(100 * one.skill()) / 100),
                    share(one.in_68, one.rows), share(one.in_95, one.rows), "+" + in_percent(one.width_68),
                    std::isnan(one.width_68_arithmetic) ? "-" : "+" + in_percent(one.width_68_arithmetic),
                    text_of(one.order), text_of(one.pays)});
    sum.in_68 += one.in_68;
    sum.in_95 += one.in_95;
    sum.rows += one.rows;
    sum.error += one.rows * one.error;
    sum.order += one.order;
    sum.pays += one.pays;
  }
  if (sum.rows > 0)
    rows.push_back({"all", std::to_string(sum.rows), in_percent(sum.error / sum.rows), "", "",
                    share(sum.in_68, sum.rows), share(sum.in_95, sum.rows), "", "", text_of(sum.order),
                    text_of(sum.pays)});
  return aligned(rows) + "called: right/with a probability of 90 % or more/asked for\n";
}

/// What stays of the agreement as mechanisms are switched off, the variants of the study in their order.
std::string by_variant(const Study& study, const Some& main, const std::vector<StudyResult>& results) {
  const std::vector<std::string> sources = in_order(main, &Observation::source);
  Cells rows = {{"mean |error|"}};
  rows[0].insert(rows[0].end(), sources.begin(), sources.end());
  for (const char* last : {"all", "order", "pays"}) rows[0].emplace_back(last);
  const auto add = [&](const std::string& name, const Some& all) {
    std::vector<std::string> cells = {name};
    const Some predicted = only(all, is_predicted);
    for (const std::string& source : sources)
      cells.push_back(
          in_percent(mean_error(only(predicted, [&](const Observation& one) { return one.source == source; }))));
    cells.push_back(in_percent(mean_error(predicted)));
    cells.push_back(text_of(right_of(distinct_pairs(predicted))));
    cells.push_back(text_of(right_of(asked_to_pay(all))));
    rows.push_back(cells);
  };
  add("everything on", main);
  for (const Variant& variant : study.variants) add(variant.name, predictions(study, results, variant.name));
  return aligned(rows);
}

std::string wrong_lines(const Some& all) {
  std::string text;
  for (const std::string& wrong : wrong_decisions(all)) text += (text.empty() ? "" : ", ") + wrong;
  return text.empty() ? "" : "\nsaid wrongly whether it pays: " + text + "\n";
}

}  // namespace

std::string agreement_table(const Study& study, const std::vector<StudyResult>& results) {
  const Some all = predictions(study, results);
  std::string text = by_left_out(all) + "\n" + by_method(all) + "\n" + by_source(all) + wrong_lines(all);
  if (!study.variants.empty()) text += "\n" + by_variant(study, all, results);
  return text;
}

}  // namespace trigram
