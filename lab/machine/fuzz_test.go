// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tacho-go/tacho/lab/machine"
)

// FuzzReadFS puts any content into the files that are parsed. What comes out
// encodes, holds no negative figure and survives encoding.
func FuzzReadFS(f *testing.F) {
	g := guest()
	f.Add(g["proc/cpuinfo"], g["proc/net/route"], g["proc/self/cgroup"], "150000 100000", "0-3", "1000", g["proc/meminfo"])
	f.Add(armCPU, "", "4:cpu,cpuacct:/../x", "max 100000", "0,2-4", "-1", "MemTotal: -1 kB")
	f.Fuzz(func(t *testing.T, cpu, route, group, quota, online, figure, memory string) {
		fsys := tree(map[string]string{
			"proc/cpuinfo": cpu, "proc/net/route": route, "proc/net/ipv6_route": route,
			"proc/self/cgroup": group, "proc/1/cgroup": group, "run/.containerenv": group,
			"sys/fs/cgroup/cpu.max": quota, "sys/fs/cgroup/cpu/cpu.cfs_quota_us": figure, "sys/fs/cgroup/cpu/cpu.cfs_period_us": figure,
			"sys/devices/system/cpu/online": online, "proc/meminfo": memory,
			"sys/class/net/eth0/mtu": figure, "sys/class/net/eth0/speed": figure, "sys/class/net/eth0/tx_queue_len": figure,
			"sys/class/net/eth0/tun_flags": figure, "etc/os-release": group, "sys/firmware/acpi/tables/FACP": cpu,
		})
		fp := machine.ReadFS(t.Context(), fsys)
		n := fp.Network
		if fp.CPUsOnline < 0 || fp.CPUQuota < 0 || n.MTU < 0 || n.SpeedMbit < 0 || n.TxQueueLen != nil && *n.TxQueueLen < 0 {
			t.Errorf("a negative figure: %+v", fp)
		}
		b, err := json.Marshal(fp)
		if err != nil {
			t.Fatal(err)
		}
		var back machine.Fingerprint
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(b, again) {
			t.Errorf("encodes as %s, then as %s", b, again)
		}
		fp.Lines()
	})
}
