module forked

go 1.19
