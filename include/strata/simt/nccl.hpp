// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The part of NCCL that the library and its tests use, executed by the host back end. All ranks are in one process. A
// host thread has one rank or several. The functions have C++ linkage, like the functions of
// <strata/simt/runtime_api.hpp>.
//
// A call moves its bytes before it returns, or when its group ends. It waits until the ranks that take part have made
// their calls. During a capture, a stream only records the calls. A launch of the graph makes them. What NCCL leaves
// undefined, most often a hang, is an error here. If the calls of several ranks do not fit together, all these ranks
// get an error. A call whose own arguments are wrong is refused on its rank only.
#pragma once

#include <strata/simt/runtime_api.hpp>

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_SUFFIX ""
#define NCCL_VERSION_CODE 22809
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))

typedef struct ncclComm* ncclComm_t;
#define NCCL_COMM_NULL NULL
#define NCCL_UNIQUE_ID_BYTES 128
struct ncclUniqueId {
  char internal[NCCL_UNIQUE_ID_BYTES];
};

enum ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclNumResults = 8
};

enum ncclRedOp_t { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4, ncclNumOps = 5 };

enum ncclDataType_t {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes = 12
};

// ---- library, errors
ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);
// The text of the communicator's last error, or of the calling thread's if the communicator is null.
const char* ncclGetLastError(ncclComm_t comm);

// ---- communicators
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ranks, const int* devices);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);
ncclResult_t ncclCommCount(const ncclComm_t comm, int* ranks);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank);

// ---- groups
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();

// ---- communication
ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void* send, void* receive, size_t send_count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                        int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t receive_count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream);

namespace strata {
namespace simt {

/// Arms a failure. The calls that `rank` makes from now on are counted from 0. Call number `call` does nothing and
/// returns ncclSystemError. The calls of all other ranks of the communicator then end with ncclRemoteError. Counted are
/// calls of communication, and ncclGroupEnd once for each communicator that takes part. One failure is armed at a time;
/// a negative rank disarms it. STRATA_SIMT_NCCL_FAIL=rank,call arms one at the start.
void fail_nccl_call(int rank, long call);
/// True if the failure that was armed last has happened.
bool nccl_call_has_failed();
/// Sets how long a call may wait for other ranks. After that, the calls of all ranks of the communicator end with
/// ncclRemoteError. The default is 60 seconds, or STRATA_SIMT_NCCL_SECONDS. Returns the limit that it was before.
double limit_nccl_waits(double seconds);

}  // namespace simt
}  // namespace strata
