// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// ReadTCPInfo asks the kernel about c, also through TLS. A connection that is
// closed or no TCP has none, and neither has a kernel that knows no RTT.
func ReadTCPInfo(c net.Conn) (info TCPInfo, ok bool) {
	tc, ok := tcpConn(c)
	if !ok {
		return info, false
	}
	raw, err := tc.SyscallConn()
	if err != nil {
		return info, false
	}
	ok = false
	err = raw.Control(func(fd uintptr) {
		ti, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil || ti.Rtt == 0 {
			return
		}
		ok = true
		info = TCPInfo{
			RTT:         time.Duration(ti.Rtt) * time.Microsecond,
			RTTVar:      time.Duration(ti.Rttvar) * time.Microsecond,
			Retransmits: int64(ti.Total_retrans),
		}
	})
	return info, ok && err == nil
}
