/* replay.c - main for a fuzzing target that was built without libFuzzer: gives it every file of the directories, or files,
 * that are named. */
#include "fuzz/target.h"

#include <dirent.h>
#include <sys/stat.h>

static uint64_t given;

static void give_file(const char *path)
{
    size_t size;
    char *bytes = support_load(path, &size);
    uint8_t *exact = malloc(size + !size); /* no byte behind it */
    if (!exact)
        abort();
    memcpy(exact, bytes, size);
    free(bytes);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    given++;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void give_directory(const char *path)
{
    struct dirent **entry;
    const int count = scandir(path, &entry, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.')
            give_file(name);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
}

int main(int argc, char **argv)
{
    char **path = calloc((size_t)argc, sizeof *path);
    if (!path)
        abort();
    for (int i = 1; i < argc; i++)
        path[i] = realpath(argv[i], NULL); /* targets go to a directory of their own */
    for (int i = 1; i < argc; i++) {
        struct stat about;
        if (path[i] && stat(path[i], &about) == 0) /* not every target has found something */
            (S_ISDIR(about.st_mode) ? give_directory : give_file)(path[i]);
        free(path[i]);
    }
    free(path);
    printf("%llu inputs\n", (unsigned long long)given);
    return given == 0;
}
