// CUDA's runtime for the host code of a program. Its kernels run on mmsim, in another process.
//
// The memory of the device is a file that both processes map. The first half has what cudaMalloc
// gives: the host can't access it at the addresses that the program sees, as with a card. The second
// half is for managed and pinned memory. A request goes through a socket, and has a reply.

#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// The list of mmsim/cudart/host/protocol.py.
enum Request : uint32_t { HELLO, MODULE, VARIABLE, FUNCTION, LAUNCH, ALLOCATION, FREED, HEAP };

struct Kernel {
  uint32_t module;
  std::string name;
  bool known = false;
  std::vector<uint32_t> sizes;  // of the parameters, in bytes
  int shared = 0, constant = 0, local = 0, most_threads = 1024, registers = 0;
  int most_dynamic = 48 << 10;
};

struct Block {
  size_t bytes;
  enum cudaMemoryType type;
};

struct Symbol {
  uintptr_t address;
  size_t bytes;
};

// What a call gives the device to do, at once or when a graph is launched.
using Work = std::function<cudaError_t()>;

struct CUgraph_st {
  std::vector<struct CUgraphNode_st *> nodes;
  bool capturing = false;
};

struct CUevent_st {
  double milliseconds;
  bool recorded;
  unsigned int flags;
  CUgraph_st *graph = nullptr;
};

struct CUstream_st {
  unsigned int flags;
  int priority;
  CUgraph_st *graph = nullptr;
};

struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};

