// SPDX-License-Identifier: Apache-2.0

package sim

// Scaled returns the same server for calls whose prompts and answers are k times
// shorter.
func (s Serving) Scaled(k int) Serving { return s }
