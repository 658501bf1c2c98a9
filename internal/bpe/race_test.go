// SPDX-License-Identifier: Apache-2.0

//go:build race

package bpe

const raceEnabled = true

// rounds is how often a random test is repeated: less where each takes long.
func rounds(n int) int { return n / 10 }
