#include "server/features/footprint_json.hpp"

#include <nlohmann/json.hpp>

namespace stepzero::server {

using Json = nlohmann::ordered_json;

namespace {

class FootprintJson {
public:
  FootprintJson(const std::string& path, const DisplayPath& name) : path_(path), name_(name) {}

  static Json amount(const footprint::Amount& amount) {
    Json made = {{"bytes", amount.bytes}};
    if (!amount.formula.empty()) made["formula"] = amount.formula;
    if (amount.at_least) made["at_least"] = true;
    return made;
  }
  void place(Json& json, const footprint::Where& where) const {
    if (where.line == 0) return;
    if (where.path != path_) json["path"] = name_(where.path);
    json["line"] = where.line;
  }
  Json lines(const std::vector<footprint::Line>& lines) const {
    Json made = Json::array();
    for (const footprint::Line& line : lines) {
      Json one = {{"what", line.what}};
      place(one, line.where);
      one.update(amount(line.amount));
      if (line.count > 1) one["count"] = line.count;
      made.push_back(std::move(one));
    }
    return made;
  }
  Json model(const footprint::Model& model) const {
    Json made = Json::object();
    if (!model.name.empty()) made["name"] = model.name;
    place(made, model.where);
    made["trained"] = model.trained;
    made["gradients"] = amount(model.gradients);
    if (!model.how.empty())
      made["divided"] = {{"how", model.how}, {"units", model.units}, {"gathered", model.gathered.bytes},
          {"persistent", model.persistent.bytes}, {"buckets", model.buckets},
          {"in_buckets", model.in_buckets.bytes}};
    Json& modules = made["modules"] = Json::array();
    for (const footprint::Share& share : model.shares) {
      Json one = {
          {"path", share.path}, {"type", share.type}, {"numbers", share.numbers}, {"frozen", share.frozen}};
      if (!share.dtype.empty()) one["dtype"] = share.dtype;
      one["parameters"] = amount(share.parameters);
      one["buffers"] = amount(share.buffers);
      if (share.tied) one["tied"] = {{"with", share.tied_with}, {"numbers", share.tied}};
      modules.push_back(std::move(one));
    }
    return made;
  }
  Json step(const footprint::Step& step) const {
    Json made = Json::object();
    place(made, step.where);
    made["complete"] = step.complete;
    made["operations"] = step.operations;
    made["saved"] = amount(step.saved);
    made["lines"] = lines(step.lines);
    if (!step.advice.empty()) made["advice"] = step.advice;
    if (!step.unknown.empty()) made["unknown"] = step.unknown;
    if (!step.gaps.empty()) {
      Json& gaps = made["gaps"] = Json::array();
      for (const footprint::Line& gap : step.gaps) {
        Json one = {{"what", gap.what}};
        place(one, gap.where);
        gaps.push_back(std::move(one));
      }
    }
    made["flops"] = {{"forward", step.flops}, {"at_least", step.flops_at_least},
        {"backward", step.backward_flops}, {"backward_at_least", step.backward_flops_at_least}};
    Json& peak = made["peak"] = amount(step.peak);
    peak["moment"] = step.moment;
    place(peak, step.peak_where);
    peak["parts"] = lines(step.at_peak);
    if (step.microbatches)
      made["microbatches"] = {{"all", step.microbatches}, {"in_flight", step.microbatches_in_flight}};
    if (is_some(step.moved)) made["communicated"] = amount(step.moved);
    if (step.workers)
      made["in_flight"] = {{"workers", step.workers}, {"prefetch_factor", step.prefetched},
          {"pinned", step.pinned}, {"batch", amount(step.batch)}, {"all", amount(step.in_flight)}};
    return made;
  }

private:
  const std::string& path_;
  const DisplayPath& name_;
};

}  // namespace

Json footprint_json(const footprint::Footprint& footprint, const std::string& path, const DisplayPath& name) {
  const FootprintJson writer(path, name);
  Json made = {{"path", name(path)}, {"models", Json::array()}, {"optimizers", Json::array()},
      {"steps", Json::array()}};
  if (!footprint.launch.empty())
    made["launch"] = {{"name", footprint.launch}, {"processes", footprint.world}};
  for (const footprint::Model& model : footprint.models) made["models"].push_back(writer.model(model));
  for (const footprint::Stepper& optimizer : footprint.optimizers) {
    Json one = {{"type", optimizer.type}};
    writer.place(one, optimizer.where);
    one["state"] = FootprintJson::amount(optimizer.state);
    made["optimizers"].push_back(std::move(one));
  }
  for (const footprint::Step& step : footprint.steps) made["steps"].push_back(writer.step(step));
  if (!footprint.caches.empty()) made["caches"] = writer.lines(footprint.caches);
  for (const footprint::Unseen& each : footprint.unseen) {
    Json one = {{"name", each.name}};
    if (!each.made_by.empty()) one["made_by"] = each.made_by;
    writer.place(one, each.where);
    made["unseen"].push_back(std::move(one));
  }
  if (!footprint.open.empty()) made["open"] = footprint.open;
  if (!footprint.assumed.empty()) made["assumed"] = footprint.assumed;
  return made;
}

}  // namespace stepzero::server
