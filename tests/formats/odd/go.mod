module odd

go 1.18
