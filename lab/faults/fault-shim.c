/*
 * A library for LD_PRELOAD that makes the disk fail to sync and moves the clocks. The file in
 * COLLOQUY_FAULT_CONTROL contains three 32-bit integers: the number of syncs that fail next (-1: every sync), and
 * the offsets of the wall clock and of the monotonic clock in seconds. Another process can change the file at any
 * time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int32_t *control;
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_gettimeofday)(struct timeval *, void *);
static int (*real_fdatasync)(int);
static int (*real_fsync)(int);

__attribute__((constructor)) static void open_control(void) {
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_gettimeofday = dlsym(RTLD_NEXT, "gettimeofday");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  const char *path = getenv("COLLOQUY_FAULT_CONTROL");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, 12, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) control = mapped;
}

static int sync_fails(void) {
  if (!control || control[0] == 0) return 0;
  if (control[0] > 0) __sync_fetch_and_sub(&control[0], 1);
  errno = EIO;
  return 1;
}

int fdatasync(int file) { return sync_fails() ? -1 : real_fdatasync(file); }
int fsync(int file) { return sync_fails() ? -1 : real_fsync(file); }

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = real_clock_gettime(clock, time);
  if (control && clock == CLOCK_REALTIME) time->tv_sec += control[1];
  if (control && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)) time->tv_sec += control[2];
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  int result = real_gettimeofday(time, zone);
  if (control && time) time->tv_sec += control[1];
  return result;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
