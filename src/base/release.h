/* release: the release of Go that runtime.Version() names. */
#ifndef BASE_RELEASE_H
#define BASE_RELEASE_H

#include <stdbool.h>

/* The properties of the runtime's structures that follow from a version. */
struct go_release {
    int minor;                                           /* the N of go1.N; 0 if unknown */
    bool no_swiss_maps, no_sync_hash_trie, split_groups; /* experiments (GOEXPERIMENT) */
};

/* Parses versions such as "go1.26.1", "devel go1.27-2f3a…" and "go1.24.1 X:noswissmap". */
struct go_release go_release_parse(const char *version);

/* Returns whether a version names an experiment: "go1.25.1 X:arenas,greenteagc" names
 * "greenteagc". */
bool go_release_has_experiment(const char *version, const char *name);

/* Returns a version that names no release, of size bytes, with the release that it is read as:
 * "unknown (read as go1.27)". The caller frees it; NULL if memory runs out. */
char *go_release_guessed(const char *version, int size, int minor);

#endif