namespace {

const uintptr_t DEVICE = uintptr_t(64) << 40;
const uintptr_t MANAGED = uintptr_t(65) << 40;
const size_t HALF = size_t(1) << 40;
const size_t PLACED = size_t(1) << 38;  // of the device's, for what the simulator places itself
const size_t ALIGNMENT = 256;

struct State {
  std::recursive_mutex mutex;
  int socket = -1, file = -1;
  char *window = nullptr;  // the whole file
  uintptr_t next[2] = {DEVICE, MANAGED};
  std::map<uintptr_t, Block> blocks;
  size_t used = 0, total = 0;
  std::map<const void *, Kernel *> kernels;
  std::set<const void *> handles;
  std::map<const void *, Symbol> symbols;
  uint32_t modules = 0;
  double clock = 0;  // milliseconds of all launches
  cudaError_t pending = cudaSuccess, broken = cudaSuccess;
  std::string name;
  int multiprocessors = 0, width = 0;
  std::map<int, size_t> limits = {{cudaLimitStackSize, 1024},
                                  {cudaLimitPrintfFifoSize, 1 << 20},
                                  {cudaLimitMallocHeapSize, 8 << 20},
                                  {cudaLimitMaxL2FetchGranularity, 64},
                                  {cudaLimitPersistingL2CacheSize, 0}};
  struct sigaction before;
};

State &state() {
  static State *only = new State;  // stays, for the destructors of the program
  return *only;
}

thread_local cudaError_t last = cudaSuccess;
thread_local std::vector<Configuration> configurations;

[[noreturn]] void stop(const char *why) {
  std::fprintf(stderr, "mmsim: %s\n", why);
  std::fflush(nullptr);
  _exit(1);
}

void say(const std::string &text) { std::fprintf(stderr, "mmsim: %s\n", text.c_str()); }

bool in_device(uintptr_t at) { return at >= DEVICE && at < DEVICE + HALF; }
bool in_managed(uintptr_t at) { return at >= MANAGED && at < MANAGED + HALF; }
bool in_arena(uintptr_t at) { return in_device(at) || in_managed(at); }

char *seen(const void *pointer) {
  uintptr_t at = uintptr_t(pointer);
  return in_device(at) ? state().window + (at - DEVICE) : (char *)pointer;
}

// The requests

class Message {
 public:
  template <typename T>
  Message &operator<<(T value) {
    const char *begin = reinterpret_cast<const char *>(&value);
    bytes.append(begin, sizeof value);
    return *this;
  }
  Message &add(const void *data, size_t size) {
    *this << uint32_t(size);
    bytes.append((const char *)data, size);
    return *this;
  }
  std::string bytes;
};

void transfer(char *data, size_t size, bool out) {
  while (size) {
    ssize_t part = out ? send(state().socket, data, size, MSG_NOSIGNAL)
                       : recv(state().socket, data, size, 0);
    if (part <= 0) {
      if (part < 0 && errno == EINTR) continue;
      stop("the simulator has ended");
    }
    data += part;
    size -= part;
  }
}

cudaError_t ask(Request request, const Message &message, std::string *reply = nullptr) {
  std::fflush(stdout);
  uint32_t head[2] = {request, uint32_t(message.bytes.size())};
  transfer((char *)head, sizeof head, true);
  transfer((char *)message.bytes.data(), message.bytes.size(), true);
  struct {
    int32_t error;
    uint32_t size;
    double clock;
  } answer;
  transfer((char *)&answer, sizeof answer, false);
  std::string rest(answer.size, '\0');
  transfer(&rest[0], rest.size(), false);
  state().clock = answer.clock;
  if (reply) *reply = rest;
  return cudaError_t(answer.error);
}

template <typename T>
T taken(const std::string &data, size_t &at) {
  T value;
  std::memcpy(&value, data.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

void on_fault(int number, siginfo_t *info, void *) {
  if (in_device(uintptr_t(info->si_addr))) {
    const char text[] =
        "mmsim: the host accesses memory of the device; copy it by cudaMemcpy, or allocate it by "
        "cudaMallocManaged\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(1);
  }
  sigaction(number, &state().before, nullptr);
}

void start() {
  State &own = state();
  if (own.window) return;
  const char *given = std::getenv("MMSIM_CUDART");
  if (!given || std::sscanf(given, "%d,%d", &own.socket, &own.file) != 2)
    stop("this library is for programs that run under: mmsim cuda program.cu");
  int flags = MAP_SHARED | MAP_NORESERVE;
  void *window = mmap(nullptr, 2 * HALF, PROT_READ | PROT_WRITE, flags, own.file, 0);
  if (window == MAP_FAILED) stop("the memory of the device can't be mapped");
  own.window = (char *)window;
  void *device = mmap((void *)DEVICE, HALF, PROT_NONE, flags | MAP_FIXED_NOREPLACE, own.file, 0);
  void *managed = mmap((void *)MANAGED, HALF, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE,
                       own.file, HALF);
  if (device != (void *)DEVICE || managed != (void *)MANAGED)
    stop("the addresses of the device's memory are taken");
  std::string reply;
  ask(HELLO, Message(), &reply);
  size_t at = 0;
  own.total = taken<uint64_t>(reply, at);
  own.multiprocessors = taken<int32_t>(reply, at);
  own.width = taken<int32_t>(reply, at);
  own.name = reply.substr(at);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &own.before);
}

// Errors

cudaError_t done(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

// A call that waits for the device: it returns the error of an earlier launch.
cudaError_t settled() {
  State &own = state();
  if (own.pending != cudaSuccess && own.broken == cudaSuccess) own.broken = own.pending;
  return own.broken;
}

#define API(name, ...) extern "C" cudaError_t CUDARTAPI name(__VA_ARGS__)
#define BEGIN                                                   \
  std::lock_guard<std::recursive_mutex> lock_(state().mutex);   \
  start();                                                      \
  if (state().broken != cudaSuccess) return done(state().broken)
#define WAIT                                                    \
  BEGIN;                                                        \
  if (settled() != cudaSuccess) return done(state().broken)

// The graph that records the work of a stream, if one does.
CUgraph_st *captured(cudaStream_t stream) {
  bool recorded = uintptr_t(stream) > 2 && stream->graph && stream->graph->capturing;
  return recorded ? stream->graph : nullptr;
}

// Memory

const Block *block_of(uintptr_t at, uintptr_t *begin = nullptr) {
  auto &blocks = state().blocks;
  auto found = blocks.upper_bound(at);
  if (found == blocks.begin()) return nullptr;
  --found;
  if (at > found->first + found->second.bytes) return nullptr;
  if (begin) *begin = found->first;
  return &found->second;
}

// The calls outside of this library that lead here: the file of each one's code, the place in it.
void add_calls(Message &message) {
  void *found[16];
  Dl_info own, one;
  dladdr((void *)state, &own);
  Message calls;
  uint32_t count = 0;
  for (int i = 0, all = backtrace(found, 16); i < all; i++) {
    uintptr_t at = uintptr_t(found[i]) - 1;  // in the call, not behind it
    if (!dladdr((void *)at, &one) || one.dli_fbase == own.dli_fbase) continue;
    bool moves = ((const ElfW(Ehdr) *)one.dli_fbase)->e_type == ET_DYN;
    calls.add(one.dli_fname, std::strlen(one.dli_fname));
    calls << uint64_t(moves ? at - uintptr_t(one.dli_fbase) : at);
    count++;
  }
  message << count;
  message.bytes += calls.bytes;
}

cudaError_t allocate(void **pointer, size_t bytes, enum cudaMemoryType type) {
  State &own = state();
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (!bytes) return cudaSuccess;
  uintptr_t &next = own.next[type != cudaMemoryTypeDevice];
  uintptr_t end = type == cudaMemoryTypeDevice ? DEVICE + HALF - PLACED : MANAGED + HALF;
  // One more byte: the end of an array is not the beginning of the next one.
  size_t step = (bytes / ALIGNMENT + 1) * ALIGNMENT;
  if (bytes > own.total - own.used || step > end - next) return cudaErrorMemoryAllocation;
  *pointer = (void *)next;
  own.blocks[next] = {bytes, type};
  own.used += bytes;
  next += step;
  Message message;
  message << uint64_t(uintptr_t(*pointer)) << uint64_t(bytes);
  add_calls(message);
  return ask(ALLOCATION, message);
}

// The work of having an allocation: after it was freed, at the same address again.
Work again(void *pointer, size_t bytes) {
  return [=]() -> cudaError_t {
    State &own = state();
    std::lock_guard<std::recursive_mutex> lock(own.mutex);
    if (!bytes || own.blocks.count(uintptr_t(pointer))) return cudaSuccess;
    own.blocks[uintptr_t(pointer)] = {bytes, cudaMemoryTypeDevice};
    own.used += bytes;
    Message message;
    message << uint64_t(uintptr_t(pointer)) << uint64_t(bytes);
    add_calls(message);
    return ask(ALLOCATION, message);
  };
}

cudaError_t release(void *pointer, const char *function) {
  State &own = state();
  if (!pointer) return cudaSuccess;
  auto found = own.blocks.find(uintptr_t(pointer));
  if (found == own.blocks.end()) {
    say(std::string(function) + " gets an address that no allocation has, or one freed before");
    return cudaErrorInvalidValue;
  }
  own.used -= found->second.bytes;
  size_t page = 4096, bytes = found->second.bytes;
  uintptr_t begin = uintptr_t(pointer);
  uintptr_t first = (begin + page - 1) / page * page, past = (begin + bytes) / page * page;
  if (past > first) {
    off_t at = in_device(first) ? first - DEVICE : HALF + (first - MANAGED);
    fallocate(own.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, past - first);
  }
  own.blocks.erase(found);
  Message message;
  message << uint64_t(begin);
  return ask(FREED, message);
}

// A range of memory of the device lies in an allocation; any of the host is taken for right.
bool in_block(const void *pointer, size_t bytes, const char *function) {
  uintptr_t at = uintptr_t(pointer), begin = 0;
  if (!in_arena(at)) return true;
  const Block *block = block_of(at, &begin);
  if (block && at + bytes <= begin + block->bytes) return true;
  say(std::string(function) + (block ? " goes beyond the end of an allocation of " +
                                           std::to_string(block->bytes) + " bytes"
                                     : " gets memory that is freed, or was never allocated"));
  return false;
}

bool fits(const void *to, const void *from, enum cudaMemcpyKind kind) {
  bool wrong = false;
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice)
    wrong |= !in_arena(uintptr_t(to));
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)
    wrong |= !in_arena(uintptr_t(from));
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
    wrong |= in_device(uintptr_t(from));
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
    wrong |= in_device(uintptr_t(to));
  if (wrong || kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    say("a copy has a direction that does not fit its addresses: one of them is of the host where "
        "one of the device is needed, or the other way round");
    return false;
  }
  return true;
}

cudaError_t copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, enum cudaMemcpyKind kind, const char *function) {
  if (!width || !height) return cudaSuccess;
  if (!to || !from) return cudaErrorInvalidValue;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  if (!fits(to, from, kind)) return cudaErrorInvalidValue;
  if (!in_block(to, to_pitch * (height - 1) + width, function) ||
      !in_block(from, from_pitch * (height - 1) + width, function))
    return cudaErrorInvalidValue;
  for (size_t row = 0; row < height; row++)
    std::memmove(seen(to) + row * to_pitch, seen(from) + row * from_pitch, width);
  return cudaSuccess;
}

