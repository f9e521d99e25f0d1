// What a rank goes on from, as a checkpoint gives it: its own state, or what was handed over to it.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/step/bucket.hpp"
#include "core/step/state.hpp"
#include "core/training/training_options.hpp"

namespace trigram {

/// What the trainer's list of items calls the weights of a bucket.
std::string weights_item_of(const Bucket& bucket);

/// Of what was handed over: weights become those of the mean model of its members, so that `setup` makes anew from it
/// what nobody hands over.
void load_mean_weights(const CheckpointOptions::Bytes& handed, Device& device, std::span<const Bucket> buckets);

/// Gives what `rank` goes on from; nothing where training begins. Of other members, their mean weights are loaded.
CheckpointOptions::Bytes load_checkpoint(const CheckpointOptions& options, int rank, Device& device,
                                         std::span<const Bucket> buckets);

/// Reads it back, into all that `list` visits.
void read_checkpoint(const CheckpointOptions::Bytes& held, Device& device, const std::function<void(State&)>& list);

/// Where ranks fetch what they go on from: sends and receives as many bytes as `list` visits on the rank that has most.
/// Collective.
void fetch_state(const TakeUp& take_up, Worker& worker, const std::function<void(State&)>& list);

}  // namespace trigram
