// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// maxFile bounds how much of one file is read, in bytes. The first processor of
// /proc/cpuinfo and the whole of every other file fit.
const maxFile = 64 << 10

// files reads small files below the root of a machine. Every method answers
// "absent" for what is missing, unreadable or asked for after the context ended:
// /sys files fail with EINVAL where a driver has nothing to say, so an error and
// a missing file mean the same. A nil fsys is a machine that tells nothing.
type files struct {
	ctx  context.Context
	fsys fs.FS
}

// hostFS is the root of this machine on Linux and nil elsewhere: no other system
// has /proc and /sys in Linux's format.
func hostFS() fs.FS {
	if runtime.GOOS != "linux" {
		return nil
	}
	return os.DirFS("/")
}

func (f files) usable() bool { return f.fsys != nil && f.ctx.Err() == nil }

// raw returns the first maxFile bytes of a file.
func (f files) raw(name string) (string, bool) {
	if !f.usable() {
		return "", false
	}
	file, err := f.fsys.Open(name)
	if err != nil {
		return "", false
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return "", false
	}
	return string(b), true
}

// text returns the file without surrounding white space and NULs (device tree
// strings end in one), as valid UTF-8: what JSON changes would differ when read back.
func (f files) text(name string) (string, bool) {
	s, ok := f.raw(name)
	return strings.ToValidUTF8(strings.Trim(s, " \t\r\n\x00"), "\uFFFD"), ok
}

// number returns the file as a decimal integer.
func (f files) number(name string) (int, bool) {
	s, ok := f.text(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// positive returns the file as an integer above 0, and 0 for anything else: the
// kernel writes 0 or -1 where it does not know.
func (f files) positive(name string) int {
	if n, ok := f.number(name); ok && n > 0 {
		return n
	}
	return 0
}

func (f files) exists(name string) bool {
	if !f.usable() {
		return false
	}
	_, err := fs.Stat(f.fsys, name)
	return err == nil
}

// link returns the last element of a symbolic link's target.
func (f files) link(name string) (string, bool) {
	if !f.usable() {
		return "", false
	}
	target, err := fs.ReadLink(f.fsys, name)
	if err != nil {
		return "", false
	}
	return path.Base(target), true
}

// list returns the names in a directory, sorted.
func (f files) list(dir string) []string {
	if !f.usable() {
		return nil
	}
	entries, err := fs.ReadDir(f.fsys, dir)
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
