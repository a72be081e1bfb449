// bf plan's JSON. Schema 2: every key is always present.
#include "forecast.hpp"

#include <nlohmann/json.hpp>

namespace bf {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the table

// 0 is "not given", and becomes null.
template <class Number>
Json given(Number number) {
  return number == 0 ? Json() : Json(number);
}

Json given_json(const bfstore::PlanRequest& request) {
  Json object;
  object["capacity"] = given(request.capacity);
  object["fpr"] = given(request.fpr);
  object["bits_per_key"] = given(request.bits_per_key);
  object["max_bytes"] = given(request.max_bytes);
  object["num_bits"] = given(request.num_bits);
  object["num_probes"] = given(request.num_probes);
  object["window_ms"] = given(request.window_ms);
  return object;
}

Json abilities_json(const bfstore::Capabilities& can) {
  return {{"add", can.add},       {"remove", can.remove},       {"grow", can.grow},
          {"expire", can.expire}, {"intersect", can.intersect}, {"merge", can.merge},
          {"fold", can.fold},     {"build", can.build}};
}

Json forecast_json(const Forecast& forecast, bool has_curve) {
  const bfstore::Plan& plan = forecast.plan;
  Json object;
  object["layout"] = plan.layout.name;
  object["capacity"] = plan.capacity;
  object["fpr"] = plan.fpr;
  object["bloom_fpr"] = plan.bloom_fpr;
  object["bits_per_key"] = plan.bits_per_key;
  object["num_bits"] = plan.num_bits;
  object["num_probes"] = plan.num_probes;
  object["body_bytes"] = plan.body_bytes;
  object["file_bytes"] = plan.file_bytes;
  object["hash_set_bytes"] = forecast.hash_set_bytes;
  object["fill_ratio"] = plan.fill_ratio;
  object["cache_lines"] = plan.cache_lines;
  object["page_faults"] = plan.page_faults;
  object["epochs"] = given(plan.layout.epochs);
  object["window_ms"] = given(plan.window_ms);
  object["epoch_ms"] = given(plan.epoch_ms);
  object["longest_found_ms"] = given(plan.longest_found_ms);
  object["turn_bytes"] = given(plan.turn_bytes);
  object["growth"] = given(plan.growth);
  object["grown"] = plan.grown.empty() ? Json() : Json::array();
  for (const bfstore::GrownPlan& grown : plan.grown)
    object["grown"].push_back(
        {{"capacity", grown.capacity}, {"body_bytes", grown.body_bytes}, {"file_bytes", grown.file_bytes}});
  object["can"] = abilities_json(plan.layout.can);
  object["curve"] = has_curve ? Json::array() : Json();
  if (!has_curve) return object;
  for (const tools::RatePoint& point : forecast.curve)
    object["curve"].push_back({{"keys", point.keys}, {"fpr", point.fpr}});
  return object;
}

}  // namespace

std::string json_text(const Forecasts& all) {
  Json object;
  object["schema"] = 2;  // in 1 every object had its curve
  object["given"] = given_json(all.given);
  object["key_bytes"] = all.key_bytes;
  object["layouts"] = Json::array();
  for (const Forecast& forecast : all.possible) object["layouts"].push_back(forecast_json(forecast, all.has_curves));
  object["impossible"] = Json::array();
  for (const Refusal& one : all.impossible)
    object["impossible"].push_back({{"layout", one.layout.name}, {"why", one.why}});
  return object.dump(2) + "\n";
}

}  // namespace bf
