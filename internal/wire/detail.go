// SPDX-License-Identifier: Apache-2.0

package wire

import "sync/atomic"

// Detail is what an answer says beside: that of most says the same, so that one
// is shared by all of them. One that is shared does not change.
type Detail struct {
	Fingerprint string // of the system
	In, Out     Modalities

	shared bool
}

// Modalities are the parts of a count that are not 0: servers that know text
// alone report 0 of the others.
type Modalities struct{ Text, Image, Audio int64 }

// Sum returns the tokens of all.
func (m Modalities) Sum() int64 { return m.Text + m.Image + m.Audio }

// Common keeps what the calls to one server have in common: the Detail of answers
// whose fingerprint is the last one seen, the shape of the last plain one and the
// template of the last request. The zero value is ready; it is safe for concurrent use.
type Common struct {
	_        [0]func() // not to be compared: no code for it is linked
	last     atomic.Pointer[Detail]
	shape    atomic.Pointer[shape]
	missed   atomic.Uint32 // answers in a row without the shape
	template atomic.Pointer[template]
	unlike   atomic.Uint32 // requests without the template, since many in a row had it
	alike    atomic.Uint32 // requests in a row with it, where there are some without
}

// of returns a shared Detail.
func (f *Common) of(print []byte) *Detail {
	if f == nil {
		return &Detail{Fingerprint: string(print)}
	}
	if d := f.last.Load(); d != nil && d.Fingerprint == string(print) {
		return d
	}
	d := &Detail{Fingerprint: string(print), shared: true}
	f.last.Store(d)
	return d
}

// Share lets d use what others have found in f.
func (d *Decoder) Share(f *Common) { d.common = f }

func (d *Decoder) setFingerprint(b []byte) {
	f := d.facts
	switch {
	case len(b) == 0:
	case f.Detail == nil || f.Detail.shared && f.Detail.Fingerprint != string(b):
		f.Detail = d.common.of(b)
	case f.Detail.Fingerprint != string(b):
		f.Detail.Fingerprint = string(b)
	}
}

// detail is the answer's own, to be written.
func (f *Facts) detail() *Detail {
	own := Detail{}
	if f.Detail != nil {
		if !f.Detail.shared {
			return f.Detail
		}
		own = *f.Detail
		own.shared = false
	}
	f.Detail = &own
	return f.Detail
}

func (d *Detail) modality(s slot) *int64 {
	m := &d.In
	if s >= uOutText {
		m, s = &d.Out, s-uOutText+uInText
	}
	switch s {
	case uInText:
		return &m.Text
	case uInImage:
		return &m.Image
	}
	return &m.Audio
}
