/*
 * layouts: prints the layout of the runtime's structures that an executable has: a line of name,
 * offset and size for each field. For tools/layouts and tests/process/layouts.sh.
 *
 *   layouts EXE          by its DWARF
 *   layouts EXE table    by the table, for its release and machine
 */
#include <stdio.h>

#include "process/layout.h"

static const char *const names[] = {
#define NAME(name, structure, field) #name,
    LAYOUT_FIELDS_OF(NAME)
#undef NAME
};

static void print(const struct layout *layout)
{
    for (int i = 0; i < LAYOUT_FIELDS; i++)
        printf("%s %u %u\n", names[i], layout->members[i].offset, layout->members[i].size);
}

int main(int argc, char **argv)
{
    struct g2h_exe *exe = NULL;
    struct layout layout = {0};
    bool found = false;
    if (argc < 2 || argc > 3)
        return 2;
    struct g2h_error *error = g2h_exe_open(argv[1], &exe);
    if (!error && argc == 2)
        error = layout_by_dwarf(exe, exe_version(exe), &layout, &found);
    else if (!error)
        found = layout_of_release(exe_version(exe), false, exe_image(exe)->machine, &layout);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    print(&layout);
    g2h_exe_close(exe);
    return found ? 0 : 3;
}
