// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// reserve makes the file before anything is measured, so that a bad name costs
// no run; nil without a name. A file that exists may hold a measurement.
func reserve(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is there already: give another name, or remove it", name)
	}
	return f, err
}

// discard takes away a file that was reserved for nothing.
func discard(f *os.File) {
	if f != nil {
		f.Close()
		_ = os.Remove(f.Name())
	}
}

// save writes the report and its page where files are wanted, and returns the
// exit code.
func (p *program) save(r *Report, out, page *os.File) int {
	switch {
	case page == nil:
	case !r.measured():
		discard(page)
		fmt.Fprintf(p.stdout, "\nNothing is written to %s, as no call is in the figures.\n", page.Name())
	default:
		if err := r.writePage(page); err != nil {
			fmt.Fprintf(p.stderr, "vmhost: -html: %v\n", err)
			discard(page)
			p.save(r, out, nil)
			return cli.Failed
		}
		fmt.Fprintf(p.stdout, "\nThe page is written to %s\n", page.Name())
	}
	switch {
	case out == nil:
	case !r.measured():
		// The corrected command may name the same file.
		discard(out)
		fmt.Fprintf(p.stdout, "\nNothing is written to %s, as no call is in the figures.\n", out.Name())
	default:
		if err := errors.Join(r.write(out), out.Close()); err != nil {
			fmt.Fprintf(p.stderr, "vmhost: -out: %v; the report follows on standard output\n", err)
			_ = r.write(p.stdout)
			return cli.Failed
		}
		fmt.Fprintf(p.stdout, "\nWritten to %s\n", out.Name())
	}
	if !r.ok() {
		return cli.Failed
	}
	return cli.OK
}

// write writes the report as JSON.
func (r *Report) write(w io.Writer) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// readReport reads a report back.
func readReport(name string) (*Report, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s is empty: the run that made it was killed before its end", name)
	}
	var r Report
	err = json.Unmarshal(b, &r)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fmt.Errorf("%s is not a report of vmhost: it is no JSON: %w", name, syntax)
	}
	switch {
	case r.Program != "vmhost" && r.Program != "":
		return nil, fmt.Errorf("%s is not a report of vmhost: its \"program\" is %q", name, r.Program)
	case r.Program == "" || err != nil:
		return nil, fmt.Errorf("%s is not a report of vmhost", name)
	}
	return &r, nil
}

// show prints a file, and writes its page where one is wanted.
func (p *program) show(name, pageName string) int {
	r, err := readReport(name)
	if err != nil {
		return cli.Bad(p.stderr, "vmhost show", err)
	}
	page, err := reserve(pageName)
	if err != nil {
		return cli.Bad(p.stderr, "vmhost show", fmt.Errorf("-html: %w", err))
	}
	printHead(p.stdout, r)
	fmt.Fprintf(p.stdout, "  measured   %s to %s by tacho %s\n", r.Started.Format(time.RFC3339), r.Ended.Format(time.RFC3339), r.Version)
	printCalls(p.stdout, r)
	printReport(p.stdout, r)
	if err := r.writePage(page); err != nil {
		discard(page)
		fmt.Fprintf(p.stderr, "vmhost show: -html: %v\n", err)
		return cli.Failed
	} else if page != nil {
		fmt.Fprintf(p.stdout, "\nThe page is written to %s\n", page.Name())
	}
	return cli.OK
}

// printCalls prints the calls of a file, block by block.
func printCalls(w io.Writer, r *Report) {
	last := ""
	for _, raw := range r.Calls {
		var c struct {
			Labels   map[string]string `json:"labels"`
			Outcome  string            `json:"outcome"`
			Duration *Seconds          `json:"duration"`
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			continue
		}
		if c.Labels["block"] != last {
			last = c.Labels["block"]
			fmt.Fprintf(w, "\nblock %s, %s, duration of each call, the cold one first, ms:\n ", last, c.Labels["side"])
		}
		text := c.Outcome
		if c.Duration != nil && c.Outcome == tacho.Complete.String() {
			text = term.Millis(c.Duration.Duration())
		}
		fmt.Fprint(w, " ", term.Right(text, 6))
	}
	fmt.Fprintln(w)
}
