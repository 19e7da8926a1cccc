/*
 * counted: runs the program, main() included, many times in one process of valgrind, because
 * valgrind takes longer to start than most of these conversions take.
 *
 *   valgrind ... counted <COMMANDS >RUNS
 *
 * A line of COMMANDS is a name and arguments, separated by tabs. Each line runs in a child of its
 * own, whose count continues that of its parent. So the first child does nothing, and its count is
 * to be subtracted from those of all others. Before that, the parent itself runs the first line, so
 * that valgrind has translated the code that all children execute. RUNS has a line "PID STATUS
 * NAME" for each child, where NAME is "nothing" for the first one and STATUS is 128 + the signal if
 * a signal ended the child. On standard error, "== NAME" precedes the messages of each child.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define main program_main
int program_main(int argc, char **argv);
#include "main.c"
#undef main

enum { LINES_MOST = 256, LINE_MOST = 16384, ARGUMENTS_MOST = 256 };

/* Runs the program with the arguments of a line, the name being argv[0]. */
static int run(char *line)
{
    char *arguments[ARGUMENTS_MOST + 1];
    int count = 0;
    for (char *at = line; at && count < ARGUMENTS_MOST;)
        arguments[count++] = strsep(&at, "\t");
    arguments[count] = NULL;
    optind = 0; /* resets getopt() */
    return program_main(count, arguments);
}

/* Runs a line in a child; NULL: a child that does nothing. Returns false if it cannot be run or
 * reported. */
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
    /* All lines are read before the first child starts, because at its end it would otherwise
     * reset the position in the file. */
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
