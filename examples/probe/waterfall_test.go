// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// A call that never gets headers is drawn to its end. Its bars were scaled to
// the phases before, as if it had not waited.
func TestNoHeaders(t *testing.T) {
	t.Parallel()
	const none = "          –           –\n"
	tests := []struct {
		name    string
		timeout string
		ctrlC   time.Duration
		want    string
	}{
		{name: "in the name lookup", timeout: "3ms", want: "" +
			"dns                0 ns    3.000 ms  █████████████████████████████ not finished\n" +
			"connect     " + none + "tls         " + none + "send        " + none + "wait        " + none},
		{name: "in connecting", timeout: "10ms", want: "" +
			"dns                0 ns    5.000 ms  ██████████████▌\n" +
			"connect        5.000 ms    5.000 ms                ███████████████ not finished\n" +
			"tls         " + none + "send        " + none + "wait        " + none},
		{name: "in waiting", timeout: "100ms", want: "" +
			"dns                0 ns    5.000 ms  █▌\n" +
			"connect        5.000 ms    10.00 ms   ███▍\n" +
			"tls         " + none +
			"send           15.00 ms        0 ns      ▍\n" +
			"wait           15.00 ms    85.00 ms      █████████████████████████ not finished\n"},
		{name: "in waiting, by Ctrl-C", timeout: "1m", ctrlC: 150 * time.Millisecond, want: "" +
			"dns                0 ns    5.000 ms  █\n" +
			"connect        5.000 ms    10.00 ms  ██▉\n" +
			"tls         " + none +
			"send           15.00 ms        0 ns    ▉\n" +
			"wait           15.00 ms    135.0 ms    ███████████████████████████ not finished\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := drive(t, tt.ctrlC, &sim.Script{HeaderDelay: time.Hour}, "-timeout", tt.timeout)
			want := head + tt.want + "body        " + none + "\n"
			if got := drawn(r.stdout); !strings.HasPrefix(got, want) || r.code != 1 {
				t.Errorf("code %d, got\n%s\nwant first\n%s", r.code, got, want)
			}
		})
	}
}

// A web page was a complete call, exit code 0.
func TestOtherKind(t *testing.T) {
	t.Parallel()
	page := sim.Script{Body: []byte("<!doctype html><title>It works</title>"), ContentType: "text/html"}
	const stderr = "probe: the answer is not of the kind asked for: no answer of a model in place of a stream\n" +
		"       Check the base URL, which usually ends in /v1: what answers there may be a web page.\n"
	const outcome = "\noutcome      complete, but not of the kind asked for, status 200\n"
	r := drive(t, 0, &page)
	if r.code != 1 || r.stderr != stderr || !strings.HasSuffix(r.stdout, outcome) {
		t.Errorf("code %d, stderr %q, stdout\n%s", r.code, r.stderr, r.stdout)
	}
	r = drive(t, 0, &page, "-json")
	if r.code != 1 || r.stderr != stderr || !strings.HasPrefix(r.stdout, "{") {
		t.Errorf("-json: code %d, stderr %q, stdout\n%s", r.code, r.stderr, r.stdout)
	}
}
