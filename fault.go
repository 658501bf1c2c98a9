// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"time"
)

// fault classifies an error of the exchange: the caller's context first, then
// time-outs that a client sets by other means, else the given outcome.
func (x *exchange) fault(err error, other Outcome) (Outcome, string) {
	if g := x.guard(); g != nil && g.ended != nil {
		return Deadline, g.ended.kind()
	}
	var op *net.OpError
	end := x.ctx.parent.Err()
	if deadline, ok := x.ctx.parent.Deadline(); (end != nil || err != nil) && ok && !time.Now().Before(deadline) {
		// A client's own timer may cancel a moment before the deadline's does,
		// or cancel the request by Request.Cancel and not by its context.
		end = context.DeadlineExceeded
	}
	switch {
	case errors.Is(end, context.DeadlineExceeded):
		return Deadline, "timeout"
	case end != nil:
		return Cancelled, "cancelled"
	case err == nil:
		return other, "protocol"
	case errors.As(err, &op):
		return other, faultType(err)
	case errors.Is(err, context.DeadlineExceeded):
		return Deadline, "timeout"
	case errors.Is(err, context.Canceled):
		return Cancelled, "cancelled"
	}
	return other, faultType(err)
}

// faultType names a fault of the exchange, from a fixed list.
func faultType(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &dns):
		return "dns"
	case isTLS(err):
		return "tls"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.As(err, &op) && op.Op == "dial":
		return "connect"
	case errors.As(err, &op), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "connection"
	}
	return "protocol"
}

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) ||
		errors.As(err, &authority) || errors.As(err, &host)
}
