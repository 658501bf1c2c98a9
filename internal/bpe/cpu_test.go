package bpe

import (
	"runtime"
	"syscall"
	"testing"
	"fmt"
	"slices"
	"time"
)

func threadCPU() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(1, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestCPU(t *testing.T) {
	runtime.LockOSThread()
	for _, enc := range []string{"o200k", "cl100k"} {
	v, _ := O200kBase()
	sp := Splitter(O200k)
	if enc == "cl100k" { v, _ = Cl100kBase(); sp = Cl100k }
	var total time.Duration
	size := 0
	line := ""
	for _, name := range core {
		text := corpusText(t, name)
		var ds []time.Duration
		for range 9 {
			t0 := threadCPU()
			k := 0
			for ; k < 3 || threadCPU()-t0 < 5*time.Millisecond; k++ { v.Count(sp, text) }
			ds = append(ds, (threadCPU()-t0)/time.Duration(k))
		}
		d := slices.Min(ds)
		total += d
		size += len(text)
		line += fmt.Sprintf("%s %.0f(split ", name[:len(name)-4], float64(len(text))/d.Seconds()/1e6)
		t0 := threadCPU()
		k := 0
		for ; k < 3 || threadCPU()-t0 < 5*time.Millisecond; k++ { for i := 0; i < len(text); { i = sp(text, i) } }
		d = (threadCPU()-t0)/time.Duration(k)
		line += fmt.Sprintf("%.0f), ", float64(len(text))/d.Seconds()/1e6)
	}
	t.Log(line)
	t.Logf("%s all %.1f MB/s", enc, float64(size)/total.Seconds()/1e6)
	}
	var ds []time.Duration
	for range 9 { t0 := threadCPU(); load(dataO200k, 0); ds = append(ds, threadCPU()-t0) }
	t.Log("load", ds)
}
