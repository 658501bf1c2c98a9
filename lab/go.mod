module github.com/tacho-go/tacho/lab

go 1.26.0
