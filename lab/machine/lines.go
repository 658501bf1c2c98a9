// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Lines tells the fingerprint in "key: value" lines for a terminal, in a fixed
// order. What is unknown is left out; a fingerprint that knows nothing has none.
func (f Fingerprint) Lines() []string {
	var lines []string
	for _, fact := range f.facts() {
		line := fact.key + ": " + fact.value
		if len(fact.evidence) > 0 {
			line += " (" + strings.Join(fact.evidence, "; ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// Difference is one fact in which two fingerprints differ, in the words of
// [Fingerprint.Lines] without evidence. An empty side does not know it.
type Difference struct {
	Key string `json:"key"`
	A   string `json:"a,omitempty"`
	B   string `json:"b,omitempty"`
}

// Diff lists where f (side A) and g (side B) differ, in the order of
// [Fingerprint.Lines]. Each is a candidate cause for a difference between
// measurements taken on the two, beside the one under study.
func (f Fingerprint) Diff(g Fingerprint) []Difference {
	a, b := f.facts(), g.facts()
	at := make(map[string]string, len(b))
	for _, fact := range b {
		at[fact.key] = fact.value
	}
	var diff []Difference
	known := make(map[string]bool, len(a))
	for _, fact := range a {
		known[fact.key] = true
		if at[fact.key] != fact.value {
			diff = append(diff, Difference{Key: fact.key, A: fact.value, B: at[fact.key]})
		}
	}
	for _, fact := range b {
		if !known[fact.key] {
			diff = append(diff, Difference{Key: fact.key, B: fact.value})
		}
	}
	return diff
}

type fact struct {
	key, value string
	evidence   []string
}

// facts lists what is known, in a fixed order.
func (f Fingerprint) facts() []fact {
	var facts []fact
	add := func(key, value string, evidence ...string) {
		if value != "" {
			facts = append(facts, fact{key, value, evidence})
		}
	}
	v, c, n := f.Virtualisation, f.Container, f.Network
	add("virtualised", yesNo(v.Guest, string(v.Kind)), v.Evidence...)
	add("container", yesNo(c.Inside, string(c.Kind)), c.Evidence...)
	add("network", n.describe(), n.Evidence...)
	for i, l := range n.Lower {
		add("network below "+strconv.Itoa(i+1), l.describe(), l.Evidence...)
	}
	add("clock source", f.ClockSource)
	add("tcp congestion control", f.CongestionControl)
	add("kernel", f.Kernel)
	add("os", f.OS)
	add("cpu", f.CPUModel)
	add("cpus online", positive(f.CPUsOnline))
	add("cores", positive(f.Cores))
	add("GOMAXPROCS", positive(f.GOMAXPROCS))
	if f.CPUQuota > 0 {
		add("cpu quota", strconv.FormatFloat(f.CPUQuota, 'g', 4, 64)+" cores")
	}
	if f.MemoryBytes > 0 {
		add("memory", fmt.Sprintf("%.1f GiB", float64(f.MemoryBytes)/(1<<30)))
	}
	if f.GoVersion != "" {
		add("go", strings.TrimSuffix(f.GoVersion+" "+f.GOOS+"/"+f.GOARCH, " /"))
	}
	return facts
}

// describe joins what is known of an interface with commas.
func (n Network) describe() string {
	if n.Interface == "" {
		return ""
	}
	parts := []string{n.Interface}
	add := func(format, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("%s", string(n.Mode))
	add("driver %s", n.Driver)
	add("port of %s", n.Master)
	add("MTU %s", positive(n.MTU))
	add("%s Mbit/s", positive(n.SpeedMbit))
	if n.TxQueueLen != nil {
		add("queue length %s", strconv.Itoa(*n.TxQueueLen))
	}
	if n.RxQueues > 0 || n.TxQueues > 0 {
		add("%s queues", fmt.Sprintf("%d rx %d tx", n.RxQueues, n.TxQueues))
	}
	return strings.Join(parts, ", ")
}

// yesNo tells a fact that may be unknown; a kind stands for yes.
func yesNo(known *bool, kind string) string {
	switch {
	case known == nil:
		return kind
	case !*known:
		return "no"
	}
	return cmp.Or(kind, "yes")
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
