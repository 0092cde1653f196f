// Whether the content that records name is what they say: for `journal verify`, and for an export,
// which leaves out what is damaged. Reads blobs, changes none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datum/base/content.hpp"
#include "datum/base/error.hpp"

namespace datum::program {

// What is wrong with the blobs of a store's folder, in words; empty: nothing is. Every blob that a
// record names is read whole, one part in memory at a time. One that a live record names has to be
// there; one that only archived records name may have been swept, and is judged where it is there.
[[nodiscard]] Result<std::string> find_blob_faults(const std::string& folder);

// The content of a store's folder without what is damaged: that is `not_found`, and noted once in
// words. Each content is read before it is given out.
class SoundContent final : public ContentSource {
 public:
  SoundContent(std::shared_ptr<const ContentSource> whole, std::string folder)
      : whole_(std::move(whole)), folder_(std::move(folder)) {}
  // For one thread.
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override;
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }

 private:
  std::shared_ptr<const ContentSource> whole_;
  std::string folder_;
  mutable std::vector<std::string> damaged_;
};

}  // namespace datum::program
