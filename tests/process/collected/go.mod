module collected

go 1.19
