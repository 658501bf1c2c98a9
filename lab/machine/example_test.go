// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"fmt"

	"github.com/tacho-go/tacho/lab/machine"
)

// Measure something between start and stop, and keep what the machine did
// beside its figures.
func Example() {
	fingerprint := machine.Read(context.Background())
	steal, stall := machine.StartSteal(), machine.StartStall(0)
	// … the calls to measure …
	stalls, stolen := stall.Stop(), steal.Stop()

	for _, line := range fingerprint.Lines() {
		fmt.Println(line)
	}
	fmt.Println(stalls)
	fmt.Println(stolen)
}

// Diff names what else differs between two machines under comparison.
func ExampleFingerprint_Diff() {
	host := machine.Fingerprint{Kernel: "6.8.0", Cores: 16, ClockSource: "tsc"}
	guest := machine.Fingerprint{Kernel: "6.8.0", Cores: 4, ClockSource: "kvm-clock"}
	for _, d := range host.Diff(guest) {
		fmt.Printf("%s: %s on the host, %s in the guest\n", d.Key, d.A, d.B)
	}
	// Output:
	// clock source: tsc on the host, kvm-clock in the guest
	// cores: 16 on the host, 4 in the guest
}
