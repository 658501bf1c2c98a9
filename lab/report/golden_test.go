// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tacho-go/tacho/lab/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// forms are all forms of a report.
func forms(r *report.Report) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"report.json": r.WriteJSON, "report.csv": r.WriteCSV, "report.html": r.WriteHTML, "report.md": r.WriteMarkdown,
		"report.txt": func(w io.Writer) error { return r.WriteText(w, 100) }, "narrow.txt": func(w io.Writer) error { return r.WriteText(w, 0) },
	}
}

// TestGolden compares every form with a file: go test -run Golden -update writes
// them anew.
func TestGolden(t *testing.T) {
	t.Parallel()
	r := sample(t)
	for name, write := range forms(r) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(name, err)
		}
		if strings.Contains(b.String(), "SECRET") {
			t.Errorf("%s has what a URL had", name)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != string(want) {
			t.Errorf("%s differs from %s at %s", name, file, difference(got, string(want)))
		}
	}
}

// difference shows the first lines that differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			other := ""
			if i < len(w) {
				other = w[i]
			}
			return fmt.Sprintf("line %d:\n%.200s\nwant\n%.200s", i+1, g[i], other)
		}
	}
	return "its end"
}
