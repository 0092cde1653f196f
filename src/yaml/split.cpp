// Division of a file at `---` in column 0. That is safe before parsing: YAML gives such a line no
// other meaning anywhere, not even inside quotes or literal blocks.
#include <algorithm>

#include "datum/yaml/yaml.hpp"

namespace datum::yaml {

static bool begins_document(std::string_view line) {
  return line.starts_with("---") &&
         (line.size() == 3 || std::string_view(" \t\r\n").find(line[3]) != std::string_view::npos);
}

static bool is_blank_line(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] == '#';
}

namespace {
// Walks the lines of a file and cuts slices.
class Splitter {
 public:
  explicit Splitter(std::string_view bytes) : bytes_(bytes) {}

  std::vector<Slice> run() {
    while (at_ < bytes_.size()) take_line(bytes_.substr(at_, line_size()));
    finish_slice();
    name_margins();
    return std::move(slices_);
  }

 private:
  [[nodiscard]] std::size_t line_size() const {
    const auto end = bytes_.find('\n', at_);
    return (end == std::string_view::npos ? bytes_.size() : end + 1) - at_;
  }

  void take_line(std::string_view line) {
    if (begins_document(line)) {
      if (at_ > 0) finish_slice();
      begin_ = at_;
      first_line_ = line_;
      blank_ = is_blank_line(line.substr(3));
    } else if (blank_) {
      blank_ = is_blank_line(line);
    }
    at_ += line.size();
    ++line_;
  }

  void finish_slice() {
    slices_.push_back({bytes_.substr(begin_, at_ - begin_), first_line_, line_ - first_line_,
                       blank_ ? SliceContent::empty_document : SliceContent::document});
  }

  void name_margins() {
    auto& first = slices_.front();
    auto& last = slices_.back();
    if (slices_.size() > 1 && last.content == SliceContent::empty_document)
      last.content = SliceContent::margin;
    if (first.content != SliceContent::empty_document) return;
    const bool headless = !begins_document(first.bytes.substr(0, 4));
    const bool alone = slices_.size() == 1 ||
                       (headless && slices_.size() == 2 && last.content == SliceContent::margin);
    if (alone) {
      first.content = SliceContent::empty_file;
    } else if (headless) {
      first.content = SliceContent::margin;
    }
  }

  std::string_view bytes_;
  std::vector<Slice> slices_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t first_line_ = 1;
  bool blank_ = true;
};
}  // namespace

std::vector<Slice> split(std::string_view bytes) {
  return Splitter(bytes).run();
}

}  // namespace datum::yaml