cudaError_t fill(void *to, size_t pitch, int value, size_t width, size_t height,
                 const char *function) {
  if (!width || !height) return cudaSuccess;
  if (!in_arena(uintptr_t(to)) || width > pitch) return cudaErrorInvalidValue;
  if (!in_block(to, pitch * (height - 1) + width, function)) return cudaErrorInvalidValue;
  for (size_t row = 0; row < height; row++) std::memset(seen(to) + row * pitch, value, width);
  return cudaSuccess;
}

}  // namespace

static void record(CUgraph_st *graph, enum cudaGraphNodeType type, Work work);

// Do work of a stream, or record it.
static cudaError_t ordered(cudaStream_t stream, enum cudaGraphNodeType type, Work work) {
  {
    BEGIN;
    if (CUgraph_st *graph = captured(stream)) {
      record(graph, type, work);
      return cudaSuccess;
    }
  }
  return work();
}

API(cudaMalloc, void **pointer, size_t bytes) {
  WAIT;
  return done(allocate(pointer, bytes, cudaMemoryTypeDevice));
}
API(cudaMallocAsync, void **pointer, size_t bytes, cudaStream_t stream) {
  cudaError_t error = cudaMalloc(pointer, bytes);
  if (error != cudaSuccess) return error;
  return ordered(stream, cudaGraphNodeTypeMemAlloc, again(*pointer, bytes));
}
API(cudaMallocFromPoolAsync, void **pointer, size_t bytes, cudaMemPool_t, cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, stream);
}
API(cudaMallocManaged, void **pointer, size_t bytes, unsigned int) {
  WAIT;
  if (!bytes) return done(cudaErrorInvalidValue);
  return done(allocate(pointer, bytes, cudaMemoryTypeManaged));
}
API(cudaMallocHost, void **pointer, size_t bytes) {
  WAIT;
  return done(allocate(pointer, bytes, cudaMemoryTypeHost));
}
API(cudaHostAlloc, void **pointer, size_t bytes, unsigned int) {
  return cudaMallocHost(pointer, bytes);
}
API(cudaMallocPitch, void **pointer, size_t *pitch, size_t width, size_t height) {
  if (!pitch) return done(cudaErrorInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(pointer, *pitch * height);
}
API(cudaMalloc3D, struct cudaPitchedPtr *pitched, struct cudaExtent extent) {
  if (!pitched) return done(cudaErrorInvalidValue);
  pitched->xsize = extent.width;
  pitched->ysize = extent.height;
  return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width,
                         extent.height * extent.depth);
}
API(cudaFree, void *pointer) {
  WAIT;
  return done(release(pointer, "cudaFree"));
}
API(cudaFreeAsync, void *pointer, cudaStream_t stream) {
  return ordered(stream, cudaGraphNodeTypeMemFree, [=] {
    WAIT;
    return done(release(pointer, "cudaFreeAsync"));
  });
}
API(cudaFreeHost, void *pointer) {
  WAIT;
  return done(release(pointer, "cudaFreeHost"));
}
API(cudaHostRegister, void *, size_t, unsigned int) {
  BEGIN;
  return cudaSuccess;
}
API(cudaHostUnregister, void *) {
  BEGIN;
  return cudaSuccess;
}
API(cudaHostGetDevicePointer, void **device, void *host, unsigned int) {
  BEGIN;
  if (!in_managed(uintptr_t(host))) {
    say("kernels can access memory of the host only if cudaMallocHost or cudaHostAlloc gave it");
    return done(cudaErrorInvalidValue);
  }
  *device = host;
  return cudaSuccess;
}
API(cudaMemGetInfo, size_t *free, size_t *total) {
  BEGIN;
  *free = state().total - state().used;
  *total = state().total;
  return cudaSuccess;
}
API(cudaPointerGetAttributes, struct cudaPointerAttributes *found, const void *pointer) {
  BEGIN;
  *found = {};
  const Block *block = block_of(uintptr_t(pointer));
  found->type = block ? block->type : cudaMemoryTypeUnregistered;
  if (!block) return cudaSuccess;
  found->devicePointer = (void *)pointer;
  found->hostPointer = block->type == cudaMemoryTypeDevice ? nullptr : (void *)pointer;
  return cudaSuccess;
}

