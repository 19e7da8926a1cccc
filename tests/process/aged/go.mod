module watch

go 1.19
