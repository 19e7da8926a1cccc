/* The statuses of processes that have ended, as Linux encodes them; wasi-libc has no processes. */
#ifndef WEB_LIBC_SYS_WAIT_H
#define WEB_LIBC_SYS_WAIT_H

#define WTERMSIG(status)    ((status)&0x7f)
#define WEXITSTATUS(status) ((status) >> 8 & 0xff)
#define WIFEXITED(status)   (WTERMSIG(status) == 0)
#define WIFSIGNALED(status) (WTERMSIG(status) != 0 && WTERMSIG(status) != 0x7f)

#endif
