// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/tacho-go/tacho/lab/machine"
)

// guest is a KVM guest with one virtio interface.
func guest() map[string]string {
	return map[string]string{
		"proc/cpuinfo":                             guestCPU,
		"proc/meminfo":                             "MemTotal:       24683656 kB\nMemFree: 1 kB\n",
		"proc/net/route":                           routes,
		"proc/self/cgroup":                         "0::/user.slice/run\n",
		"proc/sys/kernel/osrelease":                "6.8.0-45-generic\n",
		"proc/sys/net/ipv4/tcp_congestion_control": "cubic\n",
		"etc/os-release":                           "-> ../usr/lib/os-release",
		"usr/lib/os-release":                       "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n",
		"sys/fs/cgroup/user.slice/cpu.max":         "150000 100000\n",
		"sys/fs/cgroup/user.slice/run/cpu.max":     "max 100000\n",
		"sys/devices/system/cpu/online":            "0-2,5\n",
		"sys/class/dmi/id/sys_vendor":              "QEMU\n",
		"sys/class/dmi/id/product_name":            "Standard PC (i440FX + PIIX, 1996)\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource":   "tsc\n",
		"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc kvm-clock \n",
		"sys/class/net/eth0":                            "-> ../../devices/pci/virtio2/net/eth0",
		"sys/devices/pci/virtio2/net/eth0/device":       "-> ../../../virtio2",
		"sys/devices/pci/virtio2/driver":                "-> ../../../bus/virtio/drivers/virtio_net",
		"sys/devices/pci/virtio2/subsystem":             "-> ../../../bus/virtio",
		"sys/devices/pci/virtio2/net/eth0/mtu":          "1400\n",
		"sys/devices/pci/virtio2/net/eth0/speed":        "-1\n",
		"sys/devices/pci/virtio2/net/eth0/tx_queue_len": "1000\n",
		"sys/devices/pci/virtio2/net/eth0/queues/rx-0/": "",
		"sys/devices/pci/virtio2/net/eth0/queues/tx-0/": "",
		"sys/devices/pci/virtio2/net/eth0/queues/tx-1/": "",
	}
}

func TestReadFS(t *testing.T) {
	t.Parallel()
	f := machine.ReadFS(t.Context(), tree(guest()))
	equal(t, encode(t, f), `{"virtualisation":{"guest":true,"kind":"kvm","hypervisor_flag":true,"evidence":[`+
		`"clock source kvm-clock is on offer","DMI sys_vendor: QEMU","/proc/cpuinfo has the hypervisor flag"]},`+
		`"network":{"interface":"eth0","mode":"virtio","driver":"virtio_net","bus":"virtio","mtu":1400,"tx_queue_len":1000,`+
		`"rx_queues":1,"tx_queues":2,"evidence":["default route in /proc/net/route","device is on the virtio bus"]},`+
		`"clock_source":"tsc","tcp_congestion_control":"cubic","kernel":"6.8.0-45-generic","os":"Debian GNU/Linux 13 (trixie)",`+
		`"cpu_model":"AMD EPYC","cpus_online":4,"cpu_quota_cores":1.5,"memory_bytes":25276063744}`)

	var back machine.Fingerprint
	if err := json.Unmarshal([]byte(encode(t, f)), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f, back) {
		t.Errorf("decoded %+v, encoded %+v", back, f)
	}
}

