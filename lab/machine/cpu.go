// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"path"
	"strconv"
	"strings"
)

// cpuInfo holds the first processor of /proc/cpuinfo.
type cpuInfo map[string]string

func readCPUInfo(r files) cpuInfo {
	s, _ := r.text("proc/cpuinfo")
	info := make(cpuInfo)
	for line := range strings.Lines(s) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			// A blank line ends a processor. Some kernels begin with one.
			if len(info) > 0 {
				break
			}
			continue
		}
		info[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return info
}

// hypervisorFlag is nil where the architecture has no such flag: only x86 lists
// its features under "flags".
func (c cpuInfo) hypervisorFlag() *bool {
	flags, ok := c["flags"]
	if !ok {
		return nil
	}
	for flag := range strings.FieldsSeq(flags) {
		if flag == "hypervisor" {
			return new(true)
		}
	}
	return new(false)
}

// model is the CPU's name, or what stands for one: arm64 gives numbers only.
func (c cpuInfo) model() string {
	for _, key := range []string{"model name", "cpu model", "cpu", "uarch"} {
		if v := c[key]; v != "" {
			return v
		}
	}
	implementer, part := c["CPU implementer"], c["CPU part"]
	if implementer == "" || part == "" {
		return ""
	}
	return "ARM implementer " + implementer + " part " + part
}

// maxCPUs is above what any kernel is built for (8192), so that no list overflows.
const maxCPUs = 1 << 20

// cpusOnline counts a list such as "0-3,8". 0: unknown.
func cpusOnline(r files) int {
	s, _ := r.text("sys/devices/system/cpu/online")
	n := 0
	for span := range strings.SplitSeq(s, ",") {
		first, last, ranged := strings.Cut(span, "-")
		if !ranged {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA != nil || errB != nil || a < 0 || b < a || b >= maxCPUs {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// cpuQuota is the least quota among the control groups from that of this process
// up to the root, in cores, and 0 where none limits it. It looks below
// /sys/fs/cgroup, where every distribution mounts the hierarchies. Inside a
// container the path of the process may be one of the host's; the root that the
// container sees is then its own group, and the way up ends there.
func cpuQuota(r files) float64 {
	s, _ := r.text("proc/self/cgroup")
	least := 0.0
	for line := range strings.Lines(s) {
		// hierarchy id : controllers : path
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		// A group outside the namespace's root reads "/../x"; Clean drops the dots.
		group = path.Clean("/" + group)
		switch {
		case controllers == "":
			least = leastQuota(least, r, "sys/fs/cgroup", group, quotaV2)
		case hasField(controllers, "cpu"):
			mount := "sys/fs/cgroup/" + controllers
			if !r.exists(mount) {
				mount = "sys/fs/cgroup/cpu"
			}
			least = leastQuota(least, r, mount, group, quotaV1)
		}
	}
	return least
}

func hasField(list, want string) bool {
	for f := range strings.SplitSeq(list, ",") {
		if f == want {
			return true
		}
	}
	return false
}

func leastQuota(least float64, r files, mount, group string, read func(files, string) float64) float64 {
	for {
		if q := read(r, path.Join(mount, group)); q > 0 && (least == 0 || q < least) {
			least = q
		}
		if group == "/" {
			return least
		}
		group = path.Dir(group)
	}
}

// quotaV2 reads "quota period" in microseconds; the quota "max" is none.
func quotaV2(r files, dir string) float64 {
	s, _ := r.text(dir + "/cpu.max")
	quota, period, _ := strings.Cut(s, " ")
	q, errQ := strconv.ParseUint(quota, 10, 64)
	p, errP := strconv.ParseUint(period, 10, 64)
	if errQ != nil || errP != nil || p == 0 {
		return 0
	}
	return float64(q) / float64(p)
}

// quotaV1 reads two files in microseconds; the quota -1 is none.
func quotaV1(r files, dir string) float64 {
	q := r.positive(dir + "/cpu.cfs_quota_us")
	p := r.positive(dir + "/cpu.cfs_period_us")
	if p == 0 {
		return 0
	}
	return float64(q) / float64(p)
}