API(cudaMemcpy, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  WAIT;
  return done(copy(to, bytes, from, bytes, bytes, 1, kind, "cudaMemcpy"));
}
API(cudaMemcpyAsync, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
    cudaStream_t stream) {
  return ordered(stream, cudaGraphNodeTypeMemcpy, [=] {
    WAIT;
    return done(copy(to, bytes, from, bytes, bytes, 1, kind, "cudaMemcpyAsync"));
  });
}
API(cudaMemcpy2D, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, enum cudaMemcpyKind kind) {
  WAIT;
  return done(copy(to, to_pitch, from, from_pitch, width, height, kind, "cudaMemcpy2D"));
}
API(cudaMemcpy2DAsync, void *to, size_t to_pitch, const void *from, size_t from_pitch,
    size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return ordered(stream, cudaGraphNodeTypeMemcpy, [=] {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
  });
}
API(cudaMemcpy3D, const struct cudaMemcpy3DParms *asked) {
  WAIT;
  if (asked->srcArray || asked->dstArray) {
    say("cudaMemcpy3D with a cudaArray is not supported");
    return done(cudaErrorNotSupported);
  }
  const auto &from = asked->srcPtr, &to = asked->dstPtr;
  const auto &extent = asked->extent;
  for (size_t plane = 0; plane < extent.depth; plane++) {
    char *target = (char *)to.ptr + asked->dstPos.x +
                   (asked->dstPos.y + (asked->dstPos.z + plane) * to.ysize) * to.pitch;
    char *source = (char *)from.ptr + asked->srcPos.x +
                   (asked->srcPos.y + (asked->srcPos.z + plane) * from.ysize) * from.pitch;
    cudaError_t error = copy(target, to.pitch, source, from.pitch, extent.width, extent.height,
                             asked->kind, "cudaMemcpy3D");
    if (error != cudaSuccess) return done(error);
  }
  return cudaSuccess;
}
API(cudaMemcpy3DAsync, const struct cudaMemcpy3DParms *asked, cudaStream_t stream) {
  struct cudaMemcpy3DParms copied = *asked;
  return ordered(stream, cudaGraphNodeTypeMemcpy, [=] { return cudaMemcpy3D(&copied); });
}
API(cudaMemcpyPeer, void *to, int, const void *from, int, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
API(cudaMemcpyPeerAsync, void *to, int, const void *from, int, size_t bytes,
    cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
API(cudaMemset, void *to, int value, size_t bytes) {
  WAIT;
  return done(fill(to, bytes, value, bytes, 1, "cudaMemset"));
}
API(cudaMemsetAsync, void *to, int value, size_t bytes, cudaStream_t stream) {
  return ordered(stream, cudaGraphNodeTypeMemset, [=] {
    WAIT;
    return done(fill(to, bytes, value, bytes, 1, "cudaMemsetAsync"));
  });
}
API(cudaMemset2D, void *to, size_t pitch, int value, size_t width, size_t height) {
  WAIT;
  return done(fill(to, pitch, value, width, height, "cudaMemset2D"));
}
API(cudaMemset2DAsync, void *to, size_t pitch, int value, size_t width, size_t height,
    cudaStream_t stream) {
  return ordered(stream, cudaGraphNodeTypeMemset,
                 [=] { return cudaMemset2D(to, pitch, value, width, height); });
}
API(cudaMemset3D, struct cudaPitchedPtr to, int value, struct cudaExtent extent) {
  WAIT;
  for (size_t plane = 0; plane < extent.depth; plane++) {
    cudaError_t error = fill((char *)to.ptr + plane * to.ysize * to.pitch, to.pitch, value,
                             extent.width, extent.height, "cudaMemset3D");
    if (error != cudaSuccess) return done(error);
  }
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
API(cudaMemPrefetchAsync, const void *, size_t, struct cudaMemLocation, unsigned int,
    cudaStream_t) {
  BEGIN;
  return cudaSuccess;
}
API(cudaMemAdvise, const void *, size_t, enum cudaMemoryAdvise, struct cudaMemLocation) {
  BEGIN;
  return cudaSuccess;
}
#else
API(cudaMemPrefetchAsync, const void *, size_t, int, cudaStream_t) {
  BEGIN;
  return cudaSuccess;
}
API(cudaMemAdvise, const void *, size_t, enum cudaMemoryAdvise, int) {
  BEGIN;
  return cudaSuccess;
}
#endif
API(cudaStreamAttachMemAsync, cudaStream_t, void *, size_t, unsigned int) {
  BEGIN;
  return cudaSuccess;
}
API(cudaDeviceGetDefaultMemPool, cudaMemPool_t *pool, int) {
  BEGIN;
  *pool = (cudaMemPool_t)1;
  return cudaSuccess;
}
API(cudaDeviceGetMemPool, cudaMemPool_t *pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
API(cudaMemPoolSetAttribute, cudaMemPool_t, enum cudaMemPoolAttr, void *) {
  BEGIN;
  return cudaSuccess;
}
API(cudaMemPoolTrimTo, cudaMemPool_t, size_t) {
  BEGIN;
  return cudaSuccess;
}

// Variables of the device

static cudaError_t symbol_of(const void *symbol, size_t bytes, size_t offset, Symbol *found) {
  auto &symbols = state().symbols;
  auto at = symbols.find(symbol);
  if (at == symbols.end()) {
    say("a symbol is no __device__ or __constant__ variable; pass the variable itself, not its "
        "name as text");
    return cudaErrorInvalidSymbol;
  }
  *found = at->second;
  if (offset + bytes > found->bytes) {
    say("a copy goes beyond the end of a variable of " + std::to_string(found->bytes) + " bytes");
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

API(cudaGetSymbolAddress, void **pointer, const void *symbol) {
  BEGIN;
  Symbol found;
  cudaError_t error = symbol_of(symbol, 0, 0, &found);
  if (error == cudaSuccess) *pointer = (void *)found.address;
  return done(error);
}
API(cudaGetSymbolSize, size_t *bytes, const void *symbol) {
  BEGIN;
  Symbol found;
  cudaError_t error = symbol_of(symbol, 0, 0, &found);
  if (error == cudaSuccess) *bytes = found.bytes;
  return done(error);
}
API(cudaMemcpyToSymbol, const void *symbol, const void *from, size_t bytes, size_t offset,
    enum cudaMemcpyKind kind) {
  WAIT;
  Symbol found;
  cudaError_t error = symbol_of(symbol, bytes, offset, &found);
  if (error != cudaSuccess) return done(error);
  return cudaMemcpy((void *)(found.address + offset), from, bytes, kind);
}
API(cudaMemcpyFromSymbol, void *to, const void *symbol, size_t bytes, size_t offset,
    enum cudaMemcpyKind kind) {
  WAIT;
  Symbol found;
  cudaError_t error = symbol_of(symbol, bytes, offset, &found);
  if (error != cudaSuccess) return done(error);
  return cudaMemcpy(to, (void *)(found.address + offset), bytes, kind);
}
API(cudaMemcpyToSymbolAsync, const void *symbol, const void *from, size_t bytes, size_t offset,
    enum cudaMemcpyKind kind, cudaStream_t stream) {
  return ordered(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind); });
}
API(cudaMemcpyFromSymbolAsync, void *to, const void *symbol, size_t bytes, size_t offset,
    enum cudaMemcpyKind kind, cudaStream_t stream) {
  return ordered(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind); });
}

// Registration, which the compiler's code calls before main

struct Wrapper {
  int magic, version;
  const char *data;
  void *others;
};

extern "C" void **__cudaRegisterFatBinary(void *given) {
  std::lock_guard<std::recursive_mutex> lock(state().mutex);
  start();
  const char *data = ((Wrapper *)given)->data;
  uint16_t head;
  uint64_t size;
  std::memcpy(&head, data + 6, sizeof head);
  std::memcpy(&size, data + 8, sizeof size);
  Message message;
  message.bytes.assign(data, head + size);
  ask(MODULE, message);
  return (void **)new uint32_t(state().modules++);
}
extern "C" void __cudaRegisterFatBinaryEnd(void **) {}
extern "C" void __cudaUnregisterFatBinary(void **) {}
extern "C" char __cudaInitModule(void **) { return 1; }
extern "C" void __cudaRegisterFunction(void **module, const char *host, char *, const char *name,
                                       int, uint3 *, uint3 *, dim3 *, dim3 *, int *) {
  Kernel *kernel = new Kernel{*(uint32_t *)module, name};
  state().kernels[host] = kernel;
  state().handles.insert(kernel);
}
static uintptr_t variable(void **module, const char *name, size_t bytes,
                          enum cudaMemoryType type) {
  std::lock_guard<std::recursive_mutex> lock(state().mutex);
  void *pointer = nullptr;
  if (allocate(&pointer, bytes, type) != cudaSuccess)
    stop("the memory of the device is too small for the program's variables");
  Message message;
  message << *(uint32_t *)module << uint64_t(uintptr_t(pointer));
  message.add(name, std::strlen(name));
  ask(VARIABLE, message);
  return uintptr_t(pointer);
}
extern "C" void __cudaRegisterVar(void **module, char *host, char *, const char *name, int,
                                  size_t bytes, int, int) {
  state().symbols[host] = {variable(module, name, bytes, cudaMemoryTypeDevice), bytes};
}
extern "C" void __cudaRegisterManagedVar(void **module, void **host, char *, const char *name, int,
                                         size_t bytes, int, int) {
  *host = (void *)variable(module, name, bytes, cudaMemoryTypeManaged);
  state().symbols[host] = state().symbols[*host] = {uintptr_t(*host), bytes};
}

// Kernels

static Kernel *kernel_of(const void *function) {
  State &own = state();
  if (own.handles.count(function)) return (Kernel *)function;
  auto found = own.kernels.find(function);
  return found == own.kernels.end() ? nullptr : found->second;
}

static cudaError_t known(Kernel *kernel) {
  if (!kernel) {
    say("a launch names a function that is no kernel of this program");
    return cudaErrorInvalidDeviceFunction;
  }
  if (kernel->known) return cudaSuccess;
  Message message;
  message << kernel->module;
  message.add(kernel->name.data(), kernel->name.size());
  std::string reply;
  cudaError_t error = ask(FUNCTION, message, &reply);
  if (error != cudaSuccess) return error;
  size_t at = 0;
  uint32_t count = taken<uint32_t>(reply, at);
  for (uint32_t number = 0; number < count; number++)
    kernel->sizes.push_back(taken<uint32_t>(reply, at));
  for (int *one : {&kernel->shared, &kernel->constant, &kernel->local, &kernel->most_threads,
                   &kernel->registers})
    *one = taken<int32_t>(reply, at);
  kernel->known = true;
  return cudaSuccess;
}

static cudaError_t send_launch(const Message &message) {
  BEGIN;
  if (state().pending != cudaSuccess) return cudaSuccess;  // the device has stopped
  cudaError_t error = ask(LAUNCH, message);
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
      state().pending = error;  // of the kernel: a later call returns it
      return cudaSuccess;
    default:
      return done(error);
  }
}

// The work of a launch, with the values that its arguments have now.
static cudaError_t prepare(const void *function, dim3 grid, dim3 block, void **args,
                           size_t shared, bool cooperative, Work *work) {
  Kernel *kernel = kernel_of(function);
  cudaError_t error = known(kernel);
  if (error != cudaSuccess) return done(error);
  Message message;
  message << kernel->module;
  message.add(kernel->name.data(), kernel->name.size());
  message << grid.x << grid.y << grid.z << block.x << block.y << block.z << uint64_t(shared)
          << int32_t(kernel->most_dynamic) << int32_t(cooperative)
          << uint32_t(kernel->sizes.size());
  for (size_t number = 0; number < kernel->sizes.size(); number++)
    message.add(args[number], kernel->sizes[number]);
  *work = [message] { return send_launch(message); };
  return cudaSuccess;
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                          bool cooperative, cudaStream_t stream) {
  Work work;
  {
    BEGIN;
    if (state().pending != cudaSuccess) return cudaSuccess;
    cudaError_t error = prepare(function, grid, block, args, shared, cooperative, &work);
    if (error != cudaSuccess) return error;
  }
  return ordered(stream, cudaGraphNodeTypeKernel, work);
}

extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                struct CUstream_st *stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
API(__cudaPopCallConfiguration, dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (configurations.empty()) return done(cudaErrorMissingConfiguration);
  Configuration found = configurations.back();
  configurations.pop_back();
  *grid = found.grid;
  *block = found.block;
  *shared = found.shared;
  *(cudaStream_t *)stream = found.stream;
  return cudaSuccess;
}
extern "C" cudaError_t __cudaGetKernel(void **kernel, const void *function) {
  *kernel = kernel_of(function);
  return cudaSuccess;
}
extern "C" cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **args,
                                          size_t shared, cudaStream_t stream) {
  return launch(kernel, grid, block, args, shared, false, stream);
}
API(cudaLaunchKernel, const void *function, dim3 grid, dim3 block, void **args, size_t shared,
    cudaStream_t stream) {
  return launch(function, grid, block, args, shared, false, stream);
}
API(cudaLaunchCooperativeKernel, const void *function, dim3 grid, dim3 block, void **args,
    size_t shared, cudaStream_t stream) {
  return launch(function, grid, block, args, shared, true, stream);
}
API(cudaLaunchKernelExC, const cudaLaunchConfig_t *asked, const void *function, void **args) {
  bool cooperative = false;
  for (unsigned int number = 0; number < asked->numAttrs; number++) {
    const cudaLaunchAttribute &one = asked->attrs[number];
    if (one.id == cudaLaunchAttributeCooperative) cooperative = one.val.cooperative;
    if (one.id == cudaLaunchAttributeClusterDimension) {
      say("a launch with clusters of blocks is not supported");
      return done(cudaErrorNotSupported);
    }
  }
  return launch(function, asked->gridDim, asked->blockDim, args, asked->dynamicSmemBytes,
                cooperative, asked->stream);
}
API(cudaFuncGetAttributes, struct cudaFuncAttributes *found, const void *function) {
  BEGIN;
  Kernel *kernel = kernel_of(function);
  cudaError_t error = known(kernel);
  if (error != cudaSuccess) return done(error);
  *found = {};
  found->sharedSizeBytes = kernel->shared;
  found->constSizeBytes = kernel->constant;
  found->localSizeBytes = kernel->local;
  found->maxThreadsPerBlock = kernel->most_threads;
  found->numRegs = kernel->registers;
  found->ptxVersion = found->binaryVersion = 90;
  found->maxDynamicSharedSizeBytes = kernel->most_dynamic;
  return cudaSuccess;
}
API(cudaFuncSetAttribute, const void *function, enum cudaFuncAttribute attribute, int value) {
  BEGIN;
  Kernel *kernel = kernel_of(function);
  if (!kernel) return done(known(kernel));
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > 227 << 10) return done(cudaErrorInvalidValue);
  kernel->most_dynamic = value;
  return cudaSuccess;
}
API(cudaFuncSetCacheConfig, const void *, enum cudaFuncCache) {
  BEGIN;
  return cudaSuccess;
}
API(cudaFuncGetName, const char **name, const void *function) {
  BEGIN;
  Kernel *kernel = kernel_of(function);
  if (!kernel) return done(known(kernel));
  *name = kernel->name.c_str();
  return cudaSuccess;
}
API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *blocks, const void *function,
    int threads, size_t dynamic, unsigned int) {
  BEGIN;
  Kernel *kernel = kernel_of(function);
  cudaError_t error = known(kernel);
  if (error != cudaSuccess) return done(error);
  if (threads < 1) return done(cudaErrorInvalidValue);
  size_t shared = kernel->shared + dynamic + 1024, most = std::min(2048 / threads, 32);
  most = std::min(most, (size_t(228) << 10) / shared);
  *blocks = threads > kernel->most_threads ? 0 : int(most);
  return cudaSuccess;
}
API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, const void *function, int threads,
    size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic,
                                                                0);
}
API(cudaOccupancyAvailableDynamicSMemPerBlock, size_t *bytes, const void *, int blocks, int) {
  BEGIN;
  *bytes = (size_t(228) << 10) / std::max(blocks, 1) - 1024;
  return cudaSuccess;
}

