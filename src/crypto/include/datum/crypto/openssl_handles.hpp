// What both sides of OpenSSL need of its objects: that they are freed, and a certificate's bytes.
// For crypto and wire; nobody else knows the library.
#pragma once

#include "datum/base/bytes.hpp"

struct x509_st;

namespace datum::crypto {

// For std::unique_ptr: `Freed<X509_free>`.
template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

[[nodiscard]] Bytes to_der(const x509_st* certificate);

}  // namespace datum::crypto
