// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// TestPage: a run writes its page beside its file, and show writes the same page
// of the file.
func TestPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, page, again := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.html"), filepath.Join(dir, "again.html")
	r := drive(t, nil, nil, "-calls", "2", "-blocks", "4", "-out", file, "-html", page)
	if r.code != 0 || !strings.Contains(r.stdout, "\nThe page is written to "+page+"\n\nWritten to "+file+"\n") {
		t.Fatalf("code %d, stderr %q, stdout …%s", r.code, r.stderr, r.stdout[max(0, len(r.stdout)-200):])
	}
	var stdout bytes.Buffer
	if code := run(t.Context(), []string{"show", "-html", again, file}, func(string) string { return "" }, &stdout, io.Discard); code != 0 {
		t.Fatalf("show: code %d", code)
	}
	first, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("the page of the run and that of its file differ")
	}
	for _, text := range []string{"<h2>VM − host</h2>", "Calls on a kept connection", "no virtual machine runs", "<svg role=\"img\"", "This machine"} {
		if !strings.Contains(string(first), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	// Neither is overwritten, and what was reserved for nothing is taken away.
	r = drive(t, nil, nil, "-out", filepath.Join(dir, "new.json"), "-html", page)
	if r.code != 2 || !strings.Contains(r.stderr, "-html: "+page+" is there already") {
		t.Errorf("code %d, stderr %q", r.code, r.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "new.json")); err == nil {
		t.Error("an empty new.json is left behind")
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"show", "-html", page, file}, func(string) string { return "" }, io.Discard, &stderr); code != 2 || !strings.Contains(stderr.String(), "is there already") {
		t.Errorf("show: code %d, stderr %q", code, stderr.String())
	}
}

// TestPageIncomplete: the page of a run that was stopped says so first; one
// without a call in the figures is not written.
func TestPageIncomplete(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		after time.Duration
		kept  bool
	}{{350 * time.Millisecond, true}, {150 * time.Millisecond, false}} {
		page := filepath.Join(t.TempDir(), "r.html")
		stop := func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(tt.after, cancel)
			return ctx
		}
		r := drive(t, stop, []sim.Option{sim.WithScript(sim.Script{HeaderDelay: 100 * time.Millisecond})}, "run", "-html", page)
		b, err := os.ReadFile(page)
		if r.code != 1 || (err == nil) != tt.kept || tt.kept && !strings.Contains(string(b), "INCOMPLETE") {
			t.Errorf("after %v: code %d, page %v", tt.after, r.code, err)
		}
	}
}
