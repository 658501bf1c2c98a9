// SPDX-License-Identifier: Apache-2.0

// Package compat tests tacho below SDKs that others wrote: openai-go in its
// three majors and anthropic-sdk-go. It is a module of its own, outside
// go.work, because openai-go v3 alone takes a minute and a half of compilation:
//
//	cd compat && GOWORK=off go test ./...
package compat
