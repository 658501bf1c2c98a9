// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"testing"

	"github.com/tacho-go/tacho/lab/machine"
)

// hardware is an interface on a bus with a driver.
func hardware(name, bus, driver string) map[string]string {
	return map[string]string{
		"sys/class/net/" + name + "/device/driver":    "-> ../../../bus/" + bus + "/drivers/" + driver,
		"sys/class/net/" + name + "/device/subsystem": "-> ../../../bus/" + bus,
	}
}

func TestNetMode(t *testing.T) {
	t.Parallel()
	guest := map[string]string{"proc/cpuinfo": guestCPU}
	metal := map[string]string{"proc/cpuinfo": metalCPU}
	const eth0 = "sys/class/net/eth0/"
	for _, c := range []struct {
		name  string
		files []map[string]string
		mode  machine.NetMode
		why   string
	}{
		{"virtio", []map[string]string{guest, hardware("eth0", "virtio", "virtio_net")}, "virtio", "device is on the virtio bus"},
		{"xen", []map[string]string{guest, hardware("eth0", "xen", "vif")}, "paravirtual", "device is on the xen bus"},
		{"vmxnet3", []map[string]string{guest, hardware("eth0", "pci", "vmxnet3")}, "paravirtual", "driver vmxnet3"},
		{"hyper-v", []map[string]string{guest, hardware("eth0", "vmbus", "hv_netvsc")}, "paravirtual", "driver hv_netvsc"},
		{"virtual function on its host", []map[string]string{metal, hardware("eth0", "pci", "mlx5_core"),
			{eth0 + "device/physfn": "-> ../0000:01:00.0", "sys/class/net/eth0/0000:01:00.0/": ""}}, "sr-iov-vf", "device/physfn exists"},
		{"virtual function by driver", []map[string]string{guest, hardware("eth0", "pci", "iavf")}, "sr-iov-vf", "driver iavf"},
		{"e1000 in a guest", []map[string]string{guest, hardware("eth0", "pci", "e1000")}, "emulated", "driver e1000 in a guest"},
		{"rtl8139 in a guest", []map[string]string{guest, hardware("eth0", "pci", "8139cp")}, "emulated", "driver 8139cp in a guest"},
		{"e1000e of QEMU", []map[string]string{guest, hardware("eth0", "pci", "e1000e"), {eth0 + "device/subsystem_vendor": "0x1af4\n"}}, "emulated", "driver e1000e with subsystem vendor 0x1af4"},
		{"e1000e given to a guest", []map[string]string{guest, hardware("eth0", "pci", "e1000e"), {eth0 + "device/subsystem_vendor": "0x8086\n"}}, "passthrough", "driver e1000e on pci in a guest"},
		{"e1000e on metal", []map[string]string{metal, hardware("eth0", "pci", "e1000e")}, "physical", "driver e1000e on bare metal"},
		{"ena", []map[string]string{guest, hardware("eth0", "pci", "ena")}, "passthrough", "driver ena on pci in a guest"},
		{"card where nothing tells guest from metal", []map[string]string{hardware("eth0", "pci", "e1000")}, "", ""},
		{"usb in a guest", []map[string]string{guest, hardware("eth0", "usb", "cdc_ether")}, "", ""},
		{"wireless", []map[string]string{metal, hardware("eth0", "pci", "iwlwifi"), {eth0 + "phy80211/name": "phy0"}}, "wireless", "phy80211 exists"},
		{"tap", []map[string]string{metal, {eth0 + "tun_flags": "0x1002\n"}}, "tap", "tun_flags 0x1002"},
		{"tun", []map[string]string{metal, {eth0 + "tun_flags": "0x1001\n"}}, "tun", "tun_flags 0x1001"},
		{"bond", []map[string]string{metal, {eth0 + "bonding/mode": "802.3ad 4\n"}}, "bond", "bonding exists"},
		{"bridge", []map[string]string{metal, {eth0 + "bridge/stp_state": "0\n"}}, "bridge", "bridge exists"},
		{"vlan", []map[string]string{metal, {eth0 + "uevent": "DEVTYPE=vlan\nINTERFACE=eth0\n"}}, "vlan", "DEVTYPE is vlan"},
		{"macvlan", []map[string]string{{eth0 + "uevent": "DEVTYPE=macvlan\n", eth0 + "ifindex": "3", eth0 + "iflink": "2", eth0 + "type": "1"}}, "macvlan", "DEVTYPE is macvlan"},
		{"veth", []map[string]string{{eth0 + "uevent": "INTERFACE=eth0\n", eth0 + "ifindex": "3\n", eth0 + "iflink": "12\n", eth0 + "type": "1\n"}}, "veth", "iflink differs from ifindex, no device"},
		{"tunnel", []map[string]string{{eth0 + "ifindex": "3\n", eth0 + "iflink": "12\n", eth0 + "type": "768\n"}}, "", ""},
		{"dummy", []map[string]string{{eth0 + "ifindex": "3\n", eth0 + "iflink": "3\n", eth0 + "type": "1\n"}}, "", ""},
		{"kind unknown", []map[string]string{{eth0 + "uevent": "DEVTYPE=novel\n", eth0 + "ifindex": "3", eth0 + "iflink": "2", eth0 + "type": "1"}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := machine.ReadFS(t.Context(), tree(append(c.files, map[string]string{"proc/net/route": routes})...)).Network
			why := ""
			if len(n.Evidence) > 1 {
				why = n.Evidence[1]
			}
			if n.Mode != c.mode || why != c.why {
				t.Errorf("got %q because %q, want %q because %q", n.Mode, why, c.mode, c.why)
			}
		})
	}
}

