module variables

go 1.18
