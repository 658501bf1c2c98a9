// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/tacho-go/tacho"
)

var port = regexp.MustCompile(`(127\.0\.0\.1|client\.invalid):\d+`)

// describe tells all that an application can learn of an error.
func describe(err error) string {
	if err == nil {
		return "nil"
	}
	var types []string
	for e := err; e != nil; e = errors.Unwrap(e) {
		types = append(types, fmt.Sprintf("%T", e))
	}
	s := strings.Join(types, " > ") + " " + port.ReplaceAllString(fmt.Sprintf("%q", err), "$1")
	for _, is := range []error{context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded, io.ErrUnexpectedEOF} {
		if errors.Is(err, is) {
			s += fmt.Sprintf(", is %q", is)
		}
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) {
		s += fmt.Sprintf(", timeout %t", timeout.Timeout())
	}
	var temporary interface{ Temporary() bool }
	if errors.As(err, &temporary) {
		s += fmt.Sprintf(", temporary %t", temporary.Temporary())
	}
	return s
}

func outcomes(calls []*tacho.Call) []tacho.Outcome {
	var o []tacho.Outcome
	for _, c := range calls {
		o = append(o, c.Outcome())
	}
	return o
}
