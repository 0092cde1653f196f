// A scratch folder for stores, and what several tests do with one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datum/journal/log.hpp"

namespace datum::journal::test {

// For walks that must end by themselves: a machine that is busy with other things makes no test
// fail, and one that hangs ends with the limit of the whole program.
inline constexpr std::int64_t kNoHurryMs = 3'600'000;

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

[[nodiscard]] OpenOptions options_for(OpenMode mode);
// A closed store of `count` records with keys, metadata and a projection; a few lie on pages of
// their own.
void make_store(const std::string& folder, Seq count);
// Payload and keys of record `seq` in such a store.
[[nodiscard]] std::string payload_of(Seq seq);
// Everything that a reader says of its records, as one text; empty and `error` set on failure.
[[nodiscard]] std::string transcript(Reader& reader, std::string& error);

[[nodiscard]] std::vector<char> read_file(const std::string& path);
void write_file(const std::string& path, const std::vector<char>& bytes);
// Changes bytes in place, as damage does: same inode, same length.
void patch_file(const std::string& path, std::uint64_t offset, const std::vector<char>& bytes);

}  // namespace datum::journal::test
