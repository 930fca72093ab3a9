/* part_loaded.c - MPI is in libbda-mpi, looked for where BDA_MPI says, beside this library, and where the system has its
 * libraries. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/part.h"

#define FILE_NAME "libbda-mpi.so.0"

/* Open MPI's own parts look for its symbols among those of the whole process. */
#define HOW (RTLD_NOW | RTLD_GLOBAL)

/* The file of that name beside `path`; NULL: it is not there. */
static void *open_beside(const char *path)
{
    char name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int length = slash ? snprintf(name, sizeof name, "%.*s/" FILE_NAME, (int)(slash - path), path) : -1;
    return length > 0 && length < PATH_MAX ? dlopen(name, HOW) : NULL;
}

static void *open_part(void)
{
    const char *asked = getenv("BDA_MPI");
    if (asked && asked[0])
        return dlopen(asked, HOW);
    Dl_info self;
    void *part = NULL;
    if (dladdr((const void *)bda_version, &self) && self.dli_fname) {
        char real[PATH_MAX];
        part = open_beside(self.dli_fname);
        if (!part && realpath(self.dli_fname, real))
            part = open_beside(real);
    }
    return part ? part : dlopen(FILE_NAME, HOW);
}

const mpi_part *part_find(bda_error *err)
{
    void *file = open_part(); /* stays: MPI cannot be loaded twice */
    if (!file) {
        const char *why = dlerror();
        err_set(err, BDA_FAILED, "MPI is needed, but " FILE_NAME " cannot be loaded (%.400s); BDA_MPI may name it",
                why ? why : "no reason was given");
        return NULL;
    }
    const mpi_part *(*get)(void);
    *(void **)&get = dlsym(file, "bda_mpi_part");
    const mpi_part *part = get ? get() : NULL;
    if (!part || strcmp(part->version, BDA_VERSION) != 0) {
        err_set(err, BDA_FAILED, FILE_NAME " is of version %.40s of the library, this is " BDA_VERSION,
                part ? part->version : "another kind, no");
        return NULL;
    }
    return part;
}

bool part_is_likely(void)
{
    int (*initialized)(int *), started = 0;
    *(void **)&initialized = dlsym(RTLD_DEFAULT, "MPI_Initialized");
    if (initialized)
        initialized(&started);
    return started;
}
