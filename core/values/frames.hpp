// What frames leave of a network's bytes.
#pragma once

namespace trigram {

/// The share of Ethernet's bytes that is TCP's payload, where frames carry packets of `mtu` bytes and are full: of each
/// mtu + 38 bytes on the wire (14 + 4 of Ethernet's own, 8 of preamble, 12 of gap) mtu - 52 (20 of IP, 20 of TCP, 12 of
/// its time stamps). Of 0 bytes, which is no packet, all.
constexpr double payload_share(double mtu) {
  constexpr double of_ethernet = 38, of_tcp = 52;
  return mtu == 0 ? 1 : (mtu - of_tcp) / (mtu + of_ethernet);
}

}  // namespace trigram
