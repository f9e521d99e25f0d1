#include "ptx/checks/byte_set.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace trigram::ptx {

namespace {

constexpr std::uint64_t page_bytes = BytesOfPage::bytes, word_bits = BytesOfPage::bits, all_bits = ~std::uint64_t{0};

/// Bytes of one page, from one to before another.
struct Range {
  std::uint64_t page, from, to;

  bool is_whole() const { return to - from == page_bytes; }
};

/// Calls body(range) for the part of each page; it returns whether to go on.
template <class Body>
void over_pages(std::uint64_t address, std::uint64_t bytes, Body body) {
  while (bytes > 0) {
    const std::uint64_t from = address % page_bytes, taken = std::min(bytes, page_bytes - from);
    if (!body(Range{address / page_bytes, from, from + taken})) return;
    address += taken;
    bytes -= taken;
  }
}

/// Calls body(word, mask) for each word that holds bytes of the range; it returns whether to go on.
template <class Body>
void over_words(const Range& range, Body body) {
  for (std::uint64_t at = range.from; at < range.to;) {
    const std::uint64_t bit = at % word_bits, taken = std::min(range.to - at, word_bits - bit);
    const std::uint64_t mask = (taken == word_bits ? all_bits : (std::uint64_t{1} << taken) - 1) << bit;
    if (!body(at / word_bits, mask)) return;
    at += taken;
  }
}

bool is_empty(const BytesOfPage& page) {
  return std::ranges::all_of(page.words, [](std::uint64_t word) { return word == 0; });
}

std::unique_ptr<BytesOfPage> whole_page() {
  auto page = std::make_unique<BytesOfPage>();
  page->words.fill(all_bits);
  return page;
}

std::uint64_t word_of(const std::unique_ptr<BytesOfPage>& page, std::uint64_t word) {
  return page == nullptr ? all_bits : page->words[word];
}

}  // namespace

void ByteSet::insert(std::uint64_t address, std::uint64_t bytes) {
  over_pages(address, bytes, [&](const Range& range) {
    if (range.is_whole()) {
      pages_[range.page] = nullptr;
      return true;
    }
    const auto [page, is_new] = pages_.try_emplace(range.page);
    if (is_new) page->second = std::make_unique<BytesOfPage>();
    if (page->second != nullptr) {
      over_words(range, [&](std::uint64_t word, std::uint64_t mask) {
        page->second->words[word] |= mask;
        return true;
      });
    }
    return true;
  });
}

void ByteSet::erase(std::uint64_t address, std::uint64_t bytes) {
  over_pages(address, bytes, [&](const Range& range) {
    const auto page = pages_.find(range.page);
    if (page == pages_.end()) return true;
    if (range.is_whole()) {
      pages_.erase(page);
      return true;
    }
    if (page->second == nullptr) page->second = whole_page();
    over_words(range, [&](std::uint64_t word, std::uint64_t mask) {
      page->second->words[word] &= ~mask;
      return true;
    });
    if (range.to == page_bytes && is_empty(*page->second)) pages_.erase(page);
    return true;
  });
}

void ByteSet::erase(const ByteSet& others) {
  for (const auto& [number, other] : others.pages_) {
    const auto found = pages_.find(number);
    if (found == pages_.end()) continue;
    Page& page = found->second;
    if (other != nullptr && page == nullptr) page = whole_page();
    for (std::uint64_t word = 0; other != nullptr && word < page->words.size(); ++word)
      page->words[word] &= ~other->words[word];
    if (other == nullptr || is_empty(*page)) pages_.erase(found);
  }
}

std::optional<std::uint64_t> ByteSet::first_in(std::uint64_t address, std::uint64_t bytes) const {
  std::optional<std::uint64_t> found;
  over_pages(address, bytes, [&](const Range& range) {
    const auto page = pages_.find(range.page);
    if (page == pages_.end()) return true;
    over_words(range, [&](std::uint64_t word, std::uint64_t mask) {
      const std::uint64_t in = word_of(page->second, word) & mask;
      if (in != 0)
        found = range.page * page_bytes + word * word_bits + static_cast<std::uint64_t>(std::countr_zero(in));
      return in == 0;
    });
    return !found.has_value();
  });
  return found;
}

std::optional<std::uint64_t> ByteSet::common(const ByteSet& other) const {
  if (other.pages_.size() < pages_.size()) return other.common(*this);
  for (const auto& [number, page] : pages_) {
    const auto beside = other.pages_.find(number);
    if (beside == other.pages_.end()) continue;
    for (std::uint64_t word = 0; word < page_bytes / word_bits; ++word) {
      const std::uint64_t both = word_of(page, word) & word_of(beside->second, word);
      if (both != 0) return number * page_bytes + word * word_bits + static_cast<std::uint64_t>(std::countr_zero(both));
    }
  }
  return std::nullopt;
}

}  // namespace trigram::ptx
