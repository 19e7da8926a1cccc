module programs

go 1.19
