// Knows which store a thread is inside of while LMDB works for it, so that a fault there can be
// told.
#pragma once

#include <string>

namespace datum::journal {

class StoreAtWork {
 public:
  StoreAtWork() = default;
  // The folder of the store's data.mdb.
  explicit StoreAtWork(const std::string& folder);
  // As a fault of the processor is told, for what LMDB finds impossible by itself. Returns where
  // `end_in_words` was not called.
  void end() const;

 private:
  std::string place_;
  std::string mark_;
};

// For as long as a thread is inside of LMDB, or of what reads its pages. They may nest.
class InsideStore {
 public:
  explicit InsideStore(const StoreAtWork& store);
  ~InsideStore();
  InsideStore(const InsideStore&) = delete;
  InsideStore& operator=(const InsideStore&) = delete;

 private:
  const StoreAtWork* before_;
};

}  // namespace datum::journal
