module large

go 1.19
