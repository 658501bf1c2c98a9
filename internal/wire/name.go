// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"strings"
)

// Name is a short string that is kept in place, so that noting it allocates
// nothing; one longer than its room is kept as a string. The zero Name is empty.
type Name struct {
	n    uint8
	b    [39]byte
	long string
}

// Set makes b the name.
//
//go:noinline
func (n *Name) Set(b []byte) {
	if len(b) > len(n.b) {
		n.n = 0
		if n.long != string(b) {
			n.long = string(b)
		}
		return
	}
	n.n = uint8(copy(n.b[:], b))
	n.long = ""
}

// String returns the name; it allocates.
//
//go:noinline
func (n *Name) String() string {
	if n.long != "" {
		return n.long
	}
	return string(n.b[:n.n])
}

// Append appends the name to b.
//
//go:noinline
func (n *Name) Append(b []byte) []byte {
	if n.long != "" {
		return append(b, n.long...)
	}
	return append(b, n.b[:n.n]...)
}

// Holds reports whether s is part of the name.
func (n *Name) Holds(s string) bool {
	if n.long != "" {
		return strings.Contains(n.long, s)
	}
	return bytes.Contains(n.b[:n.n], []byte(s))
}

// Empty reports whether there is none.
func (n *Name) Empty() bool { return n.n == 0 && n.long == "" }
