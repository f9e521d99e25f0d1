# Calibrates backend mpi on two ranks of this machine, then simulates a training on the file that came out.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
function(expect_success)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "ended with ${status}: ${ARGN}\n${output}")
  endif()
endfunction()

expect_success(${LAUNCH} ${PROGRAM} calibrate --backend mpi --rounds 1 --max-size 1MiB --out ${WORK}/here.cfg)
file(READ ${WORK}/here.cfg cluster)
foreach(line "nodes = 1" "gpus_per_node = 2" "node_bandwidth = " "node_latency = " "gpu_flops = " "gpu_memory_bandwidth = "
        "kernel_launch = " "# Kernels beside collectives of another lane took " "# Not identified: messages on a busy link")
  string(FIND "${cluster}" "\n${line}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "there is no line '${line}' in:\n${cluster}")
  endif()
endforeach()
expect_success(${PROGRAM} run --cluster ${WORK}/here.cfg --workload quadratic --steps 2 --out ${WORK}/run)

# One message for a file that cannot be, from all ranks together.
execute_process(COMMAND ${LAUNCH} ${PROGRAM} calibrate --backend mpi --out ${WORK}/none/here.cfg
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX MATCHALL "trigram: [^\n]*none/here.cfg" messages "${output}")
list(LENGTH messages count)
if(NOT status EQUAL 2 OR NOT count EQUAL 1)
  message(FATAL_ERROR "an unwritable file ends with ${status} and ${count} messages:\n${output}")
endif()
