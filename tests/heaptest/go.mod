module heaptest

go 1.21

require go2heapsnapshot.invalid/heapdump v0.1.0

replace go2heapsnapshot.invalid/heapdump => ../../samples/heapdump
