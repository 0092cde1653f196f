// A journal in memory, written event by event, and the contents that it names.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "datum/codec/plan.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/history/history.hpp"
#include "datum/journal/sim_log.hpp"

namespace datum::inspect::test {

class Contents final : public ContentSource {
 public:
  Digest add(Bytes bytes) {
    const auto digest = crypto::sha256(bytes);
    contents_[digest] = std::move(bytes);
    return digest;
  }
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    const auto found = contents_.find(digest);
    if (found == contents_.end()) return fail(ErrorCode::not_found, "not here");
    return std::unique_ptr<ByteSource>(std::make_unique<Stream>(found->second));
  }

 private:
  class Stream final : public ByteSource {
   public:
    explicit Stream(const Bytes& bytes) : bytes_(bytes) {}
    [[nodiscard]] Result<std::size_t> read(MutableByteView out) override {
      const auto count = std::min(out.size(), bytes_.size() - at_);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
      at_ += count;
      return count;
    }

   private:
    const Bytes& bytes_;
    std::size_t at_ = 0;
  };
  std::map<Digest, Bytes> contents_;
};

// Time goes on by a millisecond with each record.
class Told {
 public:
  Told() {
    journal::OpenOptions options;
    options.indexes = history::index_names();
    auto opened = journal::open_sim_log(std::make_shared<journal::SimDisk>(1), options);
    REQUIRE(opened);
    log_ = std::move(*opened);
    add(core::StoreCreated{Id128{{1}}, "/", "h1", "local", "1"});
  }
  Seq add(const core::Event& event) {
    ++seq_;
    constexpr std::int64_t kStep = 1'000'000;
    const auto at = static_cast<std::int64_t>(seq_) * kStep;
    auto encoded = history::encode(event, seq_, {WallNs{kBegin + at}, BootNs{at}, boot});
    journal::Batch batch;
    journal::Entry entry;
    entry.kind = encoded.kind;
    entry.stamp = encoded.stamp;
    entry.payload = encoded.payload;
    for (const auto& [index, key] : encoded.keys) entry.keys.push_back({index, key});
    batch.entries.push_back(entry);
    const auto appended = log_->append(batch);
    if (!appended) FAIL(appended.error().message());
    return *appended;
  }
  [[nodiscard]] journal::Reader& reader() { return *log_; }

  Id128 boot{{7}};
  Contents contents;

 private:
  static constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;
  std::unique_ptr<journal::Log> log_;
  Seq seq_ = 0;
};

inline model::Target path(const std::string& name) {
  return {model::TargetFamily::path, name};
}
inline model::Reference file(const std::string& name) {
  return {model::ResourceType::file, name};
}

}  // namespace datum::inspect::test
