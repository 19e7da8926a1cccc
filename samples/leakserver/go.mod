module leakserver

go 1.19

require go2heapsnapshot.invalid/heapdump v0.1.0

replace go2heapsnapshot.invalid/heapdump => ../heapdump
