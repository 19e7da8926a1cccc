module planted

go 1.18

require settle v0.0.0

replace settle => ../../go/src/settle
