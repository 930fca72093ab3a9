/* faults.h - calls of the program's own code into the system that can be made to fail. wraps.c stands between them and
 * the C library (ld --wrap), so that neither MPI's nor the C library's own calls are met. */
#ifndef FAULT_FAULTS_H
#define FAULT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum fault_kind {
    FAULT_MEMORY, /* malloc and its kin, anonymous pages, zlib's and zstd's own */
    FAULT_OPEN,   /* open, fopen, opendir, dup: no descriptor is left */
    FAULT_LOOK,   /* stat, fstat, access, readlink */
    FAULT_READ,   /* read, pread, also below stdio */
    FAULT_WRITE,  /* write, pwrite */
    FAULT_SYNC,   /* fsync */
    FAULT_CLOSE,  /* close */
    FAULT_RENAME, /* rename */
    FAULT_MAP,    /* mmap of a file */
    FAULT_SHARE,  /* shm_open, posix_fallocate: shared memory is full */
    FAULT_KINDS
} fault_kind;

typedef enum fault_manner {
    FAULT_FAILS,       /* once */
    FAULT_KEEPS_ON,    /* from then on */
    FAULT_SHORT,       /* once, a read or write of one byte */
    FAULT_INTERRUPTED, /* once, EINTR */
    FAULT_MANNERS
} fault_manner;

extern const char *const fault_kind_names[FAULT_KINDS];
extern const char *const fault_manner_names[FAULT_MANNERS];

bool fault_has(fault_kind kind, fault_manner manner);

/* Counts from 1; call 0 counts alone. fault_off: no more counting. */
void fault_arm(fault_kind kind, fault_manner manner, uint64_t call);
void fault_off(void);
uint64_t fault_counted(fault_kind kind); /* since it was armed */

/* What wraps.c is told by main.c: where exit() of the program leads to. NULL: to the end of the process. */
extern void (*fault_exit)(int status);
void fault_run_atexit(void); /* what the program left for its end, where fault_exit is set */

#endif
