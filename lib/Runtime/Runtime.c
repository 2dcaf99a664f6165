/*===- Runtime.c - Calls, kernels and copies ----------------------*- C -*-===*\
|*                                                                            *|
|* Part of the vcattn project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Images are loaded once per context and stay loaded. A later launch walks a *|
|* short list without a lock and allocates nothing.                           *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "Driver.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Guards what is loaded; readers go without. */
static pthread_mutex_t load_mutex = PTHREAD_MUTEX_INITIALIZER;

/* A module or a kernel as loaded into one context. */
struct loaded {
  struct loaded *next;
  uint64_t context;
  void *handle; /* CUmodule or CUfunction */
  atomic_int shared_bytes;
};

static struct loaded *find(void *const *list, uint64_t context) {
  struct loaded *entry =
      __atomic_load_n((struct loaded *const *)list, __ATOMIC_ACQUIRE);
  while (entry && entry->context != context)
    entry = entry->next;
  return entry;
}

/* Adds an entry that others may read at once. Needs the mutex. */
static struct loaded *add(vcattn_call *call, void **list, void *handle) {
  struct loaded *entry = calloc(1, sizeof *entry);
  if (!entry) {
    vcattn_fail(call, VCATTN_ERROR_DRIVER, "out of host memory");
    return NULL;
  }
  entry->next = *(struct loaded **)list;
  entry->context = call->context;
  entry->handle = handle;
  __atomic_store_n((struct loaded **)list, entry, __ATOMIC_RELEASE);
  return entry;
}

/*===----------------------------------------------------------------------===*\
|* Calls                                                                      *|
\*===----------------------------------------------------------------------===*/

void vcattn_rt_begin(vcattn_call *call, int32_t abi, const char *function,
                     void *stream) {
  memset(call, 0, sizeof *call);
  call->function = function;
  call->stream = stream;
  if (abi != VCATTN_RUNTIME_ABI)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "compiled for version %d of the vcattn runtime, linked with "
                "version %d",
                (int)abi, VCATTN_RUNTIME_ABI);
}

void vcattn_rt_check_memref(vcattn_call *call, const char *name,
                            const void *descriptor, int32_t rank,
                            int32_t element_bytes, const int64_t *sizes,
                            const int64_t *strides, int64_t offset) {
  if (call->status != VCATTN_SUCCESS)
    return;
  if (!descriptor) {
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT, "%s: descriptor is null", name);
    return;
  }
  /* MLIR's descriptor: allocated, aligned, offset, sizes, strides. */
  const int64_t *fields = descriptor;
  uintptr_t data = (uintptr_t)fields[1];
  const int64_t *has_sizes = fields + 3, *has_strides = fields + 3 + rank;
  int empty = 0;
  for (int32_t i = 0; i < rank; ++i) {
    if (has_sizes[i] < 0)
      vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                  "%s: size of dimension %d is negative, %" PRId64, name,
                  (int)i, has_sizes[i]);
    if (sizes[i] != VCATTN_DYNAMIC && has_sizes[i] != sizes[i])
      vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                  "%s: size of dimension %d is %" PRId64 ", must be %" PRId64,
                  name, (int)i, has_sizes[i], sizes[i]);
    empty |= has_sizes[i] == 0;
  }
  for (int32_t i = 0; i < rank; ++i)
    /* The stride of a dimension of size 1 is never used. */
    if (strides[i] != VCATTN_DYNAMIC && has_strides[i] != strides[i] &&
        has_sizes[i] > 1)
      vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                  "%s: stride of dimension %d is %" PRId64
                  " elements, must be %" PRId64,
                  name, (int)i, has_strides[i], strides[i]);
  if (offset != VCATTN_DYNAMIC && fields[2] != offset)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "%s: offset is %" PRId64 " elements, must be %" PRId64, name,
                fields[2], offset);
  if (!data && !empty)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT, "%s: data pointer is null", name);
  if (data % (uintptr_t)element_bytes != 0)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "%s: data pointer is not a multiple of the element's %d bytes",
                name, (int)element_bytes);
}

void vcattn_rt_check_workspace(vcattn_call *call, const void *workspace,
                               int64_t size, int64_t needed) {
  if (call->status != VCATTN_SUCCESS || needed == 0)
    return;
  if (size < needed)
    vcattn_fail(call, VCATTN_ERROR_WORKSPACE,
                "workspace has %" PRId64 " bytes, needs %" PRId64, size,
                needed);
  else if (!workspace)
    vcattn_fail(call, VCATTN_ERROR_WORKSPACE, "workspace is null");
  else if ((uintptr_t)workspace % VCATTN_WORKSPACE_ALIGNMENT != 0)
    vcattn_fail(call, VCATTN_ERROR_WORKSPACE,
                "workspace is not aligned to %d bytes",
                VCATTN_WORKSPACE_ALIGNMENT);
}

