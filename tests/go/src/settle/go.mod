module settle

go 1.17
