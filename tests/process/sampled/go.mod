module sampled

go 1.19
