#include "experiments/program/scripts/page.hpp"

#include <nlohmann/json.hpp>

#include "core/values/error.hpp"
#include "experiments/program/scripts/script.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {

int write_page(const std::filesystem::path& page, const nlohmann::json& advice) {
  constexpr int missing_module = 3;
  nlohmann::json given{{"page", page.string()}};
  if (!advice.is_null()) given["advice"] = advice;
  const int code = run_script(shipped_folder("report") / "report.py", given.dump());
  require(code != missing_module,
          "a module of Python is missing; install python3-fastjsonschema, python3-jinja2, python3-matplotlib and "
          "python3-plotly, or by pip install 'trigram[pictures]'");
  return code;
}

}  // namespace trigram
