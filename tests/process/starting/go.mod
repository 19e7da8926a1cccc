module starting

go 1.19
