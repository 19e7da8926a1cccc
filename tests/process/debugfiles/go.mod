module debugfiles

go 1.19
