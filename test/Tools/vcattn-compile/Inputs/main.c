/* Calls the compiled function on a driver that takes notes. */
#include "prepare.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { N = 1000 };
  char *memory = aligned_alloc(256, 1 << 24);
  vcattn_memref_4 q = {
      memory, memory, 0, {1, 2, N, 128}, {2 * N * 128, N * 128, 128, 1}};
  vcattn_memref_4 codes = {
      memory, memory, 0, {1, 2, N, 128}, {2 * N * 128, N * 128, 128, 1}};
  vcattn_memref_3 scales = {memory, memory, 0, {1, 2, N}, {2 * N, N, 1}};
  int64_t size = prepare_workspace_size(&q, &codes, &scales);
  printf("workspace %lld\n", (long long)size);
  printf("status %d\n", prepare(&q, &codes, &scales, memory, size, NULL));
  int status = prepare(&q, &codes, &scales, memory, size - 1, NULL);
  printf("status %d: %s\n", status, vcattn_last_error());
  codes.sizes[2] = N - 1;
  status = prepare(&q, &codes, &scales, memory, size, NULL);
  printf("status %d: %s\n", status, vcattn_last_error());
  q.sizes[3] = 64;
  status = prepare(&q, &codes, &scales, memory, size, NULL);
  printf("status %d: %s\n", status, vcattn_last_error());
  q.sizes[3] = 128;
  size = prepare_workspace_size(&q, &codes, NULL);
  printf("workspace %lld: %s\n", (long long)size, vcattn_last_error());
  return 0;
}
