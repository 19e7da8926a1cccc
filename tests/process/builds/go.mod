module builds

go 1.19
