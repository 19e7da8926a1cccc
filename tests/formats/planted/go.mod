module planted

go 1.18
