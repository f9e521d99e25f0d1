// MPI by its own names, found when it is needed, so that one binary runs where there is none, and with any that there
// is.
#pragma once

#include <string>

namespace trigram::mpi {

using MPI_Comm = struct OpaqueComm*;
using MPI_Datatype = struct OpaqueDatatype*;
using MPI_Errhandler = struct OpaqueErrhandler*;
using MPI_Group = struct OpaqueGroup*;
using MPI_Info = struct OpaqueInfo*;
using MPI_Op = struct OpaqueOp*;
using MPI_Request = struct OpaqueRequest*;

/// Of a message that has arrived, as the standard's binary interface (MPI 5.0, section 20) lays it out.
struct MPI_Status {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
  int internal[5];
};

// The functions that we call: name, and parameters as in the standard.
#define TRIGRAM_MPI_FUNCTIONS(F)                                                                                     \
  F(MPI_Abort, (MPI_Comm, int))                                                                                      \
  F(MPI_Allgather, (const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm))                             \
  F(MPI_Bcast, (void*, int, MPI_Datatype, int, MPI_Comm))                                                            \
  F(MPI_Cancel, (MPI_Request*))                                                                                      \
  F(MPI_Comm_dup, (MPI_Comm, MPI_Comm*))                                                                             \
  F(MPI_Comm_free, (MPI_Comm*))                                                                                      \
  F(MPI_Comm_group, (MPI_Comm, MPI_Group*))                                                                          \
  F(MPI_Comm_rank, (MPI_Comm, int*))                                                                                 \
  F(MPI_Comm_set_errhandler, (MPI_Comm, MPI_Errhandler))                                                             \
  F(MPI_Comm_size, (MPI_Comm, int*))                                                                                 \
  F(MPI_Comm_split, (MPI_Comm, int, int, MPI_Comm*))                                                                 \
  F(MPI_Comm_split_type, (MPI_Comm, int, int, MPI_Info, MPI_Comm*))                                                  \
  F(MPI_Error_class, (int, int*))                                                                                    \
  F(MPI_Error_string, (int, char*, int*))                                                                            \
  F(MPI_Finalize, ())                                                                                                \
  F(MPI_Finalized, (int*))                                                                                           \
  F(MPI_Get_count, (const MPI_Status*, MPI_Datatype, int*))                                                          \
  F(MPI_Get_library_version, (char*, int*))                                                                          \
  F(MPI_Group_free, (MPI_Group*))                                                                                    \
  F(MPI_Group_translate_ranks, (MPI_Group, int, const int*, MPI_Group, int*))                                        \
  F(MPI_Iallgather, (const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*))              \
  F(MPI_Iallgatherv,                                                                                                 \
    (const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, MPI_Comm, MPI_Request*))           \
  F(MPI_Iallreduce, (const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*))                         \
  F(MPI_Ialltoallv, (const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, \
                     MPI_Comm, MPI_Request*))                                                                        \
  F(MPI_Ibarrier, (MPI_Comm, MPI_Request*))                                                                          \
  F(MPI_Ibcast, (void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*))                                             \
  F(MPI_Igatherv,                                                                                                    \
    (const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, int, MPI_Comm, MPI_Request*))      \
  F(MPI_Init_thread, (int*, char***, int, int*))                                                                     \
  F(MPI_Initialized, (int*))                                                                                         \
  F(MPI_Iprobe, (int, int, MPI_Comm, int*, MPI_Status*))                                                             \
  F(MPI_Irecv, (void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))                                         \
  F(MPI_Ireduce, (const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Request*))                       \
  F(MPI_Ireduce_scatter, (const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*))             \
  F(MPI_Iscatterv,                                                                                                   \
    (const void*, const int*, const int*, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*))      \
  F(MPI_Isend, (const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))                                   \
  F(MPI_Query_thread, (int*))                                                                                        \
  F(MPI_Recv, (void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*))                                           \
  F(MPI_Request_free, (MPI_Request*))                                                                                \
  F(MPI_Request_get_status, (MPI_Request, int*, MPI_Status*))                                                        \
  F(MPI_Test, (MPI_Request*, int*, MPI_Status*))                                                                     \
  F(MPI_Testall, (int, MPI_Request*, int*, MPI_Status*))

// The values that libraries give what has one name in all of them: type, name, the value by the standard's binary
// interface, and the address or value in Open MPI.
#define TRIGRAM_MPI_VALUES(V)                                           \
  V(MPI_Comm, MPI_COMM_NULL, 0x100, "ompi_mpi_comm_null")               \
  V(MPI_Comm, MPI_COMM_WORLD, 0x101, "ompi_mpi_comm_world")             \
  V(MPI_Datatype, MPI_BYTE, 0x247, "ompi_mpi_byte")                     \
  V(MPI_Datatype, MPI_FLOAT, 0x210, "ompi_mpi_float")                   \
  V(MPI_Datatype, MPI_INT, 0x209, "ompi_mpi_int")                       \
  V(MPI_Datatype, MPI_UINT8_T, 0x241, "ompi_mpi_uint8_t")               \
  V(MPI_Datatype, MPI_INT32_T, 0x250, "ompi_mpi_int32_t")               \
  V(MPI_Datatype, MPI_INT64_T, 0x258, "ompi_mpi_int64_t")               \
  V(MPI_Errhandler, MPI_ERRORS_RETURN, 0x143, "ompi_mpi_errors_return") \
  V(MPI_Group, MPI_GROUP_NULL, 0x108, "ompi_mpi_group_null")            \
  V(MPI_Info, MPI_INFO_NULL, 0x130, "ompi_mpi_info_null")               \
  V(MPI_Op, MPI_MAX, 0x23, "ompi_mpi_op_max")                           \
  V(MPI_Op, MPI_MIN, 0x22, "ompi_mpi_op_min")                           \
  V(MPI_Op, MPI_SUM, 0x21, "ompi_mpi_op_sum")                           \
  V(MPI_Request, MPI_REQUEST_NULL, 0x180, "ompi_request_null")          \
  V(int, MPI_COMM_TYPE_SHARED, 221, 0)                                  \
  V(int, MPI_ERR_IN_STATUS, 19, 18)                                     \
  V(int, MPI_ERR_PENDING, 18, 19)                                       \
  V(int, MPI_THREAD_FUNNELED, 1024, 1)                                  \
  V(int, MPI_THREAD_MULTIPLE, 4096, 3)

/// One library's functions and values.
struct Library {
#define F(name, parameters) int(*name) parameters;  // NOLINT(bugprone-macro-parentheses)
  TRIGRAM_MPI_FUNCTIONS(F)
#undef F
#define V(type, name, standard, open_mpi) type name;  // NOLINT(bugprone-macro-parentheses)
  TRIGRAM_MPI_VALUES(V)
#undef V
};

/// The MPI of this process, from the first call on: what it has loaded already; else what TRIGRAM_MPI names; else the
/// one of pip beside us, the loader's own, and the one of the `mpirun` on PATH, first of the kind whose launcher
/// started us. Open MPI 3 to 5, and whoever has the binary interface of MPI 5.0, as MPICH from 5 on. Throws UsageError
/// where there is none.
const Library& library();

/// The file that it was loaded from.
std::string library_path();

/// A function that is looked up when it is called.
template <auto function>
struct Call {
  template <class... Arguments>
  int operator()(Arguments... arguments) const {
    return (library().*function)(arguments...);
  }
};
#define F(name, parameters) inline constexpr Call<&Library::name> name{};
TRIGRAM_MPI_FUNCTIONS(F)
#undef F

/// A value that is looked up when it is used.
template <class Type, auto value>
struct Value {
  operator Type() const { return library().*value; }  // NOLINT(google-explicit-constructor): stands for it
};
#define V(type, name, standard, open_mpi) inline constexpr Value<type, &Library::name> name{};
TRIGRAM_MPI_VALUES(V)
#undef V

// What all libraries agree on.
inline constexpr int MPI_SUCCESS = 0;
inline constexpr int MPI_ERR_TRUNCATE = 15;
inline constexpr int MPI_ANY_SOURCE = -1;
inline constexpr int MPI_THREAD_SINGLE = 0;
inline constexpr int MPI_MAX_ERROR_STRING = 512;
inline constexpr int MPI_MAX_LIBRARY_VERSION_STRING = 8192;
inline constexpr MPI_Status* MPI_STATUS_IGNORE = nullptr;
inline constexpr MPI_Status* MPI_STATUSES_IGNORE = nullptr;
inline void* const MPI_IN_PLACE = reinterpret_cast<void*>(1);  // NOLINT(performance-no-int-to-ptr): as they define it

}  // namespace trigram::mpi
