/*
 * options: the command line, and the Go processes that --pid may mean.
 *
 *   options, check      the command line; the Go processes of the machine, for --pid; which options
 *                       go together, and the format that they imply
 *   usage               the help text; the probable meaning of a typo
 *   target              an output file, which appears once it is complete, however the program ends
 *   outputs             the files of a format, of a series, and of --watch
 *   messages, terminal  output for users: messages, progress, the pager
 *   conversion          the steps from a dump to a view, and --inspect
 *   watch               --watch
 *   at_death, hold, child, guard
 *                       what --at-death waits for and writes; what signals do meanwhile; the
 *                       command that it starts, and the Go program that this starts; the process
 *                       that does so beside --watch
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/output.h>

#include "base/text.h"

enum exit_status {
    EXIT_FINE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DAMAGED = 3, /* the input was cut or damaged; the readable part was written */
    EXIT_GREW = 4,    /* in a series of dumps something grew in every interval */
};

struct options {
    const char **inputs; /* malloced: input_count dumps in their order; several are a series */
    size_t input_count;
    const char *base;     /* of a format that takes a base; NULL: none. Of others the first input */
    const char *base_exe; /* the executable that wrote base; NULL: the same as exe */
    uint64_t pid;         /* 0: none; otherwise inputs is empty */
    bool fork,
        fork_huge;   /* the process is forked, and the child is read; it gets huge pages before */
    const char *exe; /* NULL: none */
    const char *output; /* NULL: standard output; of a series a directory, unless it shows trends */
    const struct g2h_format *format;
    const char *by_label; /* the label of --by label:KEY; empty: of all; NULL: not given */
    const char *by;       /* selects one of the formats of that name; NULL: the usual one */
    const char *show;     /* the same, or a variable; NULL: none */
    const char *path_to;  /* an object or a class, of a format that takes it; NULL: none */
    uint64_t older;       /* of path_to, a class: seconds; 0: objects of all ages */
    bool json;            /* of a format that takes it */
    unsigned sections;    /* of the JSON: enum g2h_report_section; 0: all */
    bool mcp;             /* answers questions on standard input instead of writing something */
    bool values;          /* of mcp: also the contents of objects */
    bool is_dump;         /* the heap dump itself is written, in no format */
    bool untyped_ok;      /* continues without types if exe does not fit */
    bool redact, reachable, garbage, no_stacks, no_contexts, full_names, numbers;
    const char *numbers_of; /* names of classes; NULL: all */
    const char *redact_key; /* a file; NULL: none */
    uint64_t max_nodes;     /* 0: no limit */
    uint64_t largest_array; /* bytes; 0: no limit */
    uint64_t sample;        /* every so manieth span is read; 0: all */
    uint64_t sample_seed;   /* another one chooses other spans */
    const char *under;      /* what the output is about; NULL: the whole heap */
    bool summary, append;   /* append needs summary */
    const char **labels;    /* malloced: the label_count values of --label */
    size_t label_count;
    bool gzip, verbose;
    uint64_t ages;             /* seconds for which collections are watched, of --watch before the
                                  first snapshot; 0: not given */
    uint64_t watch;            /* seconds between the snapshots of --watch; 0: it is not given */
    uint64_t count;            /* of snapshots; 0: no limit */
    uint64_t until_growth;     /* bytes; 0: no limit */
    const char *keep;          /* a directory; NULL: no dumps are kept */
    bool at_death;             /* the heap of a process is written when it is killed */
    bool at_death_exit;        /* also when it ends by itself with a status that is not 0 */
    uint64_t at_death_percent; /* and before, at this part of its memory limit; 0: not given */
    uint64_t at_death_keep;    /* files that stay in the directory; 0: all */
    uint64_t at_death_most;    /* most bytes that are copied; 0: all */
    char **run;                /* of --at-death: the command that is started; NULL: none */
    struct guard *guard;       /* of --watch: waits for the end of the process; NULL: none */
    struct g2h_ages *aged;     /* of --watch: the ages so far; NULL: they are not watched */
    struct death *death;       /* the process to be converted has been copied; NULL: it has not */
    bool inspect;              /* serves DevTools instead of writing something */
    const char *inspect_at;    /* [HOST:]PORT; NULL: the usual port */
    const char *command;       /* of --inspect, --watch: its output is the dump; NULL: none */
    const char *source;        /* of --inspect: a directory; NULL: none */
    bool has_format;           /* --format is given */
    bool is_default;           /* the report is the default on a terminal */
    bool is_piped;             /* the snapshot is the default of a process, into a pipe or socket */
    bool full;                 /* of a report: all sections, on a terminal, too */
    uint64_t top;              /* of a report: most rows of a list; 0: it chooses */
    struct text again; /* this command line without the output and the questions to the heap */
    bool is_quiet;     /* the messages about the process have been printed before */
    uint64_t memprofile_rate; /* 0: not given */
    unsigned threads;         /* 0: one per processor */
};

/*
 * Reads the command line. Returns true if the program continues with *ret, or false if it ends with
 * *ret_status; then the text of --help or --version, or the error in the command line, has been
 * printed. The caller passes ret to options_deinit() in both cases.
 */
bool options_parse(int argc, char **argv, struct options *ret, int *ret_status);

void options_deinit(struct options *options);

/* Returns whether several dumps, or snapshots, become one output, which shows the last one. */
static inline bool options_show_trends(const struct options *options)
{
    return (options->input_count > 1 || options->watch > 0) && !options->is_dump &&
           (options->format->takes & G2H_TAKES_TRENDS) != 0;
}

/* Returns whether several dumps become one report: their trend. */
static inline bool options_report_trend(const struct options *options)
{
    return options->watch > 0 ||
           (options->input_count > 1 && !options->is_dump && !options->output &&
            (options->format->takes & G2H_TAKES_PATH) != 0 && !options->path_to && !options->show);
}

/*
 * Returns whether garbage is left out of the output of a dump: if --reachable is given, and in a
 * series, whose objects are compared with each other, unless --garbage is given. In a dump that is
 * not complete it is unknown what is garbage.
 */
static inline bool options_leave_out_garbage(const struct options *options, bool is_complete)
{
    const bool is_series =
        options->input_count > 1 && !options->summary && !options_show_trends(options);
    return options->reachable || (is_series && !options->garbage && is_complete);
}

#endif
