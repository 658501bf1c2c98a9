// SPDX-License-Identifier: Apache-2.0

// Package bare holds tests and nothing else: whatever happens to an exchange,
// the application sees through tacho what it sees through the bare transport.
package bare
