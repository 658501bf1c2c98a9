// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"io/fs"
	"strconv"
	"strings"
)

// jiffies holds the machine's CPU time by what it went to, in ticks: user, nice,
// system, idle, iowait, irq, softirq, steal. The two columns after these, guest
// time, are also part of user and nice.
type jiffies struct {
	spent [8]uint64
	ok    bool
}

const stealColumn = 7

func readJiffies(fsys fs.FS) jiffies {
	s, _ := files{ctx: context.Background(), fsys: fsys}.text("proc/stat")
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "cpu" {
			continue
		}
		var j jiffies
		// Kernels before 2.6.11 have fewer columns and count no steal.
		if f = f[1:]; len(f) < len(j.spent) {
			return jiffies{}
		}
		for i := range j.spent {
			n, err := strconv.ParseUint(f[i], 10, 64)
			if err != nil {
				return jiffies{}
			}
			j.spent[i] = n
		}
		j.ok = true
		return j
	}
	return jiffies{}
}

// stealShare divides the stolen ticks by all. The kernel says that idle and
// iowait may step back; a column that did counts as no ticks.
func stealShare(before, after jiffies) (share float64, ok bool) {
	if !before.ok || !after.ok {
		return 0, false
	}
	var all, stolen uint64
	for i, n := range after.spent {
		if n <= before.spent[i] {
			continue
		}
		all += n - before.spent[i]
		if i == stealColumn {
			stolen = n - before.spent[i]
		}
	}
	if all == 0 {
		return 0, false
	}
	return float64(stolen) / float64(all), true
}
