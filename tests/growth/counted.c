/*
 * counted: runs the program, main() included, many times in one process of valgrind, which takes
 * longer to begin than most of these conversions take.
 *
 *   valgrind ... counted <COMMANDS >RUNS
 *
 * A line of COMMANDS is a name and arguments, between tabs. Each runs in a child of its own, whose
 * count goes on from its parent's. So the first child does nothing, and what it counts is to be
 * taken from all others. Before that the parent itself runs the first line, so that valgrind has
 * translated what all of them execute. RUNS has a line "PID STATUS NAME" for each child, "nothing"
 * for the first one; STATUS is 128 + the signal that ended it. On standard error "== NAME" stands
 * before what each one says.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define main program_main
int program_main(int argc, char **argv);
#include "main.c"
#undef main

enum { LINES_MOST = 256, LINE_MOST = 4096, ARGUMENTS_MOST = 16 };

/* Runs the program with the arguments behind a line's name. */
static int run(char *line)
{
    char *arguments[ARGUMENTS_MOST + 1];
    int count = 0;
    for (char *at = line; at && count < ARGUMENTS_MOST;)
        arguments[count++] = strsep(&at, "\t");
    arguments[count] = NULL;
    optind = 0; /* getopt() begins anew */
    return program_main(count, arguments);
}

/* Runs a line in a child; NULL: a child that does nothing. */
static bool run_in_child(char *line)
{
    int status, name = line ? (int)strcspn(line, "\t") : 0;
    fprintf(stderr, "== %.*s\n", name, line ? line : "");
    const pid_t child = fork();
    if (child == 0)
        exit(line ? run(line) : 0);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    printf("%ld %d %.*s\n", (long)child,
           WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
           line ? name : (int)strlen("nothing"), line ? line : "nothing");
    return fflush(stdout) == 0;
}

int main(void)
{
    static char lines[LINES_MOST + 1][LINE_MOST];
    static char first[LINE_MOST];
    int count = 0;
    /* All are read before the first child, which else would set back the file where it ends. */
    while (count <= LINES_MOST && fgets(lines[count], LINE_MOST, stdin)) {
        lines[count][strcspn(lines[count], "\n")] = '\0';
        count++;
    }
    fclose(stdin);
    if (count == 0 || count > LINES_MOST)
        return 2;
    memcpy(first, lines[0], LINE_MOST);
    run(first);
    if (!run_in_child(NULL))
        return 1;
    for (int i = 0; i < count; i++)
        if (!run_in_child(lines[i]))
            return 1;
    return 0;
}
