#include "core/training/rank_report.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/values/lasting_text.hpp"
#include "core/values/packing.hpp"

namespace trigram {
namespace {

/// A span whose name and ranks are indices: a trace holds millions of spans and few of these.
struct PackedSpan {
  double begin, end;
  std::int64_t bytes, size;
  std::int32_t lane, call;
  std::uint16_t name, ranks;
  Activity activity;
};

void put_spans(Packer& packer, const std::vector<LaneSpan>& spans) {
  std::vector<std::string_view> names;
  std::vector<PackedSpan> all;
  all.reserve(spans.size());
  const auto index_of = [&](std::string_view text) {
    auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) found = names.insert(names.end(), text);
    return static_cast<std::uint16_t>(found - names.begin());
  };
  for (const LaneSpan& span : spans)
    all.push_back({span.begin, span.end, span.bytes, span.call.size, span.lane, span.call.number, index_of(span.name),
                   index_of(span.call.ranks), span.activity});
  packer.put(static_cast<std::uint64_t>(names.size()));
  for (const std::string_view name : names) packer.put_text(name);
  packer.put_all(std::span<const PackedSpan>(all));
}

void put_evaluation(Packer& packer, const EvalRow& row) {
  packer.put(row.step);
  for (const double value : {row.time_s, row.loss, row.accuracy, row.worst_accuracy, row.consensus_distance,
                             row.bytes_sent, row.busy_s, row.bytes_between_nodes, row.steps_mean})
    packer.put(value);
  put(packer, row.recorded);
}

EvalRow take_evaluation(Unpacker& unpacker) {
  EvalRow row;
  row.step = unpacker.take<std::int64_t>();
  for (double* value : {&row.time_s, &row.loss, &row.accuracy, &row.worst_accuracy, &row.consensus_distance,
                        &row.bytes_sent, &row.busy_s, &row.bytes_between_nodes, &row.steps_mean})
    *value = unpacker.take<double>();
  row.recorded = take_records(unpacker);
  return row;
}

std::vector<LaneSpan> take_spans(Unpacker& unpacker) {
  std::vector<const char*> names;
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left)
    names.push_back(lasting_text(unpacker.take_text()));
  const auto all = unpacker.take_all<PackedSpan>();
  std::vector<LaneSpan> spans;
  spans.reserve(all.size());
  for (const PackedSpan& span : all) {
    ensure(span.name < names.size() && span.ranks < names.size(), "a packed span has no name");
    spans.push_back({span.lane,
                     span.activity,
                     names[span.name],
                     span.begin,
                     span.end,
                     span.bytes,
                     {span.size, span.call, names[span.ranks]}});
  }
  return spans;
}

}  // namespace

RankReport filled(RankReport report) {
  for (auto& [column, values] : report.recorded)
    values.resize(report.steps.size(), std::numeric_limits<double>::quiet_NaN());
  return report;
}

std::vector<std::byte> pack(const RankReport& report) {
  Packer packer;
  packer.put(report.rank);
  packer.put_all(std::span(report.steps));
  packer.put(static_cast<std::uint64_t>(report.recorded.size()));
  for (const auto& [column, values] : report.recorded) {
    packer.put_text(column);
    packer.put_all(std::span(values));
  }
  packer.put(static_cast<std::uint64_t>(report.evals.size()));
  for (const EvalRow& row : report.evals) put_evaluation(packer, row);
  put_spans(packer, report.spans);
  packer.put(report.steps_done);
  packer.put(report.sent);
  packer.put(report.sent_to_other_nodes);
  packer.put(report.busy_s);
  packer.put_all(std::span(report.cost_by_step));
  packer.put(report.setup_and_finish);
  packer.put(report.local_batch);
  packer.put(report.training_seconds);
  packer.put(static_cast<std::uint64_t>(report.weights.size()));
  for (const std::vector<float>& parameter : report.weights) packer.put_all(std::span(parameter));
  packer.put(report.weights_digest);
  packer.put_all(std::span(report.state));
  return std::move(packer).bytes();
}

RankReport unpack(const std::vector<std::byte>& bytes) {
  Unpacker unpacker(bytes);
  RankReport report;
  report.rank = unpacker.take<int>();
  report.steps = unpacker.take_all<StepRow>();
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left) {
    std::string column = unpacker.take_text();
    report.recorded.emplace(std::move(column), unpacker.take_all<double>());
  }
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left) report.evals.push_back(take_evaluation(unpacker));
  report.spans = take_spans(unpacker);
  report.steps_done = unpacker.take<std::int64_t>();
  report.sent = unpacker.take<Cost>();
  report.sent_to_other_nodes = unpacker.take<std::int64_t>();
  report.busy_s = unpacker.take<double>();
  report.cost_by_step = unpacker.take_all<Cost>();
  report.setup_and_finish = unpacker.take<Cost>();
  report.local_batch = unpacker.take<std::int64_t>();
  report.training_seconds = unpacker.take<double>();
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left)
    report.weights.push_back(unpacker.take_all<float>());
  report.weights_digest = unpacker.take<std::uint64_t>();
  report.state = unpacker.take_all<std::byte>();
  return report;
}

std::vector<EvalRow> evaluations(const std::vector<RankReport>& ranks) {
  std::vector<EvalRow> rows;
  for (const RankReport& report : ranks) rows.insert(rows.end(), report.evals.begin(), report.evals.end());
  std::sort(rows.begin(), rows.end(),
            [](const EvalRow& a, const EvalRow& b) { return std::tie(a.step, a.time_s) < std::tie(b.step, b.time_s); });
  return rows;
}

}  // namespace trigram