func TestReadFSKnowsNothing(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	garbage := map[string]string{}
	for name, content := range guest() {
		if !strings.HasPrefix(content, "-> ") && !strings.HasSuffix(name, "/") {
			garbage[name] = ""
		}
	}
	for name, f := range map[string]machine.Fingerprint{
		"nil":           machine.ReadFS(t.Context(), nil),
		"empty":         machine.ReadFS(t.Context(), tree()),
		"ended context": machine.ReadFS(ended, tree(guest())),
		"empty files":   machine.ReadFS(t.Context(), tree(garbage)),
	} {
		if got := encode(t, f); got != `{}` {
			t.Errorf("%s: %s", name, got)
		}
		if lines := f.Lines(); len(lines) != 0 {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

func TestReadKnowsGo(t *testing.T) {
	t.Parallel()
	f := machine.Read(t.Context())
	if f.Cores != runtime.NumCPU() || f.GOMAXPROCS != runtime.GOMAXPROCS(0) || f.GoVersion != runtime.Version() ||
		f.GOOS != runtime.GOOS || f.GOARCH != runtime.GOARCH {
		t.Errorf("%+v", f)
	}
}

func TestReadFSParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"quota v1", map[string]string{
			"proc/self/cgroup":                            "4:cpu,cpuacct:/docker/x\n0::/\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "250000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
		}, `{"cpu_quota_cores":2.5}`},
		{"quota v1 in a directory of another name", map[string]string{
			"proc/self/cgroup":                    "4:cpuacct,cpu:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "50000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, `{"cpu_quota_cores":0.5}`},
		{"quota v1, none", map[string]string{
			"proc/self/cgroup":                    "1:cpu:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "-1\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, `{}`},
		{"quota v2, the least on the way up", map[string]string{
			"proc/self/cgroup":          "0::/a/b\n",
			"sys/fs/cgroup/a/cpu.max":   "100000 100000\n",
			"sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
		}, `{"cpu_quota_cores":1}`},
		{"quota v2, group outside the namespace", map[string]string{
			"proc/self/cgroup":      "0::/../../other\n",
			"sys/fs/cgroup/cpu.max": "200000 100000\n",
		}, `{"cpu_quota_cores":2}`},
		{"quota v2, period 0", map[string]string{
			"proc/self/cgroup":      "0::/\n",
			"sys/fs/cgroup/cpu.max": "200000 0\n",
		}, `{}`},
		{"arm64 CPU", map[string]string{"proc/cpuinfo": armCPU}, `{"cpu_model":"ARM implementer 0x41 part 0xd0c"}`},
		{"os name without quotes, second place", map[string]string{"usr/lib/os-release": "PRETTY_NAME=Alpine\n"}, `{"os":"Alpine"}`},
		{"one CPU", map[string]string{"sys/devices/system/cpu/online": "0\n"}, `{"cpus_online":1}`},
		{"CPU list beyond any kernel", map[string]string{"sys/devices/system/cpu/online": "0-9223372036854775807\n"}, `{}`},
		{"CPU list that is none", map[string]string{"sys/devices/system/cpu/online": "0-x\n"}, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			equal(t, encode(t, machine.ReadFS(t.Context(), tree(c.files))), c.want)
		})
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	f := machine.ReadFS(t.Context(), tree(guest()))
	f.Cores, f.GOMAXPROCS, f.GoVersion, f.GOOS, f.GOARCH = 4, 2, "go1.26.0", "linux", "amd64"
	equal(t, strings.Join(f.Lines(), "\n"), `virtualised: kvm (clock source kvm-clock is on offer; DMI sys_vendor: QEMU; /proc/cpuinfo has the hypervisor flag)
network: eth0, virtio, driver virtio_net, MTU 1400, queue length 1000, 1 rx 2 tx queues (default route in /proc/net/route; device is on the virtio bus)
clock source: tsc
tcp congestion control: cubic
kernel: 6.8.0-45-generic
os: Debian GNU/Linux 13 (trixie)
cpu: AMD EPYC
cpus online: 4
cores: 4
GOMAXPROCS: 2
cpu quota: 1.5 cores
memory: 23.5 GiB
go: go1.26.0 linux/amd64`)
}

func TestDiff(t *testing.T) {
	t.Parallel()
	a := machine.Fingerprint{Kernel: "6.8", Cores: 4, OS: "Debian", Virtualisation: machine.Virtualisation{Guest: new(true), Evidence: []string{"x"}}}
	b := machine.Fingerprint{Kernel: "6.9", Cores: 4, ClockSource: "tsc", Virtualisation: machine.Virtualisation{Guest: new(false)}}
	equal(t, encode(t, a.Diff(b)), `[{"key":"virtualised","a":"yes","b":"no"},{"key":"kernel","a":"6.8","b":"6.9"},`+
		`{"key":"os","a":"Debian"},{"key":"clock source","b":"tsc"}]`)
	if d := a.Diff(a); d != nil {
		t.Errorf("a fingerprint differs from itself: %v", d)
	}
}
