// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/load"
)

// What the machine has run out of is named, with what to do about it.
func TestExhausted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		errno        syscall.Errno
		what, advice string
	}{
		{syscall.EADDRNOTAVAIL, "no local port is free", "tacho.WithConcurrency"},
		{syscall.EMFILE, "too many open files", "ulimit -n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			res, err := load.Run(t.Context(), load.Config{
				Stages: []load.Stage{load.Constant(2, time.Second)},
				Call: func(context.Context, load.Job) error {
					return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", tt.errno)}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			e := res.Stages[0].Errors
			if len(e) != 1 || e[0].What != tt.what || e[0].Count != 2 || !strings.Contains(e[0].Advice, tt.advice) {
				t.Errorf("%v: %+v", tt.errno, e)
			}
		})
	}
}
