module subject

go 1.19
