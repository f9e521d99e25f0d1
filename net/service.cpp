#include "net/service.hpp"

#include <algorithm>

#include "net/statistics.hpp"
#include "net/stream/own_thread.hpp"

namespace trigram::net {
namespace {

using namespace std::chrono_literals;

constexpr auto period = 20ms;

}  // namespace

Service& Service::instance() {
  static Service service;
  return service;
}

/// What communicators count in must outlive it.
Service::Service() { table_of_paths(); }

Service::~Service() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Service::add(std::shared_ptr<Serviced> one) {
  const std::lock_guard lock(mutex_);
  looked_after_.push_back(std::move(one));
  if (running_) return;
  if (thread_.joinable()) thread_.join();  // it has left its loop
  running_ = true;
  thread_ = own_thread([this] { run(); });
}

void Service::drain(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return looked_after_.empty(); });
}

void Service::write_metrics_to(const std::string& file) {
  const std::lock_guard lock(mutex_);
  metrics_ = file;
}

void Service::run() {
  auto metrics_due = Clock::now() + 1s;
  std::unique_lock lock(mutex_);
  while (!stopping_ && !looked_after_.empty()) {
    const std::string metrics = metrics_;
    changed_.wait_for(lock, period, [this] { return stopping_; });
    lock.unlock();
    const auto now = Clock::now();
    look_after(now);
    if (now >= metrics_due) {
      write_metrics(metrics);
      metrics_due = now + 1s;
    }
    lock.lock();
  }
  running_ = false;
  changed_.notify_all();
}

void Service::look_after(Clock::time_point now) {
  std::vector<std::shared_ptr<Serviced>> all;
  {
    const std::lock_guard lock(mutex_);
    all = looked_after_;
  }
  std::vector<std::shared_ptr<Serviced>> over;
  for (auto& one : all) {
    if (!one->tick(now)) over.push_back(one);
  }
  const std::lock_guard lock(mutex_);
  for (const auto& one : over) std::erase(looked_after_, one);
}

}  // namespace trigram::net
