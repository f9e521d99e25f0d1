# The basis: what proves every change, as README.md here explains. Names are those that GoogleTest prints; what a test's
# basis leaves out runs in `./trigram test all`, by a test of its own with the label `whole`.

# Algorithms that together use everything of a backend: own and vendor all-reduces, encoded messages, neighbours,
# small matrices, parts of tensors, lanes in the background, questions between two ranks and to servers.
set(probes all_reduce bytegrad decentralized power_sgd zero_pp async_average ad_psgd parameter_server)

# probes_of(VARIABLE PLACE...): GoogleTest's patterns of their trials in places, as mpi_on_3.
function(probes_of variable)
  set(patterns)
  foreach(place IN LISTS ARGN)
    foreach(probe IN LISTS probes)
      list(APPEND patterns "Everywhere/EveryAlgorithm.*/${probe}_${place}")
    endforeach()
  endforeach()
  set(${variable} ${patterns} PARENT_SCOPE)
endfunction()
# What lanes, RPC and agreements do is what backends/process does on any transport: threads try all of it in worlds of all sizes, and a
# transport of processes these probes, on three ranks: messages and groups of several lanes, also where they overtake
# each other, results, and RPC of two lanes at once.
set(suites_of_runtime "Everywhere/Lanes*" "Everywhere/Services*" "Everywhere/Agreements*")
set(probed_of_runtime Lanes.LanesMatchTheirOwnMessagesAndRunBesideTheMainLane Lanes.NodesAndLeadersAreGroupsOfTheirOwn
                      Lanes.MessagesOfOneAreNotHandedToAnother Lanes.CollectCompletesOnceWithThePartsInRankOrder
                      Services.EverybodyAsksEverybodyAtOnceFromTwoLanes Services.RepliesToALaneAreNotHandedToAnother
                      Agreements.AreTheSameForAllRanksAtTheSameStep)
# runtime_on(VARIABLE RANKS): patterns of all of it.
function(runtime_on variable ranks)
  list(TRANSFORM suites_of_runtime APPEND "_on_${ranks}" OUTPUT_VARIABLE patterns)
  set(${variable} ${patterns} PARENT_SCOPE)
endfunction()
# probes_of_runtime(VARIABLE PLACE...): their patterns on backends of these names.
function(probes_of_runtime variable)
  set(patterns)
  foreach(place IN LISTS ARGN)
    foreach(probe IN LISTS probed_of_runtime)
      list(APPEND patterns "Everywhere/${probe}/${place}")
    endforeach()
  endforeach()
  set(${variable} ${patterns} PARENT_SCOPE)
endfunction()
set(trials_of_algorithms "Everywhere/EveryAlgorithm*" "Everywhere/EveryMutant*")
# trials_on(VARIABLE RANKS): patterns of all such trials; mutants are tried on three ranks and four.
function(trials_on variable ranks)
  set(patterns "Everywhere/EveryAlgorithm*_on_${ranks}")
  if(ranks GREATER 2)
    list(APPEND patterns "Everywhere/EveryMutant*_on_${ranks}")
  endif()
  set(${variable} ${patterns} PARENT_SCOPE)
endfunction()

# Between two edits: every algorithm on two nodes of two, all that core does on threads, and the simulator's closed forms.
set(labels_core quick)
set(shards_algorithms 8)
set(shards_core 2)
set(shards_experiments 3)
set(quick_conformance "Everywhere/EveryAlgorithm*_threads_on_4" "Everywhere/EveryMutant*_threads_on_4")
set(quick_sim "*ClosedForms*")

if(NOT TRIGRAM_SANITIZE)
  # Each algorithm on threads in worlds of all sizes; on the simulator where sizes differ, and where nodes are whole.
  foreach(size 1 2 4 7)
    list(APPEND whole_conformance "Everywhere/EveryAlgorithm*_sim_exact_on_${size}")
  endforeach()
  foreach(size 1 2 3 7 8)
    list(APPEND whole_conformance "Everywhere/EveryAlgorithm*_sim_fluid_on_${size}")
  endforeach()
  list(APPEND whole_conformance "ByNamesOfTheLiterature/*_sim_*" "Everywhere/EveryMutant*_sim_*")
else()
  # A sanitizer looks at memory and threads, of which worlds of another size or fidelity have no others.
  foreach(size 1 2)
    list(APPEND whole_conformance "Everywhere/EveryAlgorithm*_on_${size}")
  endforeach()
  list(APPEND whole_conformance "Everywhere/EveryAlgorithm*_sim_*" "ByNamesOfTheLiterature/*" "Everywhere/EveryMutant*")
  # A simulation has one thread, and its memory is that of communicators on one whole world. It is forked, which is dear there.
  if(TRIGRAM_SANITIZE MATCHES thread)
    list(APPEND whole_conformance "Everywhere/EveryAlgorithm*_on_3")
    list(APPEND whole_core "Everywhere/*/sim_*")
  else()
    probes_of(probing_conformance sim_fluid_on_4)
    foreach(size 1 2 3)
      list(APPEND whole_core "Everywhere/*/sim_*_on_${size}")
    endforeach()
  endif()
  foreach(size 5 7 8)
    list(APPEND whole_core "Everywhere/*_on_${size}")
  endforeach()
  # What these compare are figures, of trainings whose code the others run too.
  list(APPEND whole_algorithms "*/MeshLines*" "*/OptionTable*" "*/HierarchyOf*" "EveryOther/Entered*" "*/LinearRecurrence*"
                               "*/SimulatedTime*" "*/RealData*" "Heterogeneity*")
  # Statistics over many draws, of codecs whose memory smaller frames show.
  set(whole_kernels "CodecErrors.*" "CodecRules.TopKOfManyElements")
  # Searches, calibrations and studies that start the program many times, which others start too; of studies, one of each kind stays.
  set(whole_experiments "Tune.*" "*/RefusedSearch*" "Checkpointed.*" "Calibrated*" "StudyCells.*" "StudyFailures.*" "StudyFolder.*")
  set(probing_experiments "StudyCells.OfAFile*" "StudyCells.ThatFail*" "StudyFailures.OfAChoice*" "StudyFolder.Killed*" "StudyFolder.OfAMap*")
  # Large worlds find nothing there that small ones do not, and take most of the time.
  set(never_conformance "*EveryAlgorithm*_on_7" "Everywhere/EveryAlgorithm*_on_8")
endif()
