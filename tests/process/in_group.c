/* in_group: runs a command in a process group of its own, as shells with job control do for a
 * terminal, and waits for it. They need a terminal for that, this does not. Its own group has
 * another member of the session, so the command's is not orphaned: an orphaned group is not stopped
 * by SIGTSTP.
 *
 *   in_group FILE COMMAND ARGUMENT...     FILE: gets the command's process ID
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const pid_t child = fork();
    if (child < 0)
        return 1;
    (void)setpgid(child, child); /* by both, as it is not known who runs first */
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    FILE *file = fopen(argv[1], "w");
    if (!file || fprintf(file, "%ld\n", (long)child) < 0 || fclose(file) != 0)
        return 1;
    int status;
    while (waitpid(child, &status, 0) != child)
        continue;
    return 0;
}
