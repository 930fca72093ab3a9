/* cmd.h - what the commands of the program share. They know the library through bda.h alone. */
#ifndef CMD_H
#define CMD_H

#include "bda.h"

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_EARLY = 3 /* training stopped before the gap was reached */
};

#define MOST_ARGUMENTS 3

/* A command line that was understood. */
typedef struct invocation {
    const struct command *command;
    bda_comm *comm;
    bool first; /* rank 0, the one that prints */
    bda_settings *settings;
    const char *argument[MOST_ARGUMENTS]; /* NULL where not given */
} invocation;

typedef struct command {
    const char *name;
    const char *arguments;     /* "DATA [MODEL]" */
    const char *summary;       /* a line of `bda --help` */
    const char *more;          /* the end of `bda COMMAND --help` */
    int least, most;           /* arguments */
    int (*run)(invocation *v); /* returns the exit status */
} command;

extern const command train_command, predict_command, info_command, export_command, convert_command, generate_command;

/* options.c: fills v from the words behind the command. Prints and exits by itself for --help, --version and wrong
 * options; on every rank alike, and only rank 0 prints. */
void options_parse(invocation *v, int argc, char **argv);

/* common.c */

/* Prints on stderr, on rank 0 only, with the command's name in front and a newline behind. */
void say(const invocation *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the error and returns the exit status that goes with it. */
int fail(const invocation *v, const bda_error *err);
/* Can a file be created at `path`, and is it none of the files that are read? `place` is where it stands among the
 * arguments, -1 for elsewhere. Asked before long work; says nothing about space. Collective. */
bool can_write(const invocation *v, const char *path, int place, bda_error *err);
/* The notes that go with data that was read, unless --quiet. */
void note_data(const invocation *v, const bda_data *data, const char *path);
bool is_set(const invocation *v, const char *flag);

/* progress.c: one line on stderr that is rewritten after each round. */
typedef struct progress progress;
progress *progress_new(void); /* NULL where there is no memory: then nothing is shown */
void progress_round(void *self, const bda_progress *now);
void progress_clear(progress *p); /* wipes the line; accepts NULL */

#endif
