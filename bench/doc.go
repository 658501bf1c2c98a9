// SPDX-License-Identifier: Apache-2.0

// Package bench compares tacho with other libraries in one run. Its module has
// their dependencies, and nothing imports it:
//
//	cd bench && go test -run '^$' -bench . -benchmem
package bench
