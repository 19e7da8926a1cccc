/* release: which Go it was, as runtime.Version() puts it. */
#ifndef BASE_RELEASE_H
#define BASE_RELEASE_H

#include <stdbool.h>

/* What a version says of the runtime's structures. */
struct go_release {
    int minor; /* the N of go1.N; 0 where it is not known */
    bool no_swiss_maps, no_sync_hash_trie, split_groups; /* experiments, GOEXPERIMENT */
};

/* Reads versions such as "go1.26.1", "devel go1.27-2f3a…" and "go1.24.1 X:noswissmap". */
struct go_release go_release_parse(const char *version);

/* Whether a version names an experiment, "greenteagc": "go1.25.1 X:arenas,greenteagc" does. */
bool go_release_has_experiment(const char *version, const char *name);

#endif
