/* cmd.h - what the commands of the program share. They know the library through bda.h alone. */
#ifndef CMD_H
#define CMD_H

#include <stdio.h>

#include "bda.h"

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_EARLY = 3 /* training stopped before the gap was reached */
};

#define MOST_EXAMPLES 4

/* A command line that was understood. */
typedef struct invocation {
    const struct command *command;
    bda_comm *comm;
    bool first; /* rank 0, the one that prints */
    bda_settings *settings;
    const char **argument; /* [arguments] and then NULLs, at least three */
    int arguments;
} invocation;

typedef struct command {
    const char *name;
    const char *arguments; /* "DATA [MODEL]" */
    const char *summary;   /* a line of `bda --help` */
    const char *more;      /* the end of `bda COMMAND --help` */
    const char *examples[MOST_EXAMPLES];
    int least, most;           /* arguments */
    int (*run)(invocation *v); /* returns the exit status */
} command;

extern const command train_command, predict_command, info_command, export_command, import_command, convert_command,
    generate_command, report_command, bench_command, select_command;

/* options.c: fills v from the words behind the command. Prints and exits by itself for --help, --version and wrong
 * options; on every rank alike, and only rank 0 prints. */
void options_parse(invocation *v, int argc, char **argv);

/* main.c */
extern const command *const commands[]; /* NULL at its end */
bool has_command(const char *name);

/* help.c. full: what every option does; otherwise their names. `to` may be NULL. */
void print_help(FILE *to, const command *c, bool full);
void print_overview(FILE *to);
extern const char *const option_groups[]; /* in the order of the help; NULL at its end */
bool option_in_group(const bda_option *o, const char *group);

/* describe.c */
void describe(FILE *to);

/* hints.c: what was meant, in a sentence; hint_command: NULL where nothing is near. */
const char *hint_command(const char *word);
void hint_name(const command *c, const char *written, char *text, size_t size);
void hint_letter(const command *c, char letter, const char *value, char *text, size_t size);

/* common.c */

/* Prints on stderr, on rank 0 only, with the command's name in front and a newline behind. */
void say(const invocation *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the error and returns the exit status that goes with it. */
int fail(const invocation *v, const bda_error *err);
/* bda_check_outputs with the command's --force. Asked before long work; says nothing about space. Collective. */
bool can_write(const invocation *v, const bda_output *output, int outputs, const char *const *input, int inputs,
               bda_error *err);
/* A line about data that was read, and notes where something about it is unusual, unless --quiet. */
void note_data(const invocation *v, const bda_data *data, const char *path);
bool is_set(const invocation *v, const char *flag);
/* MODEL or --output where it is given; otherwise, as LIBLINEAR does, DATA's own name with .model behind it, in the current
 * directory. To be freed; NULL on all ranks where one has no memory. Collective. */
char *model_name(const invocation *v, bda_error *err);
bool no_memory(const char *what, bda_error *err); /* says so; false */
/* Is DATA of `train` and `select` one word, or several with --output, and no model? Collective. */
bool check_data(const invocation *v, bda_error *err);
/* can_write where DATA, --weights, --feature-penalty and `other` (NULL: nothing) are read. Collective. */
bool can_write_beside(const invocation *v, const bda_output *output, int outputs, const char *other, bda_error *err);
/* DATA as bda_data_read_files reads it, with signs of life where that takes long. */
bda_data *read_data(const invocation *v, bda_error *err);
/* ", at most 0.08 % above the optimum", as the gap over the objective says; "" without a gap (NAN). */
void describe_gap(double relative_gap, char *text, size_t size);

/* launcher.c: a warning on stderr where a launcher speaks of several processes, and there is one rank. */
void warn_if_alone(int ranks);
/* Before there is a communicator: is this the first rank, as far as the launcher says? */
bool may_speak(void);

/* signals.c */

/* From the start of the program: writing to a pipe that nobody reads, or beyond the largest size of a file, is an error
 * instead of the end; and a signal that ends the program removes its temporary files first. */
void signals_begin(void);
/* From now on SIGINT, SIGTERM, SIGHUP and SIGUSR1 are noted in `interrupted`; the same one again, unless it is SIGUSR1,
 * ends the program. A SIGHUP that is ignored (nohup) goes on being ignored. */
void signals_catch(void);
extern volatile sig_atomic_t interrupted; /* the number of the signal, 0: none */
const char *signal_name(int number);      /* "SIGINT" */

/* progress.c: how far it is, on stderr. NULL, which all of them but progress_round accept, where nobody wants to see it
 * or there is no memory for it. */
typedef struct progress progress;
progress *progress_begin(const invocation *v, const char *what);
void progress_round(void *self, const bda_progress *now);
void progress_end(progress *p); /* wipes the line and frees p */

#endif
