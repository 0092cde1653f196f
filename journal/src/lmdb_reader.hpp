// Reading through an Environment, for the log and for readers beside it: chunks of short
// transactions, each record verified as it is passed on.
#pragma once

#include <memory>
#include <utility>

#include "datum/journal/log.hpp"
#include "lmdb_env.hpp"

namespace datum::journal {

[[nodiscard]] Status scan_records(Environment& env, Seq from, const Visitor& visit);
[[nodiscard]] Status scan_records_back(Environment& env, Seq from, const Visitor& visit);
[[nodiscard]] Status read_record(Environment& env, Seq seq, const Visitor& visit);
[[nodiscard]] Result<std::vector<Seq>> find_records(Environment& env, std::string_view index,
                                                    std::string_view key, Seq from,
                                                    std::size_t limit);
[[nodiscard]] Result<std::optional<Bytes>> read_checked(Environment& env, MDB_dbi dbi,
                                                        std::string_view name);
// Envelope and chain from `from` on; every index entry against the records' keys.
[[nodiscard]] Result<Verification> verify_records(Environment& env, Seq from);

// `Base` is Reader or Log. Counts the visits that run, so that the log can refuse to write inside
// one.
template <class Base>
class LmdbReading : public Base {
 public:
  explicit LmdbReading(std::shared_ptr<Environment> env) : env_(std::move(env)) {}

  [[nodiscard]] Result<Head> read_head() override { return env_->read_head(); }
  [[nodiscard]] Status scan(Seq from, const Visitor& visit) override {
    const Visiting visiting(visits_);
    return scan_records(*env_, from, visit);
  }
  [[nodiscard]] Status scan_back(Seq from, const Visitor& visit) override {
    const Visiting visiting(visits_);
    return scan_records_back(*env_, from, visit);
  }
  [[nodiscard]] Result<std::vector<Seq>> find(std::string_view index, std::string_view key,
                                              Seq from, std::size_t limit) override {
    return find_records(*env_, index, key, from, limit);
  }
  [[nodiscard]] Status read(Seq seq, const Visitor& visit) override {
    const Visiting visiting(visits_);
    return read_record(*env_, seq, visit);
  }
  [[nodiscard]] Result<std::optional<Bytes>> read_meta(std::string_view name) override {
    return read_checked(*env_, env_->meta(), name);
  }
  [[nodiscard]] Result<std::optional<Bytes>> read_projection(std::string_view name) override {
    return read_checked(*env_, env_->projections(), name);
  }
  [[nodiscard]] Result<Usage> read_usage() override { return env_->read_usage(); }
  [[nodiscard]] Id128 store_id() const override { return env_->store_id(); }
  [[nodiscard]] std::uint32_t level() const override { return env_->level(); }
  void release_memory() override { env_->release_memory(); }

 protected:
  [[nodiscard]] bool is_visiting() const { return visits_ > 0; }
  std::shared_ptr<Environment> env_;

 private:
  struct Visiting {
    explicit Visiting(int& count) : count_(count) { ++count_; }
    ~Visiting() { --count_; }
    Visiting(const Visiting&) = delete;
    Visiting& operator=(const Visiting&) = delete;
    int& count_;
  };
  int visits_ = 0;
};

}  // namespace datum::journal
