/* command; see command.h. */
#include "inspect/command.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scope.h"

enum { MOST_SAID = 4096 /* bytes of the end of standard error that are read */ };

struct command {
    int output;   /* a descriptor; -1: the command does not run */
    int problems; /* a file with the command's standard error */
    long pid;
};

/* Returns the descriptor of a file without a name, or -1. */
static int command_open_nameless(void)
{
    FILE *file = tmpfile();
    const int fd = file ? dup(fileno(file)) : -1;
    if (file)
        fclose(file);
    return fd;
}

/* Starts a command. */
static struct g2h_error *command_start(const char *words, struct command *ret)
{
    int ends[2];
    *ret = (struct command){-1, command_open_nameless(), 0};
    const bool has_pipe = ret->problems >= 0 && pipe(ends) == 0;
    ret->pid = has_pipe ? fork() : -1;
    if (ret->pid == 0) {
        signal(SIGPIPE, SIG_DFL); /* its own pipes shall end as in any shell */
        dup2(ends[1], STDOUT_FILENO);
        dup2(ret->problems, STDERR_FILENO);
        for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
            close(fd); /* the channel above all */
        execl("/bin/sh", "sh", "-c", words, (char *)NULL);
        _exit(127);
    }
    const int number = errno;
    if (has_pipe)
        close(ends[1]);
    ret->output = has_pipe ? ends[0] : -1;
    if (ret->pid > 0)
        return NULL;
    close(ret->output); /* -1 is ignored */
    close(ret->problems);
    return error_system(number, "cannot run '%s'", words);
}

/* Returns the last line of a command's standard error, which it reads into said. */
static const char *last_line(int fd, char said[MOST_SAID + 1])
{
    const off_t end = lseek(fd, 0, SEEK_END);
    const off_t from = end > MOST_SAID ? end - MOST_SAID : 0;
    ssize_t size = end > 0 ? pread(fd, said, MOST_SAID, from) : 0;
    while (size > 0 && (said[size - 1] == '\n' || said[size - 1] == ' '))
        size--;
    said[size > 0 ? size : 0] = '\0';
    const char *line = strrchr(said, '\n');
    return line ? line + 1 : said;
}

/* Waits for its end. */
static struct g2h_error *command_end(struct command *command, const char *words)
{
    char said[MOST_SAID + 1] = "";
    int status = 0;
    close(command->output);
    const bool is_known = waitpid((pid_t)command->pid, &status, 0) == command->pid;
    const char *line = last_line(command->problems, said);
    close(command->problems);
    if (!is_known || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return NULL;
    if (WIFSIGNALED(status))
        return error_create(G2H_ERROR_SYSTEM, "'%s' died of signal %d", words, WTERMSIG(status));
    return error_create(G2H_ERROR_SYSTEM, "'%s' failed with status %d%s%s", words,
                        WEXITSTATUS(status), *line ? ": " : "", line);
}

struct g2h_error *command_open(const char *words, const struct origin_options *options,
                               struct origin *ret)
{
    struct origin_options of_output = *options;
    struct command command;
    char path[32];
    TRY(command_start(words, &command));
    snprintf(path, sizeof(path), "/dev/fd/%d", command.output);
    of_output.path = path;
    struct g2h_error *error = origin_open(&of_output, ret);
    struct g2h_error *failed = command_end(&command, words);
    if (failed)
        g2h_error_destroy(error);
    return failed ? failed : error;
}
