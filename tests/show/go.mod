module show

go 1.19
