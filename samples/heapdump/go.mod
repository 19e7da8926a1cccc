module go2heapsnapshot.invalid/heapdump

go 1.19