func TestDefaultRoute(t *testing.T) {
	t.Parallel()
	const head = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
	const zero = "00000000000000000000000000000000"
	for _, c := range []struct{ name, route4, route6, want string }{
		{"least metric", head + "a 00000000 1 0003 0 0 600 00000000 0 0 0\nb 00000000 1 0003 0 0 100 00000000 0 0 0\n", "", "b"},
		{"first of equals", head + "a 00000000 1 0003 0 0 5 00000000 0 0 0\nb 00000000 1 0003 0 0 5 00000000 0 0 0\n", "", "a"},
		{"a default route only with a mask of 0", head + "a 00000000 1 0003 0 0 0 000000FF 0 0 0\n", "", ""},
		{"down", head + "a 00000000 1 0002 0 0 0 00000000 0 0 0\n", "", ""},
		{"reject", head + "a 00000000 1 0203 0 0 0 00000000 0 0 0\n", "", ""},
		{"short line", head + "a 00000000\n", "", ""},
		{"IPv6 only", head, zero + " 00 " + zero + " 00 " + zero + " 00000400 1 0 00000003 c\n" + zero + " 00 " + zero + " 00 " + zero + " ffffffff 1 0 00200200 lo\n", "c"},
		{"IPv6, metric in hexadecimal", "", zero + " 00 " + zero + " 00 " + zero + " 00000010 1 0 00000003 a\n" + zero + " 00 " + zero + " 00 " + zero + " 0000000f 1 0 00000003 b\n", "b"},
		{"IPv4 first", head + "a 00000000 1 0003 0 0 600 00000000 0 0 0\n", zero + " 00 " + zero + " 00 " + zero + " 00000001 1 0 00000003 c\n", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fsys := tree(map[string]string{"proc/net/route": c.route4, "proc/net/ipv6_route": c.route6})
			equal(t, machine.ReadFS(t.Context(), fsys).Network.Interface, c.want)
		})
	}
}

// A host whose guests hang on the bridge that has its default route.
func TestNetworkBelow(t *testing.T) {
	t.Parallel()
	fsys := tree(map[string]string{
		"proc/cpuinfo":                       metalCPU,
		"proc/net/route":                     "br0 00000000 1 0003 0 0 0 00000000 0 0 0\n",
		"sys/class/net/br0/bridge/stp_state": "0\n",
		"sys/class/net/br0/tx_queue_len":     "0\n",
		"sys/class/net/br0/lower_eno1":       "-> ../eno1",
		"sys/class/net/br0/lower_vnet0":      "-> ../vnet0",
		"sys/class/net/vnet0/tun_flags":      "0x1002\n",
		"sys/class/net/vnet0/master":         "-> ../br0",
		"sys/class/net/eno1/master":          "-> ../br0",
		"sys/class/net/eno1/speed":           "1000\n",
	}, hardware("eno1", "pci", "ixgbe"))
	f := machine.ReadFS(t.Context(), fsys)
	equal(t, encode(t, f.Network), `{"interface":"br0","mode":"bridge","tx_queue_len":0,"lower":[`+
		`{"interface":"eno1","mode":"physical","driver":"ixgbe","bus":"pci","master":"br0","speed_mbit":1000,"evidence":["driver ixgbe on bare metal"]}],`+
		`"evidence":["default route in /proc/net/route","bridge exists"]}`)
	lines := f.Lines()
	equal(t, lines[1], "network: br0, bridge, queue length 0 (default route in /proc/net/route; bridge exists)")
	equal(t, lines[2], "network below 1: eno1, physical, driver ixgbe, port of br0, 1000 Mbit/s (driver ixgbe on bare metal)")
}

// A loop in the tree of interfaces ends.
func TestNetworkBelowEnds(t *testing.T) {
	t.Parallel()
	fsys := tree(map[string]string{
		"proc/net/route":          "a 00000000 1 0003 0 0 0 00000000 0 0 0\n",
		"sys/class/net/a/lower_a": "-> ../a",
	})
	depth := 0
	for n := machine.ReadFS(t.Context(), fsys).Network; len(n.Lower) > 0; n = n.Lower[0] {
		depth++
	}
	if depth != 3 {
		t.Errorf("depth %d, want 3", depth)
	}
}
