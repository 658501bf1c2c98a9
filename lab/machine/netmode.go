// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"strconv"
	"strings"
)

// NetMode is how a network interface meets the hardware.
type NetMode string

// The modes that [Read] tells apart.
const (
	ModeVirtio      NetMode = "virtio"
	ModeParavirtual NetMode = "paravirtual" // vmxnet3, hv_netvsc, xen, gve, ibmveth
	ModeSRIOV       NetMode = "sr-iov-vf"   // a virtual function of a physical card
	ModePassthrough NetMode = "passthrough" // a PCI function given to a guest; whole or virtual is not told
	ModeEmulated    NetMode = "emulated"    // a model of an old card: e1000, rtl8139, pcnet32
	ModePhysical    NetMode = "physical"
	ModeWireless    NetMode = "wireless"
	ModeBridge      NetMode = "bridge"
	ModeBond        NetMode = "bond"
	ModeVLAN        NetMode = "vlan"
	ModeMacvlan     NetMode = "macvlan"
	ModeIPvlan      NetMode = "ipvlan"
	ModeTap         NetMode = "tap" // Master names its bridge, where it has one
	ModeTun         NetMode = "tun"
	ModeVeth        NetMode = "veth" // Master names its bridge, where it has one
	ModeWireGuard   NetMode = "wireguard"
)

// place is what is known of the machine below an interface. Both are false
// where nothing is.
type place struct{ guest, metal bool }

// netMode concludes the mode from the files in dir and the fields of n read so
// far. An empty mode comes with an empty reason.
func netMode(r files, dir string, n Network, at place) (mode NetMode, why string) {
	switch {
	case r.exists(dir + "/device/physfn"):
		return ModeSRIOV, "device/physfn exists"
	case r.exists(dir + "/wireless"), r.exists(dir + "/phy80211"):
		return ModeWireless, "phy80211 exists"
	case n.Bus == "" && n.Driver == "":
		return softwareMode(r, dir)
	case n.Bus == "virtio":
		return ModeVirtio, "device is on the virtio bus"
	case n.Bus == "xen":
		return ModeParavirtual, "device is on the xen bus"
	}
	byDriver := "driver " + n.Driver
	switch n.Driver {
	case "virtio_net":
		return ModeVirtio, byDriver
	case "vmxnet3", "hv_netvsc", "gve", "ibmveth":
		return ModeParavirtual, byDriver
	case "iavf", "i40evf", "ixgbevf", "igbvf", "mana":
		return ModeSRIOV, byDriver
	}
	if at.metal {
		return ModePhysical, byDriver + " on bare metal"
	}
	if !at.guest || n.Driver == "" {
		return "", ""
	}
	switch n.Driver {
	case "e1000", "8139cp", "8139too", "pcnet32", "tulip", "ne2k_pci":
		return ModeEmulated, byDriver + " in a guest"
	case "e1000e", "igb":
		// Both cards are also given to guests as they are. The models of them carry
		// the hypervisor's number as their subsystem: Red Hat's, VMware's.
		if v, _ := r.text(dir + "/device/subsystem_vendor"); v == "0x1af4" || v == "0x15ad" {
			return ModeEmulated, byDriver + " with subsystem vendor " + v
		}
	}
	if n.Bus == "pci" {
		return ModePassthrough, byDriver + " on pci in a guest"
	}
	return "", ""
}

// softwareMode serves an interface without a device below it.
func softwareMode(r files, dir string) (mode NetMode, why string) {
	if flags, ok := r.text(dir + "/tun_flags"); ok {
		// Bit 0: packets, bit 1: frames.
		switch n, _ := strconv.ParseUint(flags, 0, 32); n & 3 {
		case 1:
			return ModeTun, "tun_flags " + flags
		case 2:
			return ModeTap, "tun_flags " + flags
		}
	}
	if r.exists(dir + "/bridge") {
		return ModeBridge, "bridge exists"
	}
	if r.exists(dir + "/bonding") {
		return ModeBond, "bonding exists"
	}
	switch kind := deviceType(r, dir); kind {
	case "vlan", "macvlan", "ipvlan", "wireguard":
		return NetMode(kind), "DEVTYPE is " + kind
	case "":
		// An Ethernet interface whose link is another: its peer, in another
		// namespace or in this one.
		own, okOwn := r.number(dir + "/ifindex")
		peer, okPeer := r.number(dir + "/iflink")
		if kind, _ := r.number(dir + "/type"); okOwn && okPeer && own != peer && kind == 1 {
			return ModeVeth, "iflink differs from ifindex, no device"
		}
	}
	return "", ""
}

// deviceType reads DEVTYPE, which the kernel gives to most kinds of software
// interface, but not to veth.
func deviceType(r files, dir string) string {
	s, _ := r.text(dir + "/uevent")
	for line := range strings.Lines(s) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "DEVTYPE="); ok {
			return v
		}
	}
	return ""
}
