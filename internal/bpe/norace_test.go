// SPDX-License-Identifier: Apache-2.0

//go:build !race

package bpe

const raceEnabled = false

// rounds is how often a random test is repeated.
func rounds(n int) int { return n }
