module seed
go 1.19
