// RankReports as bytes, since ranks may be other processes.
#include "core/packing.hpp"
#include "core/trainer.hpp"

namespace trigram {
namespace {

void put_spans(Packer& packer, const std::vector<LaneSpan>& spans) {
  packer.put(static_cast<std::uint64_t>(spans.size()));
  for (const LaneSpan& span : spans) {
    packer.put(span.lane);
    packer.put(span.activity);
    packer.put_text(span.name);
    packer.put(span.begin);
    packer.put(span.end);
    packer.put(span.bytes);
  }
}

std::vector<LaneSpan> take_spans(Unpacker& unpacker) {
  std::vector<LaneSpan> spans;
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left) {
    LaneSpan& span = spans.emplace_back();
    span.lane = unpacker.take<int>();
    span.activity = unpacker.take<Activity>();
    span.name = unpacker.take_text();
    span.begin = unpacker.take<double>();
    span.end = unpacker.take<double>();
    span.bytes = unpacker.take<std::int64_t>();
  }
  return spans;
}

}  // namespace

std::vector<std::byte> pack(const RankReport& report) {
  Packer packer;
  packer.put(report.rank);
  packer.put_all(std::span(report.steps));
  packer.put_all(std::span(report.evals));
  put_spans(packer, report.spans);
  packer.put(report.steps_done);
  packer.put(report.sent);
  packer.put_all(std::span(report.cost_by_step));
  packer.put(report.setup_and_finish);
  packer.put(report.local_batch);
  packer.put(report.training_seconds);
  packer.put(static_cast<std::uint64_t>(report.weights.size()));
  for (const std::vector<float>& parameter : report.weights) packer.put_all(std::span(parameter));
  return std::move(packer).bytes();
}

RankReport unpack(const std::vector<std::byte>& bytes) {
  Unpacker unpacker(bytes);
  RankReport report;
  report.rank = unpacker.take<int>();
  report.steps = unpacker.take_all<StepRow>();
  report.evals = unpacker.take_all<EvalRow>();
  report.spans = take_spans(unpacker);
  report.steps_done = unpacker.take<std::int64_t>();
  report.sent = unpacker.take<Cost>();
  report.cost_by_step = unpacker.take_all<Cost>();
  report.setup_and_finish = unpacker.take<Cost>();
  report.local_batch = unpacker.take<std::int64_t>();
  report.training_seconds = unpacker.take<double>();
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left)
    report.weights.push_back(unpacker.take_all<float>());
  return report;
}

}  // namespace trigram
