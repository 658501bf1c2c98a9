// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"syscall"

	"github.com/tacho-go/tacho"
)

// ErrorCount is how often calls came to nothing for one reason.
type ErrorCount struct {
	What   string `json:"what"`
	Count  int64  `json:"count"`
	Advice string `json:"advice,omitempty"`
}

// maxErrors bounds the reasons that are told apart.
const maxErrors = 20

// note counts a call that was not served by its reason. Texts of errors are not
// kept: they may hold content.
func (t *stageTally) note(e *ending) {
	what, advice := e.reason()
	if t.errors == nil {
		t.errors = map[string]*ErrorCount{}
	}
	n := t.errors[what]
	if n == nil {
		if len(t.errors) >= maxErrors {
			what, advice = "other", ""
		}
		if n = t.errors[what]; n == nil {
			n = &ErrorCount{What: what, Advice: advice}
			t.errors[what] = n
		}
	}
	n.Count++
}

func (e *ending) reason() (what, advice string) {
	if errors.Is(e.err, syscall.EADDRNOTAVAIL) {
		return "no local port is free", "Connections are opened faster than ports become free: " +
			"give tacho.WithConcurrency as many as calls are in flight, so that connections are kept, or bound the calls in flight."
	}
	if errors.Is(e.err, syscall.EMFILE) {
		return "too many open files", "Raise the limit (ulimit -n), or bound the calls in flight."
	}
	if p := (*panicked)(nil); errors.As(e.err, &p) {
		return p.what, "Call panicked " + p.where + "."
	}
	if m := misuse(""); errors.As(e.err, &m) {
		return string(m), ""
	}
	if e.err == errExit {
		return "Call ended its goroutine", "Call must return: it must not call runtime.Goexit, nor t.FailNow of a test."
	}
	if e.cut {
		return "cut off by the end of the run", ""
	}
	if e.call == nil {
		return "not measured", "Call made no call through a tacho.Transport, or with another context."
	}
	what = e.call.Outcome().String()
	if status, ok := e.call.Status(); ok && status >= 300 {
		what = strconv.Itoa(status) + " " + http.StatusText(status)
	}
	f, ok := e.call.Failure()
	switch {
	case ok && f.Code != "":
		what += " (" + f.Code + ")"
	case ok && f.Type != "":
		what += " (" + f.Type + ")"
	case e.call.Outcome() == tacho.Complete:
		kind := cmp.Or(e.otherKind(), "answer not accepted by Call")
		if status, ok := e.call.Status(); ok && status >= 300 {
			kind = what + ": " + kind
		}
		return kind, ""
	case e.call.Outcome() == tacho.Cut:
		return what, "A call is cut when its answer breaks off: the body ended, or the connection, before the answer did."
	}
	if c := (*tls.CertificateVerificationError)(nil); errors.As(e.err, &c) {
		advice = "The endpoint's certificate is not accepted: " + c.Err.Error() + "."
	}
	return what, advice
}

func sortedErrors(m map[string]*ErrorCount) (list []ErrorCount) {
	for _, e := range m {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What))
	})
	return list
}
