// Reads how learning curves are drawn, as study files and `trigram plot` say it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiments/study/study.hpp"

namespace trigram {

/// Each sets one part of a view from its text, words apart by blanks or commas. Throws UsageError naming the word and
/// what there is.
void set_against(CurveView& view, const std::string& text);  ///< "time bytes"
void set_scores(CurveView& view, const std::string& text);   ///< "loss"
void set_x_axis(CurveView& view, const std::string& text);   ///< "log"
void set_ranges(CurveView& view, const std::string& text);   ///< "time=0s:60s bytes=0:2GB loss=0.1:3"

/// What pictures read: parts that are empty are left out.
nlohmann::json curve_facts(const CurveView& view);

}  // namespace trigram
