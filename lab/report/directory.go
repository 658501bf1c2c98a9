// SPDX-License-Identifier: Apache-2.0

package report

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
)

// File is a file to be written: its name without a folder, and what writes it.
type File struct {
	Name  string
	Write func(w io.Writer) error
}

// Histograms returns the file NAME.hlog with the histograms of a snapshot, in
// HdrHistogram's log format; tacho.ReadHDR reads it back.
func Histograms(name string, s tacho.Snapshot) File {
	return File{name + ".hlog", s.WriteHDR}
}

// Intervals returns the file NAME.hlog with intervals of a log that begins at
// start, as tacho.HistogramLog writes it.
func Intervals(name string, start time.Time, intervals []tacho.Interval) File {
	return File{name + ".hlog", func(w io.Writer) error {
		l := tacho.NewHistogramLog(w, start)
		for _, i := range intervals {
			if err := l.Write(i); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Directory is a folder that a report is written to.
type Directory struct {
	name      string
	overwrite bool
}

// NewDirectory makes a folder, if it is not there, and checks that a report can
// be written to it: call it before anything is measured, so that a bad name
// costs no run. A folder that has a report already is refused unless overwrite
// is set.
func NewDirectory(name string, overwrite bool) (*Directory, error) {
	if name == "" {
		return nil, errors.New("report: the folder has no name: give one")
	}
	if err := os.MkdirAll(name, 0o777); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	d := &Directory{name, overwrite}
	for _, f := range (&Report{}).files() {
		if err := d.free(f.Name); err != nil {
			return nil, err
		}
	}
	f, err := createTemp(name)
	if err != nil {
		return nil, fmt.Errorf("report: the folder cannot be written to: %w", err)
	}
	return d, errors.Join(f.Close(), os.Remove(f.Name()))
}

// Name returns the folder's name.
func (d *Directory) Name() string { return d.name }

// free reports a file that is there and must not be overwritten.
func (d *Directory) free(name string) error {
	full := filepath.Join(d.name, name)
	if _, err := os.Lstat(full); err == nil && !d.overwrite {
		return taken(full)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func taken(name string) error {
	return fmt.Errorf("report: %s is there already: name another folder or file, or remove it: %w", name, fs.ErrExist)
}

// files are those of a report.
func (r *Report) files() []File {
	return []File{{"report.json", r.WriteJSON}, {"report.csv", r.WriteCSV}, {"report.html", r.WriteHTML}, {"report.md", r.WriteMarkdown}}
}

// Write writes report.json, report.csv, report.html, report.md and the files
// given, and returns their paths. Each gets its name when it is whole; on an
// error before that nothing is left behind, and none of those that are there is
// changed.
func (d *Directory) Write(r *Report, files ...File) (paths []string, err error) {
	all := append(r.files(), files...)
	seen := map[string]bool{}
	for _, f := range all {
		switch {
		case f.Name == "" || f.Name != filepath.Base(f.Name) || strings.HasPrefix(f.Name, ".") || strings.ContainsAny(f.Name, `/\:`):
			return nil, fmt.Errorf("report: %q is no name for a file in a folder", f.Name)
		case seen[f.Name]:
			return nil, fmt.Errorf("report: two files are named %s", f.Name)
		case f.Write == nil:
			return nil, fmt.Errorf("report: nothing writes %s", f.Name)
		}
		seen[f.Name] = true
		if err := d.free(f.Name); err != nil {
			return nil, err
		}
	}
	temps := make([]string, len(all))
	defer func() {
		for _, name := range temps {
			if name != "" {
				_ = os.Remove(name)
			}
		}
	}()
	for i, f := range all {
		if temps[i], err = writeTemp(d.name, f.Name, f.Write); err != nil {
			return nil, err
		}
	}
	for i, f := range all {
		full := filepath.Join(d.name, f.Name)
		if err := rename(temps[i], full, d.overwrite); err != nil {
			return paths, err
		}
		temps[i] = ""
		paths = append(paths, full)
	}
	return paths, nil
}

// WriteFile writes a file that gets its name when it is whole. One that is there
// is refused unless overwrite is set.
func WriteFile(name string, overwrite bool, write func(w io.Writer) error) error {
	if _, err := os.Lstat(name); err == nil && !overwrite {
		return taken(name)
	}
	temp, err := writeTemp(filepath.Dir(name), filepath.Base(name), write)
	if err != nil {
		return err
	}
	if err := rename(temp, name, overwrite); err != nil {
		_ = os.Remove(temp)
		return err
	}
	return nil
}

// createTemp creates a file under a name that is nobody's, with the rights that
// the user's files have: those of os.CreateTemp would be narrower.
func createTemp(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, ".report-"+rand.Text()+".tmp"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
}

// writeTemp writes a file under a name that is nobody's.
func writeTemp(dir, name string, write func(io.Writer) error) (temp string, err error) {
	f, err := createTemp(dir)
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("report: writing %s: %w", name, err)
	}
	return f.Name(), nil
}

// rename gives a file its name. Without overwrite the name is taken first, in
// one step, so that of two writers one is refused.
func rename(temp, name string, overwrite bool) error {
	if !overwrite {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return taken(name)
		} else if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		_ = f.Close()
	}
	if err := os.Rename(temp, name); err != nil {
		if !overwrite {
			_ = os.Remove(name) // it is empty, and this call's
		}
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
