// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"strconv"
	"strings"
)

// Network describes an interface: in a [Fingerprint] the one that carries the
// default route. The zero value knows nothing.
type Network struct {
	Interface string `json:"interface,omitempty"`
	// Mode is how the interface meets the hardware; empty where that is not known.
	Mode NetMode `json:"mode,omitempty"`
	// Driver and Bus are the kernel's names: virtio_net on virtio, ixgbe on pci.
	// Both are empty for an interface made of software.
	Driver string `json:"driver,omitempty"`
	Bus    string `json:"bus,omitempty"`
	// Master is the bridge or bond that the interface is a port of.
	Master string `json:"master,omitempty"`
	// MTU is in bytes.
	MTU int `json:"mtu,omitempty"`
	// SpeedMbit is the link's speed in Mbit/s as its driver reports it. 0: it
	// reports none, as virtio does by default.
	SpeedMbit int `json:"speed_mbit,omitempty"`
	// TxQueueLen is the length of the transmit queue in packets. 0 is a length: no
	// queue. nil: unknown.
	TxQueueLen *int `json:"tx_queue_len,omitempty"`
	RxQueues   int  `json:"rx_queues,omitempty"`
	TxQueues   int  `json:"tx_queues,omitempty"`
	// Lower lists the interfaces that this one stands on: the slaves of a bond, the
	// device under a VLAN, the virtual function under hv_netvsc, and of a bridge's
	// ports those that are neither tap nor veth, which lead to other guests.
	Lower []Network `json:"lower,omitempty"`
	// Evidence lists what interface and mode stand on.
	Evidence []string `json:"evidence,omitempty"`
}

// Limits of the way down from an interface: a bond on a bridge on a VLAN is 3.
const (
	maxLower      = 8
	maxLowerDepth = 3
)

func readNetwork(r files, v Virtualisation) Network {
	name, why := defaultRoute(r)
	if name == "" {
		return Network{}
	}
	guest := v.Guest != nil && *v.Guest
	metal := v.Guest != nil && !*v.Guest
	n := readInterface(r, name, place{guest: guest, metal: metal}, maxLowerDepth)
	n.Evidence = append([]string{why}, n.Evidence...)
	return n
}

// defaultRoute names the interface that a packet to an unknown address leaves by.
// IPv6 counts where IPv4 has no default route.
func defaultRoute(r files) (name, why string) {
	if name := defaultRoute4(r); name != "" {
		return name, "default route in /proc/net/route"
	}
	if name := defaultRoute6(r); name != "" {
		return name, "default route in /proc/net/ipv6_route"
	}
	return "", ""
}

// Flags of a route in the kernel's tables.
const (
	routeUp     = 0x0001
	routeReject = 0x0200
)

// defaultRoute4 reads Iface Destination Gateway Flags RefCnt Use Metric Mask …;
// numbers are hexadecimal except the metric.
func defaultRoute4(r files) string {
	s, _ := r.text("proc/net/route")
	best := bestRoute{}
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		best.offer(f[0], f[3], f[6], 10)
	}
	return best.name
}

// defaultRoute6 reads destination, its length, source, its length, next hop,
// metric, references, use, flags, interface; all numbers are hexadecimal.
func defaultRoute6(r files) string {
	s, _ := r.text("proc/net/ipv6_route")
	best := bestRoute{}
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) < 10 || strings.Trim(f[0], "0") != "" || f[1] != "00" || f[9] == "lo" {
			continue
		}
		best.offer(f[9], f[8], f[5], 16)
	}
	return best.name
}

// bestRoute keeps the usable route of the least metric, the first among equals.
type bestRoute struct {
	name   string
	metric uint64
}

func (b *bestRoute) offer(name, flags, metric string, metricBase int) {
	fl, errF := strconv.ParseUint(flags, 16, 32)
	m, errM := strconv.ParseUint(metric, metricBase, 32)
	if errF != nil || errM != nil || fl&routeUp == 0 || fl&routeReject != 0 {
		return
	}
	if b.name == "" || m < b.metric {
		b.name, b.metric = name, m
	}
}

func readInterface(r files, name string, at place, depth int) Network {
	dir := "sys/class/net/" + name
	n := Network{
		Interface: name,
		MTU:       r.positive(dir + "/mtu"),
		SpeedMbit: r.positive(dir + "/speed"),
	}
	n.Driver, _ = r.link(dir + "/device/driver")
	n.Bus, _ = r.link(dir + "/device/subsystem")
	n.Master, _ = r.link(dir + "/master")
	if l, ok := r.number(dir + "/tx_queue_len"); ok && l >= 0 {
		n.TxQueueLen = &l
	}
	for _, queue := range r.list(dir + "/queues") {
		switch {
		case strings.HasPrefix(queue, "rx-"):
			n.RxQueues++
		case strings.HasPrefix(queue, "tx-"):
			n.TxQueues++
		}
	}
	var why string
	n.Mode, why = netMode(r, dir, n, at)
	if why != "" {
		n.Evidence = []string{why}
	}
	n.Lower = readLower(r, dir, n.Mode, at, depth)
	return n
}

func readLower(r files, dir string, above NetMode, at place, depth int) []Network {
	if depth == 0 {
		return nil
	}
	var lower []Network
	for _, entry := range r.list(dir) {
		name, ok := strings.CutPrefix(entry, "lower_")
		if !ok {
			continue
		}
		l := readInterface(r, name, at, depth-1)
		if above == ModeBridge && (l.Mode == ModeTap || l.Mode == ModeVeth) {
			continue
		}
		if lower = append(lower, l); len(lower) == maxLower {
			break
		}
	}
	return lower
}
