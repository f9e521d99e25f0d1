#include "backends/mpi/requests.hpp"

#include <algorithm>
#include <cstring>

#include "backends/mpi/check.hpp"
#include "backends/mpi/datatype.hpp"
#include "backends/mpi/deadline.hpp"
#include "backends/mpi/duplicate.hpp"
#include "backends/mpi/wait.hpp"
#include "core/error.hpp"
#include "core/real_data.hpp"

namespace trigram::mpi {
namespace {

constexpr int envelope_tag = 0;
constexpr int content_tag = 1;
int reply_tag(std::int64_t lane) { return 2 + static_cast<int>(lane); }

constexpr std::int64_t leaving = -1;  ///< in place of a lane

}  // namespace

/// What comes first of every request, as integers of 64 bits.
struct MpiRequests::Envelope {
  std::int64_t lane = leaving;
  std::int64_t subject = 0;
  std::int64_t dtype = 0, count = 0, modelled_count = 0;  ///< of the request's bytes
  std::int64_t reply_bytes = 0;
};

/// Messages that end together, and the memory that they need until then.
class MpiRequests::Flight {
 public:
  explicit Flight(MPI_Comm comm) : comm_(comm) {}
  ~Flight() {
    for (std::size_t i = 0; i < requests_.size(); ++i) abandon(requests_[i], parts_[i].receive);
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  void send(void* address, std::int64_t bytes, int to, int tag) { add({false, to, bytes}, address, tag); }
  void receive(void* address, std::int64_t bytes, int from, int tag) { add({true, from, bytes}, address, tag); }

  std::vector<MPI_Status> wait(const LaneContext& lane, const std::string& operation) {
    return wait_all(requests_, lane,
                    {[&] { return operation; }, [this](std::size_t i) { return describe(parts_[i]); }});
  }
  bool done() {
    int complete = 0;
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete, MPI_STATUSES_IGNORE), "a reply");
    return complete != 0;
  }

  OwnedBuffer memory;

 private:
  struct Part {
    bool receive;
    int peer;
    std::int64_t bytes;
  };

  void add(const Part& whole, void* address, int tag) {
    std::int64_t rest = whole.bytes;
    do {
      const Part part{whole.receive, whole.peer, std::min(rest, piece_bytes)};
      const auto bytes = static_cast<int>(part.bytes);
      MPI_Request request = MPI_REQUEST_NULL;
      check(part.receive ? MPI_Irecv(address, bytes, MPI_BYTE, part.peer, tag, comm_, &request)
                         : MPI_Isend(address, bytes, MPI_BYTE, part.peer, tag, comm_, &request),
            part.receive ? "MPI_Irecv" : "MPI_Isend");
      parts_.push_back(part);
      requests_.push_back(request);
      if (address != nullptr) address = static_cast<std::byte*>(address) + part.bytes;
      rest -= part.bytes;
    } while (rest > 0);
  }

  static std::string describe(const Part& part) {
    if (part.peer == MPI_ANY_SOURCE) return "a request of any rank";
    return std::string(part.receive ? "a receive" : "a send") + " of " + std::to_string(part.bytes) + " bytes " +
           (part.receive ? "from" : "to") + " rank " + std::to_string(part.peer);
  }

  MPI_Comm comm_;
  std::vector<Part> parts_;
  std::vector<MPI_Request> requests_;
};

/// A request on the serving lane.
class MpiRequests::Asked final : public Request {
 public:
  Asked(MpiRequests& requests, int from, const Envelope& envelope, OwnedBuffer bytes)
      : Request(from, static_cast<int>(envelope.subject), std::move(bytes)), requests_(requests), envelope_(envelope) {}

  void reply(Buffer with) override {
    require_data(with, "mpi");
    ensure(with.bytes() == envelope_.reply_bytes, "rank ", requests_.rank_, " replies ", with.bytes(),
           " bytes where rank ", asker, " expects ", envelope_.reply_bytes,
           " bytes; both ends of a message must agree");
    auto flight = std::make_unique<Flight>(requests_.comm_);
    flight->memory = requests_.context_(requests_.serving_lane_).device.allocate_unfilled(with.shape());
    if (with.bytes() > 0) std::memcpy(flight->memory.view().raw(), with.raw(), static_cast<std::size_t>(with.bytes()));
    flight->send(address_of(flight->memory), with.bytes(), asker, reply_tag(envelope_.lane));
    requests_.replies_.push_back(std::move(flight));
  }