// Streams and events: the device does all at once, in the order of the calls

API(cudaStreamCreateWithPriority, cudaStream_t *stream, unsigned int flags, int priority) {
  BEGIN;
  *stream = new CUstream_st{flags, priority};
  return cudaSuccess;
}
API(cudaStreamCreateWithFlags, cudaStream_t *stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
API(cudaStreamCreate, cudaStream_t *stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
API(cudaStreamDestroy, cudaStream_t stream) {
  WAIT;
  if (uintptr_t(stream) > 2) delete stream;
  return cudaSuccess;
}
API(cudaStreamSynchronize, cudaStream_t) {
  WAIT;
  return cudaSuccess;
}
API(cudaStreamQuery, cudaStream_t) {
  WAIT;
  return cudaSuccess;
}
API(cudaStreamWaitEvent, cudaStream_t stream, cudaEvent_t event, unsigned int) {
  BEGIN;
  if (uintptr_t(stream) > 2 && event && event->graph) stream->graph = event->graph;
  return cudaSuccess;
}
API(cudaStreamGetFlags, cudaStream_t stream, unsigned int *flags) {
  BEGIN;
  *flags = uintptr_t(stream) > 2 ? stream->flags : 0;
  return cudaSuccess;
}
API(cudaStreamGetPriority, cudaStream_t stream, int *priority) {
  BEGIN;
  *priority = uintptr_t(stream) > 2 ? stream->priority : 0;
  return cudaSuccess;
}
API(cudaStreamSetAttribute, cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue *) {
  BEGIN;
  return cudaSuccess;
}
API(cudaCtxResetPersistingL2Cache) {
  BEGIN;
  return cudaSuccess;
}
API(cudaStreamIsCapturing, cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  BEGIN;
  *status = captured(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
API(cudaThreadExchangeStreamCaptureMode, enum cudaStreamCaptureMode *) { return cudaSuccess; }
API(cudaDeviceGetStreamPriorityRange, int *least, int *greatest) {
  BEGIN;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return cudaSuccess;
}
API(cudaLaunchHostFunc, cudaStream_t stream, cudaHostFn_t function, void *data) {
  return ordered(stream, cudaGraphNodeTypeHost, [=] {
    {
      WAIT;
    }
    function(data);
    return cudaSuccess;
  });
}
API(cudaStreamAddCallback, cudaStream_t stream, cudaStreamCallback_t function, void *data,
    unsigned int) {
  {
    WAIT;
  }
  function(stream, cudaSuccess, data);
  return cudaSuccess;
}
API(cudaEventCreateWithFlags, cudaEvent_t *event, unsigned int flags) {
  BEGIN;
  *event = new CUevent_st{0, false, flags};
  return cudaSuccess;
}
API(cudaEventCreate, cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
API(cudaEventRecordWithFlags, cudaEvent_t event, cudaStream_t stream, unsigned int) {
  BEGIN;
  if (!event) return done(cudaErrorInvalidResourceHandle);
  event->graph = captured(stream);
  event->milliseconds = state().clock;
  event->recorded = true;
  return cudaSuccess;
}
API(cudaEventRecord, cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
API(cudaEventSynchronize, cudaEvent_t) {
  WAIT;
  return cudaSuccess;
}
API(cudaEventQuery, cudaEvent_t) {
  WAIT;
  return cudaSuccess;
}
API(cudaEventDestroy, cudaEvent_t event) {
  BEGIN;
  delete event;
  return cudaSuccess;
}
API(cudaEventElapsedTime, float *milliseconds, cudaEvent_t first, cudaEvent_t second) {
  WAIT;
  if (!first || !second || !first->recorded || !second->recorded ||
      (first->flags | second->flags) & cudaEventDisableTiming)
    return done(cudaErrorInvalidResourceHandle);
  *milliseconds = float(second->milliseconds - first->milliseconds);
  return cudaSuccess;
}

// The device

API(cudaDeviceSynchronize) {
  WAIT;
  return cudaSuccess;
}
API(cudaDeviceReset) {
  std::lock_guard<std::recursive_mutex> lock(state().mutex);
  start();
  state().pending = state().broken = last = cudaSuccess;
  std::vector<void *> own;
  std::set<uintptr_t> symbols;
  for (auto &one : state().symbols) symbols.insert(one.second.address);
  for (auto &one : state().blocks)
    if (!symbols.count(one.first)) own.push_back((void *)one.first);
  for (void *one : own) release(one, "cudaDeviceReset");
  return cudaSuccess;
}
API(cudaGetDeviceCount, int *count) {
  BEGIN;
  *count = 1;
  return cudaSuccess;
}
API(cudaGetDevice, int *device) {
  BEGIN;
  *device = 0;
  return cudaSuccess;
}
API(cudaSetDevice, int device) {
  BEGIN;
  return done(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
API(cudaInitDevice, int device, unsigned int, unsigned int) { return cudaSetDevice(device); }
API(cudaSetValidDevices, int *, int) {
  BEGIN;
  return cudaSuccess;
}
API(cudaChooseDevice, int *device, const struct cudaDeviceProp *) { return cudaGetDevice(device); }
API(cudaSetDeviceFlags, unsigned int) {
  BEGIN;
  return cudaSuccess;
}
API(cudaGetDeviceFlags, unsigned int *flags) {
  BEGIN;
  *flags = 0;
  return cudaSuccess;
}
API(cudaDeviceSetCacheConfig, enum cudaFuncCache) {
  BEGIN;
  return cudaSuccess;
}
// Of the limits only that of the heap has an effect.
API(cudaDeviceSetLimit, enum cudaLimit limit, size_t value) {
  BEGIN;
  if (!state().limits.count(limit)) return done(cudaErrorUnsupportedLimit);
  if (limit == cudaLimitMallocHeapSize) {
    cudaError_t error = ask(HEAP, Message() << uint64_t(value));
    if (error != cudaSuccess) return done(error);
  }
  state().limits[limit] = value;
  return cudaSuccess;
}
API(cudaDeviceGetLimit, size_t *value, enum cudaLimit limit) {
  BEGIN;
  if (!value) return done(cudaErrorInvalidValue);
  auto found = state().limits.find(limit);
  if (found == state().limits.end()) return done(cudaErrorUnsupportedLimit);
  *value = found->second;
  return cudaSuccess;
}
API(cudaDeviceCanAccessPeer, int *can, int, int) {
  BEGIN;
  *can = 0;
  return cudaSuccess;
}
API(cudaDeviceGetPCIBusId, char *text, int size, int) {
  BEGIN;
  std::snprintf(text, size, "0000:00:00.0");
  return cudaSuccess;
}
API(cudaRuntimeGetVersion, int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
API(cudaDriverGetVersion, int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
API(cudaProfilerStart) { return cudaSuccess; }
API(cudaProfilerStop) { return cudaSuccess; }

// The limits of compute capability 9.0; clocks and buses are an H200's.
API(cudaGetDeviceProperties, struct cudaDeviceProp *found, int device) {
  BEGIN;
  if (device) return done(cudaErrorInvalidDevice);
  State &own = state();
  std::memset(found, 0, sizeof *found);
  std::snprintf(found->name, sizeof found->name, "%s", own.name.c_str());
  found->totalGlobalMem = own.total;
  found->sharedMemPerBlock = 48 << 10;
  found->regsPerBlock = found->regsPerMultiprocessor = 65536;
  found->warpSize = own.width;
  found->memPitch = 2147483647;
  found->maxThreadsPerBlock = 1024;
  found->maxThreadsDim[0] = found->maxThreadsDim[1] = 1024;
  found->maxThreadsDim[2] = 64;
  found->maxGridSize[0] = 2147483647;
  found->maxGridSize[1] = found->maxGridSize[2] = 65535;
  found->totalConstMem = 65536;
  found->major = 9;
  found->minor = 0;
  found->textureAlignment = found->surfaceAlignment = 512;
  found->texturePitchAlignment = 32;
  found->multiProcessorCount = own.multiprocessors;
  found->canMapHostMemory = found->concurrentKernels = found->unifiedAddressing = 1;
  found->asyncEngineCount = 3;
  found->memoryBusWidth = 6144;
  found->l2CacheSize = 50 << 20;
  found->maxThreadsPerMultiProcessor = 2048;
  found->maxBlocksPerMultiProcessor = 32;
  found->streamPrioritiesSupported = found->globalL1CacheSupported = 1;
  found->localL1CacheSupported = 1;
  found->sharedMemPerMultiprocessor = 228 << 10;
  found->sharedMemPerBlockOptin = 227 << 10;
  found->reservedSharedMemPerBlock = 1024;
  found->managedMemory = found->concurrentManagedAccess = found->cooperativeLaunch = 1;
  found->memoryPoolsSupported = 1;
#if CUDART_VERSION < 13000
  found->clockRate = 1980000;
  found->memoryClockRate = 3201000;
#endif
  return cudaSuccess;
}
API(cudaDeviceGetAttribute, int *value, enum cudaDeviceAttr attribute, int device) {
  struct cudaDeviceProp all;
  cudaError_t error = cudaGetDeviceProperties(&all, device);
  if (error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = all.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = all.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = all.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = all.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = all.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = all.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = all.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = int(all.sharedMemPerBlock); break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = int(all.sharedMemPerBlockOptin); break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = int(all.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = int(all.reservedSharedMemPerBlock);
      break;
    case cudaDevAttrTotalConstantMemory: *value = int(all.totalConstMem); break;
    case cudaDevAttrWarpSize: *value = all.warpSize; break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = all.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = 1980000; break;
    case cudaDevAttrMemoryClockRate: *value = 3201000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = all.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = all.l2CacheSize; break;
    case cudaDevAttrMultiProcessorCount: *value = all.multiProcessorCount; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = all.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = all.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = all.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = all.minor; break;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrStreamPrioritiesSupported: *value = 1; break;
    case cudaDevAttrAsyncEngineCount: *value = all.asyncEngineCount; break;
    default: *value = 0;
  }
  return cudaSuccess;
}

extern "C" struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(
    int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// Names of errors

API(cudaGetLastError) {
  cudaError_t found = state().broken != cudaSuccess ? state().broken : last;
  last = cudaSuccess;
  return found;
}
API(cudaPeekAtLastError) { return state().broken != cudaSuccess ? state().broken : last; }

struct ErrorText {
  cudaError_t error;
  const char *name, *text;
};
#define ERROR(name, text) {name, #name, text}
static const ErrorText ERRORS[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorMissingConfiguration,
          "__global__ function call is not configured"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorNoKernelImageForDevice,
          "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorGraphExecUpdateFailure,
          "the graph update was not performed because it included changes which violated "
          "constraints specific to instantiated graph update"),
    ERROR(cudaErrorUnknown, "unknown error"),
};
static const ErrorText *text_of(cudaError_t error) {
  for (const ErrorText &one : ERRORS)
    if (one.error == error) return &one;
  return nullptr;
}
extern "C" const char *CUDARTAPI cudaGetErrorName(cudaError_t error) {
  const ErrorText *found = text_of(error);
  return found ? found->name : "unrecognized error code";
}
extern "C" const char *CUDARTAPI cudaGetErrorString(cudaError_t error) {
  const ErrorText *found = text_of(error);
  return found ? found->text : "unrecognized error code";
}

// All other functions of the runtime: a file that is written when this one is compiled calls it.
extern "C" int mmsim_refuse(const char *function) {
  say(std::string(function) + " is not supported");
  return done(cudaErrorNotSupported);
}
