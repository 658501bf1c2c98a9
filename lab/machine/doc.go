// SPDX-License-Identifier: Apache-2.0

// Package machine records on which machine a measurement ran, and how still
// that machine held while it ran.
//
//   - [Read] takes a [Fingerprint]: virtual or not, the network interface that
//     carries the default route, clock source, kernel, CPU, memory, Go. Each
//     conclusion names the files it stands on.
//   - [StartSteal] measures the share of CPU time that the hypervisor took away
//     during a run, and the CPU time of this process.
//   - [StartStall] measures by how much short sleeps overshoot, which bounds
//     what a latency measured in this process can mean.
//
// A fact that the machine does not tell is absent: left out of the JSON, nil or
// empty in the struct, false as the second result of a method. Absent never
// means no.
//
// A fingerprint holds no host name, address, serial number, container id or
// user name. It shows the machine from inside: how a hypervisor carries a
// virtual interface on (bridged, NAT, routed) is visible only on its host.
package machine
