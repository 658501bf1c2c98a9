// SPDX-License-Identifier: Apache-2.0

// Package backend runs the programs that the files of deploy/out are for, on
// loopback and on free ports, and asks them.
package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The programs, by the names of their files.
const (
	Collector    = "collector"
	Prometheus   = "prometheus"
	Promtool     = "promtool"
	VictoriaLogs = "victoria-logs"
)

// Programs is the folder where .ci/programs puts the programs.
type Programs string

// Find returns the folder that TACHO_PROGRAMS names, and why it does not do when
// one of the programs is not there.
func Find(names ...string) (Programs, error) {
	dir := os.Getenv("TACHO_PROGRAMS")
	if dir == "" {
		return "", fmt.Errorf("TACHO_PROGRAMS names no folder with %s: .ci/run deploy builds them", strings.Join(names, ", "))
	}
	for _, n := range names {
		if _, err := os.Stat(filepath.Join(dir, n)); err != nil {
			return "", fmt.Errorf("%s is not to be had here: %w", n, err)
		}
	}
	return Programs(dir), nil
}

// Path returns that of a program.
func (p Programs) Path(name string) string { return filepath.Join(string(p), name) }
