// SPDX-License-Identifier: Apache-2.0

package sim

// fifo is a queue of requests. One that was cancelled stays in it, marked, until
// it comes to the head, and does not count.
type fifo struct {
	items []*request
	head  int
	n     int // those that are not cancelled
}

func (f *fifo) push(q *request) {
	if f.head > 64 && f.head > len(f.items)/2 {
		n := copy(f.items, f.items[f.head:])
		clear(f.items[n:])
		f.items, f.head = f.items[:n], 0
	}
	f.items = append(f.items, q)
	f.n++
}

// first returns the head, or nil.
func (f *fifo) first() *request {
	for f.head < len(f.items) {
		if q := f.items[f.head]; q.state != stateCancelled {
			return q
		}
		f.drop()
	}
	return nil
}

func (f *fifo) drop() {
	f.items[f.head] = nil
	f.head++
	if f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
}

// pop removes the head that first has returned.
func (f *fifo) pop() {
	f.drop()
	f.n--
}
