// Counts what the kernels of benchmark_cuda_kernels ask of a GPU, while their PTX is interpreted on this host.
//   meter_cuda_kernels --out FOLDER [--elements N] [--only TEXT]
// Writes FOLDER/counts.csv, a row a case and kernel, and FOLDER/NUMBER.ptx, what nvcc made of each source that was
// used; meter.py makes the table of both. Exit status: 0, 1 where a kernel fails, 2 with a wrong flag.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/values/error.hpp"
#include "ptx/meter/meter.hpp"
#include "ptx/runtime/control.hpp"
#include "ptx/runtime/nvcc/kernels.hpp"
#include "ptx/runtime/nvcc/observers.hpp"
#include "tests/benchmarks/cuda/bench.hpp"

namespace trigram::bench {
namespace {

struct Options {
  std::int64_t elements = std::int64_t{1} << 18;
  std::string only;
  std::filesystem::path out;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    require(i + 1 < argc, flag, " needs a value");
    if (flag == "--elements") {
      options.elements = std::stoll(argv[i + 1]);
    } else if (flag == "--only") {
      options.only = argv[i + 1];
    } else if (flag == "--out") {
      options.out = argv[i + 1];
    } else {
      throw UsageError(flag + " is none of --out, --elements, --only");
    }
  }
  require(!options.out.empty(), "--out says which folder counts are written into");
  require(options.elements >= 4096, "--elements is at least 4096");
  return options;
}

/// Keeps the PTX of each object as it is read.
void keep_ptx_in(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  cuda_on_host::rewrite_ptx_by([folder, number = 0](const std::string& ptx) mutable {
    std::ofstream(folder / (std::to_string(number++) + ".ptx")) << ptx;
    return ptx;
  });
}

void write_head(std::ostream& table) {
  table << "case,elements,moved_bytes,kernel,launches,blocks,threads,shared_bytes";
  for (std::size_t i = 0; i < ptx::instruction_classes; ++i)
    table << ',' << ptx::name_of(static_cast<ptx::InstructionClass>(i));
  table << ",lanes_together,lanes_active";
  for (const char* const kind : {"load", "store"}) {
    for (const char* const what : {"requests", "sectors", "useful_bytes", "different_sectors"})
      table << ',' << kind << '_' << what;
  }
  table << ",shared_requests,wavefronts_needed,wavefronts\n";
}

void write_row(std::ostream& table, const Case& one, const std::string& kernel, const ptx::KernelCounts& counts) {
  table << '"' << one.name << "\"," << one.elements << ',' << one.bytes << ',' << kernel << ',' << counts.launches
        << ',' << counts.blocks << ',' << counts.threads << ',' << counts.shared_bytes;
  for (const std::uint64_t number : counts.instructions) table << ',' << number;
  table << ',' << counts.lanes_together << ',' << counts.lanes_active;
  for (const ptx::GlobalCounts* global : {&counts.loads, &counts.stores})
    table << ',' << global->requests << ',' << global->sectors << ',' << global->useful_bytes << ','
          << global->different;
  table << ',' << counts.shared_requests << ',' << counts.wavefronts_needed << ',' << counts.wavefronts << '\n';
}

/// False where what the kernels computed is wrong.
bool meter_case(Bench& bench, ptx::Meter& meter, const Case& one, std::ostream& table) {
  bench.renew_vectors();
  if (one.prepare) one.prepare();
  bench.device().synchronize();
  meter.take();
  one.run(0);
  bench.device().synchronize();
  for (const auto& [kernel, counts] : meter.take()) write_row(table, one, kernel, counts);
  return one.deviation() <= 1.0;
}

int run(const Options& options) {
  keep_ptx_in(options.out);
  static ptx::Meter meter;  // streams' threads may outlive this function
  cuda_on_host::observe_launches("meter", [](const ptx::Kernel&, int) { return meter.observer(); });
  Bench bench(options.elements, 1);
  std::vector<Case> cases;
  add_element_cases(bench, cases);
  add_codec_cases(bench, cases);
  std::ofstream table(options.out / "counts.csv");
  write_head(table);
  bool right = true;
  for (const Case& one : cases) {
    if (one.name.find(options.only) == std::string::npos) continue;
    const bool is_right = meter_case(bench, meter, one, table);
    if (!is_right) std::fprintf(stderr, "meter_cuda_kernels: %s computes something else\n", one.name.c_str());
    right = right && is_right;
  }
  table.flush();
  require(table.good(), "cannot write ", (options.out / "counts.csv").string());
  return right ? 0 : 1;
}

}  // namespace
}  // namespace trigram::bench

int main(int argc, char** argv) {
  using namespace trigram::bench;
  return status_of("meter_cuda_kernels", [&] { return run(parse(argc, argv)); });
}
