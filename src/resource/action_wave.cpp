#include "action_wave.hpp"

#include "wave_run.hpp"

namespace datum::resource {

ActionWave::ActionWave(WaveBasis basis)
    : machine_(std::move(basis.machine)),
      declared_(std::move(basis.declared)),
      plan_(std::move(basis.plan)),
      ordinals_(std::move(basis.ordinals)),
      options_(std::move(basis.options)) {}

void ActionWave::crash_point(const char* name, std::uint32_t ordinal) const {
  if (options_.crash_point) options_.crash_point(name, ordinal);
}

std::int64_t ActionWave::now_ns() const {
  return options_.clock == nullptr ? 0 : options_.clock->boot_now().ns;
}

HalvesWave::HalvesWave(WaveBasis basis)
    : ActionWave(std::move(basis)),
      action_(plan_->actions[ordinals_.front()]),
      resource_(find_resource(*declared_, action_)),
      file_(machine_, declared_, plan_, ordinals_, options_) {}

Result<std::vector<Prepared>> HalvesWave::prepare(blobs::BlobStore& store) {
  return file_.prepare(store);
}

core::ActionResult HalvesWave::edit_file() {
  static_cast<void>(file_.act());
  return std::move(file_.finish().front());
}

core::Observation HalvesWave::look_once_more() const {
  return Observer(machine_, declared_).observe(*resource_);
}

void HalvesWave::note_remains(bool made, core::ActionResult& result) const {
  Observer observer(machine_, declared_);
  result.remains = resource_ == nullptr ? remains_of(observer.observe_leaving(action_.target, {}))
                                        : remains_of(observer.observe(*resource_));
  if (result.remains) result.remains->made = made && action_.kind == core::ActionKind::create;
}

void HalvesWave::add_error(bool changed, core::ActionResult& result) {
  result.failure = digest_failure(*error_);
  result.message = error_->message();
  result.changed = acted_ || changed;
  result.error = std::move(error_);
}

}  // namespace datum::resource
