module github.com/tacho-go/tacho/examples

go 1.26.0
