// SPDX-License-Identifier: Apache-2.0

// Package cli holds what the command lines of the example programs share: the
// exit codes, the endpoint to call, and the end by Ctrl-C.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit codes.
const (
	OK     = 0
	Failed = 1 // calls failed, no figures, or stopped before the end
	Usage  = 2 // a bad command line
	Broken = 3 // an objective is broken
)

// Program is a program that tests can drive: env is os.Getenv outside of them.
type Program func(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int

// Main runs a program and exits. The first Ctrl-C ends its context, so that it
// prints what it has; the second one ends the process.
func Main(run Program) {
	// A reader of the output that goes away, such as head, must not cost what was
	// measured: the file is still to be written.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// Files is the name of any number of files.
const Files = "…"

// Parse parses the arguments. done says that the program ends with code: help
// was asked for and is on stdout, or the arguments are bad and stderr says why.
// At most names of arguments that are no flags are accepted; each is named in
// the error for a missing one. With Files as the only name any number is.
func Parse(fs *flag.FlagSet, args []string, usage string, stdout, stderr io.Writer, names ...string) (code int, done bool) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		flags := 0
		fs.VisitAll(func(*flag.Flag) { flags++ })
		if flags > 0 {
			fmt.Fprint(stdout, "\nFlags:\n")
			fs.SetOutput(stdout)
			fs.PrintDefaults()
		}
		return OK, true
	case err != nil, len(names) == 1 && names[0] == Files:
	case fs.NArg() > len(names):
		err = fmt.Errorf("%q is no flag and no known command", fs.Arg(len(names)))
	case fs.NArg() < len(names):
		err = fmt.Errorf("%s is missing", names[fs.NArg()])
	}
	if err != nil {
		return Bad(stderr, fs.Name(), err), true
	}
	return OK, false
}

// Bad says what is wrong with the command line and returns its exit code.
func Bad(stderr io.Writer, name string, err error) int {
	fmt.Fprintf(stderr, "%s: %v\nRun \"%s -h\" for help.\n", name, err, strings.Fields(name)[0])
	return Usage
}
