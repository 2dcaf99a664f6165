/*===- Driver.c - Load the CUDA driver, report errors -------------*- C -*-===*\
|*                                                                            *|
|* Part of the vcattn project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "Driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[1024];

const char *vcattn_last_error(void) { return last_error; }

void vcattn_fail(vcattn_call *call, enum vcattn_status status,
                 const char *format, ...) {
  if (call->status != VCATTN_SUCCESS)
    return;
  call->status = status;
  int used = snprintf(last_error, sizeof last_error, "%s: ", call->function);
  if (used < 0 || (size_t)used >= sizeof last_error)
    used = 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error + used, sizeof last_error - (size_t)used, format,
            arguments);
  va_end(arguments);
}

int vcattn_succeeded(vcattn_call *call, const vcattn_driver *driver,
                     CUresult result, const char *doing) {
  if (result == 0)
    return 1;
  const char *name = NULL, *text = NULL;
  driver->GetErrorName(result, &name);
  driver->GetErrorString(result, &text);
  vcattn_fail(call, VCATTN_ERROR_DRIVER, "%s failed: %s (%s)", doing,
              name ? name : "unknown error", text ? text : "no description");
  return 0;
}

/* Where a function's address goes, under which name the library has it, and
   whether older drivers may lack it. */
struct symbol {
  size_t offset;
  const char *name;
  int optional;
};

#define SYMBOL(field, name) {offsetof(vcattn_driver, field), name, 0}
#define OPTIONAL_SYMBOL(field, name) {offsetof(vcattn_driver, field), name, 1}

static const struct symbol symbols[] = {
    SYMBOL(Init, "cuInit"),
    SYMBOL(DeviceGetCount, "cuDeviceGetCount"),
    SYMBOL(DeviceGet, "cuDeviceGet"),
    SYMBOL(DeviceGetAttribute, "cuDeviceGetAttribute"),
    SYMBOL(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain"),
    SYMBOL(CtxGetCurrent, "cuCtxGetCurrent"),
    SYMBOL(CtxGetDevice, "cuCtxGetDevice"),
    SYMBOL(CtxPushCurrent, "cuCtxPushCurrent_v2"),
    SYMBOL(CtxPopCurrent, "cuCtxPopCurrent_v2"),
    SYMBOL(ModuleLoadDataEx, "cuModuleLoadDataEx"),
    SYMBOL(ModuleGetFunction, "cuModuleGetFunction"),
    SYMBOL(FuncSetAttribute, "cuFuncSetAttribute"),
    SYMBOL(LaunchKernel, "cuLaunchKernel"),
    SYMBOL(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2"),
    SYMBOL(GetErrorName, "cuGetErrorName"),
    SYMBOL(GetErrorString, "cuGetErrorString"),
    OPTIONAL_SYMBOL(CtxGetId, "cuCtxGetId"),
    OPTIONAL_SYMBOL(TensorMapEncodeTiled, "cuTensorMapEncodeTiled"),
};

/* Opens the library and looks up its functions. */
static int load(vcattn_call *call, vcattn_driver *driver) {
  const char *path = getenv("VCATTN_LIBCUDA");
  if (!path || !*path)
    path = "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    vcattn_fail(call, VCATTN_ERROR_NO_DRIVER,
                "no NVIDIA driver: %s not found (%s)", path, dlerror());
    return 0;
  }
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; ++i) {
    void *address = dlsym(library, symbols[i].name);
    if (!address && !symbols[i].optional) {
      vcattn_fail(call, VCATTN_ERROR_NO_DRIVER,
                  "the NVIDIA driver %s is too old: it has no %s", path,
                  symbols[i].name);
      dlclose(library);
      return 0;
    }
    memcpy((char *)driver + symbols[i].offset, &address, sizeof address);
  }
  CUresult result = driver->Init(0);
  if (result != 0) {
    const char *name = NULL;
    driver->GetErrorName(result, &name);
    vcattn_fail(call, VCATTN_ERROR_DEVICE, "no NVIDIA device: cuInit gives %s",
                name ? name : "an unknown error");
    dlclose(library);
    return 0;
  }
  return 1;
}

const vcattn_driver *vcattn_get_driver(vcattn_call *call) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static vcattn_driver driver;
  static _Atomic(const vcattn_driver *) ready;
  const vcattn_driver *loaded =
      atomic_load_explicit(&ready, memory_order_acquire);
  if (loaded)
    return loaded;
  /* A failure is not remembered: a driver may be installed meanwhile. */
  pthread_mutex_lock(&mutex);
  loaded = atomic_load_explicit(&ready, memory_order_relaxed);
  if (!loaded && load(call, &driver)) {
    loaded = &driver;
    atomic_store_explicit(&ready, loaded, memory_order_release);
  }
  pthread_mutex_unlock(&mutex);
  return loaded;
}
