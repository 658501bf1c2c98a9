// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
)

// Fingerprint describes a machine and the Go program on it. The zero value
// knows nothing and encodes as {}. It is plain data: safe to copy and, while
// nobody writes it, to read concurrently. Encoding and decoding as JSON gives the
// same value back.
type Fingerprint struct {
	Virtualisation Virtualisation `json:"virtualisation,omitzero"`
	Container      Container      `json:"container,omitzero"`
	Network        Network        `json:"network,omitzero"`

	// ClockSource is what the kernel reads the time from: tsc, kvm-clock, hpet.
	// Anything but the CPU's own counter makes each time stamp dearer.
	ClockSource string `json:"clock_source,omitempty"`
	// CongestionControl is the TCP congestion control of new connections.
	CongestionControl string `json:"tcp_congestion_control,omitempty"`
	// Kernel is the release, such as 6.8.0-45-generic.
	Kernel string `json:"kernel,omitempty"`
	// OS is the distribution's name for people.
	OS string `json:"os,omitempty"`

	CPUModel string `json:"cpu_model,omitempty"`
	// CPUsOnline counts the logical CPUs of the machine, Cores those that this
	// process may use; GOMAXPROCS is what the Go scheduler uses of them.
	CPUsOnline int `json:"cpus_online,omitempty"`
	Cores      int `json:"cores,omitempty"`
	GOMAXPROCS int `json:"gomaxprocs,omitempty"`
	// CPUQuota is the least CPU time per time that the control groups above this
	// process allow, in cores. 0: no limit found.
	CPUQuota float64 `json:"cpu_quota_cores,omitempty"`
	// MemoryBytes is the memory that the kernel manages. 0: unknown.
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`

	GoVersion string `json:"go_version,omitempty"`
	GOOS      string `json:"goos,omitempty"`
	GOARCH    string `json:"goarch,omitempty"`
}

// Read takes the fingerprint of this machine and this program. It reads about 40
// small files; after ctx ends it reads no further, and what is not read is
// absent. It never fails. On a system other than Linux it knows what Go knows:
// version, system, architecture, cores, GOMAXPROCS. Safe for concurrent use.
func Read(ctx context.Context) Fingerprint {
	f := ReadFS(ctx, hostFS())
	f.Cores = runtime.NumCPU()
	f.GOMAXPROCS = runtime.GOMAXPROCS(0)
	f.GoVersion = runtime.Version()
	f.GOOS = runtime.GOOS
	f.GOARCH = runtime.GOARCH
	return f
}

// ReadFS takes the fingerprint of a Linux machine from its root file system:
// a saved copy of /proc, /sys, /etc and /run, or one made up by a test. What
// belongs to a running Go program (Cores, GOMAXPROCS, GoVersion, GOOS, GOARCH)
// stays absent. Symbolic links count as evidence, so fsys should implement
// [fs.ReadLinkFS]; without it drivers and namespaces stay absent. A nil fsys
// gives the zero Fingerprint.
func ReadFS(ctx context.Context, fsys fs.FS) Fingerprint {
	r := files{ctx: ctx, fsys: fsys}
	cpu := readCPUInfo(r)
	virt := readVirtualisation(r, cpu)
	f := Fingerprint{
		Virtualisation: virt,
		Container:      readContainer(r),
		Network:        readNetwork(r, virt),
		CPUModel:       cpu.model(),
		CPUsOnline:     cpusOnline(r),
		CPUQuota:       cpuQuota(r),
		MemoryBytes:    memoryBytes(r),
		OS:             osName(r),
	}
	f.ClockSource, _ = r.text(clockSources + "current_clocksource")
	f.CongestionControl, _ = r.text("proc/sys/net/ipv4/tcp_congestion_control")
	f.Kernel, _ = r.text("proc/sys/kernel/osrelease")
	return f
}

// clockSources is the directory of the kernel's only clock source device.
const clockSources = "sys/devices/system/clocksource/clocksource0/"

// osName reads PRETTY_NAME, where os-release(5) says to look for it.
func osName(r files) string {
	s, ok := r.text("etc/os-release")
	if !ok {
		s, _ = r.text("usr/lib/os-release")
	}
	for line := range strings.Lines(s) {
		v, found := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME=")
		if !found {
			continue
		}
		if len(v) >= 2 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
			v = v[1 : len(v)-1]
		}
		return v
	}
	return ""
}

// memoryBytes reads MemTotal, which the kernel gives in KiB and calls kB.
func memoryBytes(r files) uint64 {
	s, _ := r.text("proc/meminfo")
	for line := range strings.Lines(s) {
		v, found := strings.CutPrefix(line, "MemTotal:")
		if !found {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")), 10, 54)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}
