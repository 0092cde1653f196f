// What goes on over a link once it stands: heartbeats, answers, records up, declarations and their
// content down.
#include <algorithm>
#include <utility>

#include "datum/codec/manifest_file.hpp"
#include "datum/control/orders.hpp"
#include "datum/link/backoff.hpp"
#include "link_session.hpp"

namespace datum::control {
namespace {

// Asked for and not sent yet: two requests of the size that a node sends.
constexpr std::size_t kMaxWanted = 128;
// A manifest of 10,000 resources takes some megabytes.
constexpr std::size_t kMaxManifest = std::size_t{256} << 20U;
// An order that was not answered goes out again: the node could not record it then.
constexpr int kOrderAgainBeats = 5;
// A status may change with every pass; a pass of a busy machine comes every ten seconds.
constexpr std::int64_t kRecordEveryNs = 10 * kNsPerSecond;

}  // namespace

Result<std::set<Digest>> named_by(const ContentSource& content, const Digest& manifest) {
  DATUM_ASSIGN(const auto source, content.open(manifest));
  Bytes bytes, buffer(core::kMaxLinkPart);
  for (;;) {
    DATUM_ASSIGN(const auto count, source->read(buffer));
    if (count == 0) break;
    if (bytes.size() + count > kMaxManifest)
      return fail(ErrorCode::limit_exceeded, "a manifest of more than 256 MiB");
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
  }
  DATUM_ASSIGN(const auto read, codec::decode_manifest(bytes));
  std::set<Digest> named{manifest};
  for (const auto& resource : read->resources)
    if (const auto* each = resource->content();
        each != nullptr && !each->has_bytes && each->secret.empty())
      named.insert(each->digest);
  return named;
}

void LinkSession::take_linked(core::LinkMessage message) {
  server_.heard(node_);
  spoke_at_ = server_.loop_.clock().boot_now();
  watch_silence();
  auto& ledger = server_.ledger_;
  if (const auto* heartbeat = std::get_if<core::Heartbeat>(&message)) {
    auto news = hear(ledger.state(), node_, *heartbeat);
    if (!news.empty() && !may_record()) news.clear();
    if (const auto queued = ledger.append(news); !queued)
      return close(core::LinkCause::busy, queued.error().message());
    if (++beats_ >= kOrderAgainBeats) ordered_ = 0;
    return when_durable([this] {
      tell_kept();
      send_order();
    });
  }
  if (const auto* answer = std::get_if<core::OrderAnswer>(&message)) {
    const auto known = take_order_answer(ledger.state(), node_, *answer);
    if (const auto queued = ledger.append(known); !queued)
      return close(core::LinkCause::busy, queued.error().message());
    if (!known.empty() && !answer->carried_out)
      server_.tell_(Weight::warning, node_ + " does not carry out an order: " + answer->reason);
    return;
  }
  if (const auto* answer = std::get_if<core::DeclarationAnswer>(&message)) {
    if (const auto queued = ledger.append(take_answer(ledger.state(), node_, *answer)); !queued)
      return close(core::LinkCause::busy, queued.error().message());
    return;
  }
  if (auto* part = std::get_if<core::JournalPart>(&message)) return take_part(std::move(*part));
  if (auto* wanted = std::get_if<core::BlobRequest>(&message))
    return take_wanted(std::move(*wanted));
  out_of_turn(message);
}

void LinkSession::tell_kept() {
  send(core::JournalKept{kept_, link::return_within(server_.ledger_.state().nodes.size())});
}

// A node whose reports change all the time fills no journal: what is passed over now is in its next
// heartbeat too.
bool LinkSession::may_record() {
  const auto at = now();
  while (records_left_ < kMaxRecords && at.ns - refilled_.ns >= kRecordEveryNs) {
    ++records_left_;
    refilled_.ns += kRecordEveryNs;
  }
  if (records_left_ == kMaxRecords) refilled_ = at;
  if (records_left_ == 0) return false;
  --records_left_;
  return true;
}

void LinkSession::take_part(core::JournalPart part) {
  if (part.store != store_)
    return close(core::LinkCause::protocol, "records of another store than the one in the hello");
  if (++parts_ > kMaxParts)
    return close(core::LinkCause::protocol, "more parts of a journal at once than eight");
  server_.journals_.append(
      node_, std::move(part), [weak = weak_from_this()](Result<journal::Head> kept) {
        const auto self = weak.lock();
        if (!self || self->stage_ != Stage::linked) return;
        --self->parts_;
        if (kept) {
          self->kept_ = kept->seq;
          return self->tell_kept();
        }
        const auto& error = kept.error();
        self->server_.tell_(Weight::error, self->node_ + ": its journal: " + error.message());
        if (error.code() == ErrorCode::conflict)
          return self->close(core::LinkCause::clone, error.message());
        if (error.code() == ErrorCode::corrupt)
          return self->close(core::LinkCause::protocol, error.message());
        self->close(core::LinkCause::busy, "the control plane cannot keep this node's journal");
      });
}

void LinkSession::send_newest() {
  const auto* node = server_.ledger_.state().find_node(node_);
  if (stage_ != Stage::linked || node == nullptr || node->newest <= sent_) return;
  sent_ = node->newest;
  manifest_ = node->manifest;
  named_.clear();
  send(core::PushedDeclaration{node->declaration});
}

void LinkSession::send_order() {
  const auto* node = server_.ledger_.state().find_node(node_);
  if (stage_ != Stage::linked || node == nullptr) return;
  const auto* order = unanswered_order(*node);
  if (order == nullptr || order->number <= ordered_) return;
  ordered_ = order->number;
  beats_ = 0;
  send(core::PushedOrder{order->order});
}

void LinkSession::take_wanted(core::BlobRequest wanted) {
  if (wanted_.size() + wanted.wanted.size() > kMaxWanted)
    return close(core::LinkCause::protocol, "more blobs asked for at once than 128");
  wanted_.insert(wanted_.end(), wanted.wanted.begin(), wanted.wanted.end());
  send_blobs();
}

// Reads off the loop, one piece at a time, as fast as the node takes them.
void LinkSession::send_blobs() {
  if (stage_ != Stage::linked || is_reading_ || !connection_->has_room()) return;
  if (!sending_ && wanted_.empty()) return;
  is_reading_ = true;
  auto job = std::make_shared<BlobJob>();
  job->content = &server_.content_;
  job->manifest = manifest_;
  job->named = std::move(named_);
  if (sending_) {
    job->sending = std::move(sending_);
    sending_.reset();
  } else {
    job->blob = wanted_.front();
    wanted_.pop_front();
  }
  server_.loop_.pool().submit([job] { job->run(); },
                              [weak = weak_from_this(), job] {
                                if (const auto self = weak.lock()) self->send_read(*job);
                              });
}

void LinkSession::send_read(BlobJob& job) {
  is_reading_ = false;
  if (job.manifest == manifest_) named_ = std::move(job.named);
  if (!job.problem.empty())
    server_.tell_(Weight::warning, node_ + ": a blob was not sent: " + job.problem);
  send(job.part);
  if (job.sending && job.sending->offset < job.sending->size) sending_ = std::move(job.sending);
  send_blobs();
}

void BlobJob::run() {
  if (!sending) {
    if (auto begun = begin(); !begun) {
      problem = begun.error().message();
      part.blob = blob;
      return;
    }
  }
  part.blob = sending->blob;
  part.offset = sending->offset;
  part.size = sending->size;
  part.bytes.resize(std::min<std::uint64_t>(core::kMaxLinkPart, sending->size - sending->offset));
  std::size_t at = 0;
  while (at < part.bytes.size()) {
    const auto count = sending->bytes->read(MutableByteView(part.bytes).subspan(at));
    if (!count || *count == 0) {
      problem = count ? "it is shorter than it was" : count.error().message();
      part = core::BlobPart{sending->blob, 0, 0, {}};
      sending.reset();
      return;
    }
    at += *count;
  }
  sending->offset += at;
}

// Only what the node's own declaration names: a digest that it heard of somewhere opens nothing.
Status BlobJob::begin() {
  if (named.empty()) {
    DATUM_ASSIGN(named, named_by(*content, manifest));
  }
  if (named.count(blob) == 0)
    return fail(ErrorCode::refused, blob.hex() + " is not of its newest declaration");
  BlobSending begun;
  begun.blob = blob;
  DATUM_ASSIGN(const auto counted, content->open(blob));
  Bytes buffer(core::kMaxLinkPart);
  for (;;) {
    DATUM_ASSIGN(const auto count, counted->read(buffer));
    if (count == 0) break;
    begun.size += count;
  }
  DATUM_ASSIGN(begun.bytes, content->open(blob));
  sending = std::move(begun);
  return {};
}

}  // namespace datum::control
