// The facts as metrics in Prometheus' text format, for the textfile collector of its node exporter.
//
// Each metric has the label `file`, the path: exact if it is printable UTF-8, otherwise as escaped() writes it. A
// number that is not known has no sample. Units are bytes, seconds and ratios from 0 to 1.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts.hpp"

namespace bfinspect {

struct InspectedFile {
  std::string path;
  std::optional<Facts> facts;  // empty: it could not be read
};

// All samples of a metric follow its HELP and TYPE, as the format wants it. A metric without samples is left out.
std::string metrics_of(const std::vector<InspectedFile>& files);

// False for a file that begins with anything else: its name is rather a mistyped one.
bool may_be_metrics(std::string_view first);

}  // namespace bfinspect
