module structures

go 1.19
