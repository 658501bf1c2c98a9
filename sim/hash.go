// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"hash/fnv"
	"io"
)

// mix chains hashes: the result depends on both and on their order. The steps are
// those of the splitmix64 generator's output function.
func mix(h, v uint64) uint64 {
	z := h*0x9e3779b97f4a7c15 + v + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func hashString(s string) uint64 {
	h := fnv.New64a()
	// A hash accepts all bytes.
	_, _ = io.WriteString(h, s)
	return h.Sum64()
}
