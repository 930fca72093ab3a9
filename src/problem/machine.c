/* machine.c - see machine.h. */
#include "problem/machine.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[MACHINE_UNITS] = {
    [UNIT_CELL] = "ns_per_cell",
    [UNIT_CLASS_CELL] = "ns_per_class_cell",
    [UNIT_PAIR] = "ns_per_pair",
    [UNIT_DENSE] = "ns_per_dense",
    [UNIT_LOSS] = "ns_per_loss",
    [UNIT_STEP] = "ns_per_step",
    [UNIT_EXPONENTIAL] = "ns_per_exponential",
    [UNIT_WIDE_CELL] = "ns_per_wide_cell",
    [UNIT_WIDE_CLASS] = "ns_per_wide_class",
    [UNIT_WIDE_ROW] = "ns_per_wide_row",
    [UNIT_MESSAGE] = "ns_per_message",
    [UNIT_BYTE] = "ns_per_byte",
};

const bda_machine machine_usual = {{
    [UNIT_CELL] = 1 / 0.4,
    [UNIT_CLASS_CELL] = 1 / 1.6,
    [UNIT_PAIR] = 1,
    [UNIT_DENSE] = 1 / 6.0,
    [UNIT_LOSS] = 20,
    [UNIT_STEP] = 10,
    [UNIT_EXPONENTIAL] = 50,
    [UNIT_WIDE_CELL] = 1.2,
    [UNIT_WIDE_CLASS] = 0.18,
    [UNIT_WIDE_ROW] = 4,
}};

const char *bda_speed_name(int k)
{
    return k >= 0 && k < MACHINE_UNITS ? names[k] : NULL;
}

double machine_time(const bda_machine *m, const work *w)
{
    double sum = 0;
    for (int k = 0; k < MACHINE_UNITS; k++)
        sum += w->count[k] * m->speed[k];
    return sum;
}

static int find_unit(const char *name)
{
    for (int k = 0; k < MACHINE_UNITS; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

/* "name<blank>number" */
static bool read_line(const char *path, int number, char *line, bda_machine *m, bda_error *err)
{
    char *rest = NULL, *end = NULL;
    const char *name = strtok_r(line, " \t\r\n", &rest), *value = strtok_r(NULL, " \t\r\n", &rest);
    if (!name || name[0] == '#')
        return true;
    const int unit = find_unit(name);
    const double ns = value ? strtod(value, &end) : NAN;
    if (unit < 0)
        return err_set(err, BDA_FAILED,
                       "--machine: '%.400s' line %d begins with '%.60s', which is no speed of a machine; `bda bench "
                       "--calibrate' prints them all",
                       path, number, name);
    if (!value || *end || !(ns >= 0) || isinf(ns) || (ns == 0 && unit < UNIT_MESSAGE) ||
        strtok_r(NULL, " \t\r\n", &rest))
        return err_set(err, BDA_FAILED,
                       "--machine: '%.400s' line %d: expected one number of nanoseconds above 0 behind %s", path,
                       number, name);
    m->speed[unit] = ns;
    return true;
}

static bool read_file(const char *path, bda_machine *m, bda_error *err)
{
    char line[400];
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(err, BDA_FAILED, "--machine: cannot read '%.400s': %s", path, strerror(errno));
    bool ok = true;
    for (int number = 1; ok && fgets(line, sizeof line, file); number++)
        ok = read_line(path, number, line, m, err);
    if (ok && ferror(file))
        ok = err_set(err, BDA_FAILED, "--machine: cannot read '%.400s': %s", path, strerror(errno));
    fclose(file);
    return ok;
}

bool machine_read(comm *c, const char *path, bda_machine *m, bda_error *err)
{
    *m = machine_usual;
    const bool ok = bda_comm_rank(c) > 0 || read_file(path, m, err);
    if (!comm_agree(c, ok, err))
        return false;
    comm_broadcast(c, 0, m, sizeof *m);
    return true;
}
