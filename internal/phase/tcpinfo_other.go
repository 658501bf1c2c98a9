// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package phase

import "net"

// ReadTCPInfo has no source outside Linux: the figures are absent.
func ReadTCPInfo(net.Conn) (TCPInfo, bool) { return TCPInfo{}, false }
