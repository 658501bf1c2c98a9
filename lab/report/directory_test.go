// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/lab/report"
)

// names are those of a folder's files.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	d, err := report.NewDirectory(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("before the run the folder has %q", got)
	}
	h := new(tacho.Histogram)
	h.Record(ms)
	start := time.Unix(1000, 0)
	intervals := []tacho.Interval{{Tag: "ttft", Start: start, Length: time.Second, Histogram: h}}
	r := &report.Report{Title: "first", Incomplete: true}
	paths, err := d.Write(r, report.Histograms("total", tacho.Snapshot{}), report.Intervals("windows", start, intervals))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"report.csv", "report.html", "report.json", "report.md", "total.hlog", "windows.hlog"}
	if got := names(t, dir); !slices.Equal(got, want) || len(paths) != len(want) {
		t.Errorf("files %q, paths %q, want %q", got, paths, want)
	}
	for _, name := range []string{"report.csv", "report.html", "report.md"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), "INCOMPLETE") {
			t.Errorf("%s does not say that it is incomplete: %v", name, err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "windows.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, err := range tacho.ReadHistogramLog(f) {
		if err != nil || i.Tag != "ttft" || i.Histogram.Count() != 1 {
			t.Errorf("%+v, %v", i, err)
		}
	}

	// What is there is not overwritten, unless that is asked for.
	if _, err := report.NewDirectory(dir, false); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a folder with a report: %v", err)
	}
	if _, err := d.Write(&report.Report{Title: "second"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second report: %v", err)
	}
	again, err := report.NewDirectory(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Write(&report.Report{Title: "third"}); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "report.md")); string(b) != "# third\n" {
		t.Errorf("overwritten: %q", b)
	}
}

// A file that cannot be written leaves nothing behind and changes nothing.
func TestDirectoryFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := []struct {
		file report.File
		want string
	}{
		{report.File{Name: "x.hlog", Write: func(io.Writer) error { return broken }}, "report: writing x.hlog: broken"},
		{report.File{Name: "../x", Write: func(io.Writer) error { return nil }}, `report: "../x" is no name for a file in a folder`},
		{report.File{Name: ".x", Write: func(io.Writer) error { return nil }}, `report: ".x" is no name for a file in a folder`},
		{report.File{Name: `a\b`, Write: func(io.Writer) error { return nil }}, `report: "a\\b" is no name for a file in a folder`},
		{report.File{Name: "report.md", Write: func(io.Writer) error { return nil }}, "report: two files are named report.md"},
		{report.File{Name: "x"}, "report: nothing writes x"},
		{report.Intervals("x", time.Unix(9, 0), []tacho.Interval{{}}), "report: writing x.hlog: tacho: an interval of a histogram log has no histogram"},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		d, err := report.NewDirectory(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Write(&report.Report{}, tt.file); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %q", err, tt.want)
		}
		if got := names(t, dir); len(got) != 0 {
			t.Errorf("%s: left behind: %q", tt.want, got)
		}
	}
	if _, err := report.NewDirectory("", false); err == nil {
		t.Error("a folder without a name")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := report.NewDirectory(file, false); err == nil {
		t.Error("a file in place of a folder")
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "page.html")
	write := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := report.WriteFile(name, false, write("one")); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteFile(name, false, write("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	if err := report.WriteFile(name, true, func(io.Writer) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
	if b, _ := os.ReadFile(name); string(b) != "one" {
		t.Errorf("after a failure: %q", b)
	}
	if err := report.WriteFile(name, true, write("three")); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(name); string(b) != "three" {
		t.Errorf("overwritten: %q", b)
	}
	if err := report.WriteFile(filepath.Join(dir, "none", "x"), false, write("")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"page.html"}) {
		t.Errorf("left behind: %q", got)
	}
}
