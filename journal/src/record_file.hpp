// Records that lie one behind the other in a file, read in place by where each begins: what an
// export and a copy have in common as Readers. Knows of no index, and neither header nor trailer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "export_format.hpp"

namespace datum::journal {

class RecordFile : public Reader {
 public:
  [[nodiscard]] Result<Head> read_head() override { return head_; }
  [[nodiscard]] Status scan(Seq from, const Visitor& visit) override;
  [[nodiscard]] Status scan_back(Seq from, const Visitor& visit) override;
  [[nodiscard]] Status read(Seq seq, const Visitor& visit) override;
  // Such a file holds neither metadata nor projections.
  [[nodiscard]] Result<std::optional<Bytes>> read_meta(std::string_view) override {
    return std::nullopt;
  }
  [[nodiscard]] Result<std::optional<Bytes>> read_projection(std::string_view) override {
    return std::nullopt;
  }
  [[nodiscard]] Result<Usage> read_usage() override {
    return Usage{source_.size(), source_.size()};
  }

 protected:
  // `name` is for messages: "the export".
  RecordFile(ExportSource source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}
  // What the file was found to hold: `offsets` has where each record from head.first on begins.
  void set_records(const Head& head, std::vector<std::uint64_t> offsets) {
    head_ = head;
    offsets_ = std::move(offsets);
  }
  [[nodiscard]] ExportSource& source() { return source_; }

 private:
  [[nodiscard]] Result<Visit> visit_at(Seq seq, const Visitor& visit);

  ExportSource source_;
  std::string name_;
  Head head_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace datum::journal