 private:
  MpiRequests& requests_;
  Envelope envelope_;
};

MpiRequests::MpiRequests(ContextOfLane context, int serving_lane, double timeout, Failure& failure)
    : context_(std::move(context)), serving_lane_(serving_lane), timeout_(timeout), failure_(failure) {}

MpiRequests::~MpiRequests() {
  replies_.clear();
  // Others may still be waiting in it, and freeing is collective.
  if (comm_ != MPI_COMM_NULL && !failure_.raised()) MPI_Comm_free(&comm_);
}

void MpiRequests::open(bool serves) {
  ensure(comm_ == MPI_COMM_NULL, "ranks can begin to ask once in a run");
  comm_ = duplicate_of_world(timeout_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
  const Deadline deadline("MPI_Allgather", timeout_);
  const int own = serves ? 1 : 0;
  std::vector<int> all(static_cast<std::size_t>(ranks_));
  check(MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, comm_), "MPI_Allgather");
  for (int rank = 0; rank < ranks_; ++rank) {
    if (all[static_cast<std::size_t>(rank)] != 0) serving_.push_back(rank);
  }
}

void MpiRequests::ask(int lane, std::span<const Ask> asks) {
  const LaneContext& context = context_(lane);
  std::vector<Envelope> envelopes;
  for (const Ask& one : asks) {
    ensure(std::ranges::count(serving_, one.peer) == 1, "rank ", rank_, " asks rank ", one.peer,
           ", which serves nobody");
    require_data(one.request, "mpi");
    require_data(one.reply, "mpi");
    const Shape& shape = one.request.shape();
    envelopes.push_back({lane, one.subject, static_cast<std::int64_t>(shape.dtype), shape.count, shape.modelled_count,
                         one.reply.bytes()});
  }
  Flight there(comm_);
  {
    const std::lock_guard lock(sending_);
    for (std::size_t i = 0; i < asks.size(); ++i) {
      there.send(&envelopes[i], sizeof(Envelope), asks[i].peer, envelope_tag);
      there.send(address_of(asks[i].request), asks[i].request.bytes(), asks[i].peer, content_tag);
    }
  }
  there.wait(context, describe(context, "ask"));
  Flight back(comm_);
  for (const Ask& one : asks) back.receive(address_of(one.reply), one.reply.bytes(), one.peer, reply_tag(lane));
  back.wait(context, describe(context, "ask"));
}

std::unique_ptr<Request> MpiRequests::next() {
  const LaneContext& context = context_(serving_lane_);
  while (left_ < ranks_) {
    // While this rank trains, others may take their time; once it waits for them, one of them may have stopped.
    const LaneContext patient(context.name, ending_ ? timeout_ : 0, failure_, context.device);
    std::erase_if(replies_, [](const auto& reply) { return reply->done(); });
    Envelope envelope;
    Flight first(comm_);
    first.receive(&envelope, sizeof envelope, MPI_ANY_SOURCE, envelope_tag);
    const int from = first.wait(patient, describe(context, "serve")).front().MPI_SOURCE;
    if (envelope.lane == leaving) {
      ++left_;
      ending_ = ending_ || from == rank_;
      continue;
    }
    OwnedBuffer content = context.device.allocate_unfilled(
        {envelope.count, static_cast<DType>(envelope.dtype), envelope.modelled_count, false});
    Flight rest(comm_);
    rest.receive(address_of(content), content.view().bytes(), from, content_tag);
    rest.wait(context, describe(context, "serve"));
    return std::make_unique<Asked>(*this, from, envelope, std::move(content));
  }
  for (const auto& reply : replies_) reply->wait(context, describe(context, "serve"));
  replies_.clear();
  return nullptr;
}

void MpiRequests::leave() {
  const LaneContext& context = context_(0);
  Envelope goodbye;
  Flight flight(comm_);
  for (const int rank : serving_) flight.send(&goodbye, sizeof goodbye, rank, envelope_tag);
  flight.wait(context, describe(context, "leave"));
}

void MpiRequests::exclusively(const std::function<void()>& body) {
  const std::lock_guard lock(guard_);
  body();
}

std::string MpiRequests::describe(const LaneContext& lane, const char* operation) const {
  const std::string doing = lane.device.timeline().doing();
  return lane.place(rank_) + ": " + operation + (doing.empty() || doing == operation ? "" : " (in " + doing + ")");
}

}  // namespace trigram::mpi
