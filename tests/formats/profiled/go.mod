module profiled

go 1.18
