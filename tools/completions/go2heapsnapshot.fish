# Completion of go2heapsnapshot(1) in fish. It has no list of options of its own: `go2heapsnapshot --help` has them, what they take
# (--exe=FILE), and the formats, so what is completed is what this program knows.

function __go2heapsnapshot_formats
    go2heapsnapshot --help 2>/dev/null | string replace -rf '^ {24}([a-z0-9]+)  +(.*)$' '$1\t$2'
end

function __go2heapsnapshot_processes
    go2heapsnapshot --pid 2>/dev/null | string replace -rf '^ *([0-9]+)  (.*)$' '$1\t$2'
end

for line in (go2heapsnapshot --help 2>/dev/null | string match -r '^ {2,6}(?:-., )?--[a-z-]+.*')
    set -l parts (string match -rg '^ {2,6}((?:-., )?)--([a-z-]+)((?:=[A-Z]+)?)\S* *(.*)$' -- $line)
    set -l given -c go2heapsnapshot -l $parts[2]
    test -n "$parts[1]"; and set -a given -s (string sub -s 2 -l 1 -- $parts[1])
    test -n "$parts[4]"; and set -a given -d $parts[4]
    switch "$parts[2]:$parts[3]"
        case '*:'
        case 'format:*'
            set -a given -x -a '(__go2heapsnapshot_formats)'
        case 'names:*'
            set -a given -x -a 'short full'
        case 'by:*'
            set -a given -x -a 'retained alloc'
        case '*:=PID'
            set -a given -x -a '(__go2heapsnapshot_processes)'
        case '*:=FILE' '*:=DIR' '*:=DUMP'
            set -a given -r -F
        case '*'
            set -a given -x
    end
    complete $given
end