void vcattn_rt_assert(vcattn_call *call, int32_t condition,
                      const char *message) {
  if (!condition)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT, "%s", message);
}

int32_t vcattn_rt_status(const vcattn_call *call) { return call->status; }

/* Device 0's primary context, retained once for the process. */
static CUcontext primary_context(vcattn_call *call,
                                 const vcattn_driver *driver) {
  static CUcontext primary;
  CUdevice device;
  int count = 0;
  pthread_mutex_lock(&load_mutex);
  if (!primary && vcattn_succeeded(call, driver, driver->DeviceGetCount(&count),
                                   "cuDeviceGetCount")) {
    if (count == 0)
      vcattn_fail(call, VCATTN_ERROR_DEVICE, "no NVIDIA device");
    else if (vcattn_succeeded(call, driver, driver->DeviceGet(&device, 0),
                              "cuDeviceGet"))
      vcattn_succeeded(call, driver,
                       driver->DevicePrimaryCtxRetain(&primary, device),
                       "cuDevicePrimaryCtxRetain");
  }
  CUcontext result = primary;
  pthread_mutex_unlock(&load_mutex);
  return result;
}

void vcattn_rt_enter(vcattn_call *call) {
  if (call->status != VCATTN_SUCCESS)
    return;
  const vcattn_driver *driver = vcattn_get_driver(call);
  if (!driver)
    return;
  CUcontext context = NULL;
  if (!vcattn_succeeded(call, driver, driver->CtxGetCurrent(&context),
                        "cuCtxGetCurrent"))
    return;
  if (!context) {
    context = primary_context(call, driver);
    if (!context ||
        !vcattn_succeeded(call, driver, driver->CtxPushCurrent(context),
                          "cuCtxPushCurrent"))
      return;
    call->restores_context = 1;
  }
  /* A context's address may be reused after its end, its number not. */
  unsigned long long id = (uintptr_t)context;
  if (driver->CtxGetId &&
      !vcattn_succeeded(call, driver, driver->CtxGetId(context, &id),
                        "cuCtxGetId"))
    return;
  call->context = id;
  CUdevice device;
  int major = 0, minor = 0;
  if (!vcattn_succeeded(call, driver, driver->CtxGetDevice(&device),
                        "cuCtxGetDevice") ||
      !vcattn_succeeded(
          call, driver,
          driver->DeviceGetAttribute(
              &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
          "cuDeviceGetAttribute") ||
      !vcattn_succeeded(
          call, driver,
          driver->DeviceGetAttribute(
              &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
          "cuDeviceGetAttribute"))
    return;
  call->device = device;
  call->capability = 10 * major + minor;
}

int32_t vcattn_rt_end(vcattn_call *call) {
  if (call->restores_context) {
    call->restores_context = 0;
    const vcattn_driver *driver = vcattn_get_driver(call);
    CUcontext popped;
    if (driver)
      vcattn_succeeded(call, driver, driver->CtxPopCurrent(&popped),
                       "cuCtxPopCurrent");
  }
  return call->status;
}

/*===----------------------------------------------------------------------===*\
|* Kernels                                                                    *|
\*===----------------------------------------------------------------------===*/

/* True if a device of `capability` runs code for `chip` ("sm_90a"): with suffix
   a only that very one, with f the same family from there on, without suffix
   cubins of the same major version and PTX of any later one. */
static int runs_on(const char *chip, int is_binary, int32_t capability) {
  if (strncmp(chip, "sm_", 3) != 0)
    return 1;
  char *suffix;
  int32_t wanted = (int32_t)strtol(chip + 3, &suffix, 10);
  if (*suffix == 'a')
    return capability == wanted;
  int same_major = capability / 10 == wanted / 10;
  return capability >= wanted && (same_major || (*suffix != 'f' && !is_binary));
}

/* The module's handle in the call's context. Needs the mutex. */
static CUmodule load_module(vcattn_call *call, const vcattn_driver *driver,
                            vcattn_module *module) {
  struct loaded *entry = find(&module->loaded, call->context);
  if (entry)
    return entry->handle;
  int is_binary = module->size >= 4 && memcmp(module->image, "\177ELF", 4) == 0;
  if (!runs_on(module->chip, is_binary, call->capability)) {
    vcattn_fail(call, VCATTN_ERROR_DEVICE,
                "kernel is for %s, device %d is sm_%d", module->chip,
                (int)call->device, (int)call->capability);
    return NULL;
  }
  char log[512] = "";
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  CUmodule handle = NULL;
  CUresult result =
      driver->ModuleLoadDataEx(&handle, module->image, 2, options, values);
  if (result != 0 && log[0]) {
    vcattn_fail(call, VCATTN_ERROR_DRIVER, "cannot load the kernels for %s: %s",
                module->chip, log);
    return NULL;
  }
  if (!vcattn_succeeded(call, driver, result, "cuModuleLoadDataEx"))
    return NULL;
  return add(call, &module->loaded, handle) ? handle : NULL;
}

/* The kernel in the call's context, with room for `shared_bytes`. */
static struct loaded *load_kernel(vcattn_call *call,
                                  const vcattn_driver *driver,
                                  vcattn_kernel *kernel, int32_t shared_bytes) {
  struct loaded *entry = find(&kernel->loaded, call->context);
  if (entry && atomic_load(&entry->shared_bytes) >= shared_bytes)
    return entry;
  pthread_mutex_lock(&load_mutex);
  entry = find(&kernel->loaded, call->context);
  if (!entry) {
    CUmodule module = load_module(call, driver, kernel->module);
    CUfunction function = NULL;
    if (module && vcattn_succeeded(call, driver,
                                   driver->ModuleGetFunction(&function, module,
                                                             kernel->name),
                                   kernel->name))
      entry = add(call, &kernel->loaded, function);
  }
  if (entry && atomic_load(&entry->shared_bytes) < shared_bytes) {
    if (vcattn_succeeded(call, driver,
                         driver->FuncSetAttribute(
                             entry->handle,
                             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             shared_bytes),
                         "setting the kernel's shared memory"))
      atomic_store(&entry->shared_bytes, shared_bytes);
    else
      entry = NULL;
  }
  pthread_mutex_unlock(&load_mutex);
  return entry;
}

/* Fails `call` if a dimension of a grid or block is outside [1, limit]. */
static void check_range(vcattn_call *call, const char *kernel, const char *what,
                        int64_t value, int64_t limit) {
  if (value < 1 || value > limit)
    vcattn_fail(call, VCATTN_ERROR_ARGUMENT,
                "%s: %s is %" PRId64 ", must be in [1, %" PRId64 "]", kernel,
                what, value, limit);
}

void vcattn_rt_launch(vcattn_call *call, vcattn_kernel *kernel, int64_t grid_x,
                      int64_t grid_y, int64_t grid_z, int64_t block_x,
                      int64_t block_y, int64_t block_z, int32_t shared_bytes,
                      void **parameters) {
  if (call->status != VCATTN_SUCCESS || grid_x == 0 || grid_y == 0 ||
      grid_z == 0)
    return;
  check_range(call, kernel->name, "grid size in x", grid_x, INT32_MAX);
  check_range(call, kernel->name, "grid size in y", grid_y, 65535);
  check_range(call, kernel->name, "grid size in z", grid_z, 65535);
  check_range(call, kernel->name, "block size in x", block_x, 1024);
  check_range(call, kernel->name, "block size in y", block_y, 1024);
  check_range(call, kernel->name, "block size in z", block_z, 64);
  const vcattn_driver *driver = vcattn_get_driver(call);
  if (call->status != VCATTN_SUCCESS)
    return;
  struct loaded *loaded = load_kernel(call, driver, kernel, shared_bytes);
  if (!loaded)
    return;
  vcattn_succeeded(call, driver,
                   driver->LaunchKernel(
                       loaded->handle, (unsigned)grid_x, (unsigned)grid_y,
                       (unsigned)grid_z, (unsigned)block_x, (unsigned)block_y,
                       (unsigned)block_z, (unsigned)shared_bytes, call->stream,
                       parameters, NULL),
                   kernel->name);
}

void vcattn_rt_copy(vcattn_call *call, void *target, const void *source,
                    int64_t bytes) {
  if (call->status != VCATTN_SUCCESS || bytes == 0 || target == source)
    return;
  const vcattn_driver *driver = vcattn_get_driver(call);
  if (driver)
    vcattn_succeeded(call, driver,
                     driver->MemcpyDtoDAsync((uintptr_t)target,
                                             (uintptr_t)source, (size_t)bytes,
                                             call->stream),
                     "cuMemcpyDtoDAsync");
}
