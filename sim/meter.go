// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

type meter struct{}

func (m *meter) open(q *request)                     {}
func (m *meter) token(q *request, now time.Duration) {}
func (m *meter) end(q *request)                      {}
func (m *meter) cancel()                             {}
