/* release; see release.h. */
#include "base/release.h"

#include <stdio.h>
#include <string.h>

/* Only whole words of the list after "X:" count: "noswissmap" contains "swissmap". */
bool go_release_has_experiment(const char *version, const char *name)
{
    const char *list = strstr(version, "X:");
    for (const char *at = list; at && (at = strstr(at, name)) != NULL; at += strlen(name)) {
        const char before = at == list ? ',' : at[-1], behind = at[strlen(name)];
        if ((before == ',' || before == ':') && (behind == ',' || behind == ' ' || behind == 0))
            return true;
    }
    return false;
}

/* Experiments of the build may differ from the release's defaults. */
struct go_release go_release_parse(const char *version)
{
    struct go_release release = {0};
    const char *at = strstr(version, "go1.");
    if (at) /* no release has more digits; the bound only prevents an overflow */
        for (at += strlen("go1."); *at >= '0' && *at <= '9' && release.minor < 1000; at++)
            release.minor = 10 * release.minor + (*at - '0');
    release.no_swiss_maps = go_release_has_experiment(version, "noswissmap");
    release.no_sync_hash_trie = go_release_has_experiment(version, "nosynchashtriemap");
    release.split_groups = go_release_has_experiment(version, "mapsplitgroup");
    return release;
}

char *go_release_guessed(const char *version, int size, int minor)
{
    static const char none[] = "unknown";
    if (size <= 0) {
        version = none;
        size = sizeof(none) - 1;
    }
    char *text;
    const int status = asprintf(&text, "%.*s (read as go1.%d)", size, version, minor);
    return status < 0 ? NULL : text;
}
