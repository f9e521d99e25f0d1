# Installs the build to a fresh prefix, then configures, builds and runs the downstream project against it.
# Needs BUILD, SOURCE (this folder), WORK (scratch), GENERATOR, COMPILER, BUILD_TYPE and, where there is one, LAUNCHER, a compiler cache.
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

# What is installed must stand alone: no path of the source or build tree, and no library by its place on this machine.
file(GLOB exported ${WORK}/prefix/lib*/cmake/trigram/*.cmake ${WORK}/prefix/lib*/*/cmake/trigram/*.cmake)
foreach(file IN LISTS exported)
  file(READ ${file} text)
  foreach(path ${BUILD} ${TREE} libsimgrid.so)
    string(FIND "${text}" "${path}" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}")
    endif()
  endforeach()
endforeach()

# The installed program begins products in the current folder, from the skeletons that are installed with it: all of the tree's.
file(GLOB_RECURSE skeletons RELATIVE ${TREE}/experiments ${TREE}/experiments/skeletons/*)
foreach(skeleton IN LISTS skeletons)
  if(NOT EXISTS ${WORK}/prefix/share/trigram/${skeleton})
    message(FATAL_ERROR "share/trigram/${skeleton} is not installed")
  endif()
endforeach()
file(MAKE_DIRECTORY ${WORK}/products)
foreach(product "algorithm shortened_average" "codec upper_bits")
  separate_arguments(product)
  run(${CMAKE_COMMAND} -E chdir ${WORK}/products ${WORK}/prefix/bin/trigram new ${product})
endforeach()
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DPRODUCTS=${WORK}/products -DHAS_GPU=${HAS_GPU})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/downstream)
if(NOT output MATCHES "^4 ranks, [0-9.]+ simulated seconds, half the step\n2 trials hold, and 7 sizes of the codec\n$" OR output MATCHES " 0\\.0* simulated")
  message(FATAL_ERROR "downstream said: ${output}")
endif()

if(HAS_GPU)
  run(${WORK}/build/downstream_gpu)
  if(NOT output STREQUAL "gpu\n")
    message(FATAL_ERROR "backends linked: ${output}")
  endif()
endif()

run(${WORK}/prefix/bin/trigram --version)
