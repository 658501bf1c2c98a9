// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// Form finds the model in a multipart/form-data request, the way audio and
// image requests are sent: a part named "model" with a short text. It looks for
// that part's head by its bytes, and so steps over files at the speed of a
// search. The zero value is ready; feed it pieces of any size.
type Form struct {
	model []byte
	tail  []byte // the end of the last piece, where a head may have begun
	state uint8  // 0: looking for the head, 1: in its headers, 2: in the model, 3: over
}

var (
	formName = []byte(`name="model"`)
	formBody = []byte("\r\n\r\n")
)

// Write feeds the next bytes.
func (f *Form) Write(p []byte) {
	for len(p) > 0 && f.state < 3 {
		switch f.state {
		case 0:
			p = f.find(p, formName)
		case 1:
			p = f.find(p, formBody)
		case 2:
			end := bytes.IndexByte(p, '\r')
			if end < 0 {
				end = len(p)
			} else {
				f.state = 3
			}
			if len(f.model)+end > maxToken {
				f.model, f.state = nil, 3
				return
			}
			f.model = append(f.model, p[:end]...)
			p = p[end:]
		}
	}
}

// find looks for a mark that may be spread over pieces, and returns what is
// behind it.
func (f *Form) find(p, mark []byte) []byte {
	if n := len(f.tail); n > 0 {
		// The mark may begin in the last piece.
		joined := append(f.tail, p[:min(len(p), len(mark)-1)]...)
		if i := bytes.Index(joined, mark); i >= 0 {
			f.tail = f.tail[:0]
			f.state++
			return p[i+len(mark)-n:]
		}
		f.tail = joined[:n]
	}
	if i := bytes.Index(p, mark); i >= 0 {
		f.tail = f.tail[:0]
		f.state++
		return p[i+len(mark):]
	}
	f.tail = append(f.tail, p...)
	f.tail = append(f.tail[:0], f.tail[max(0, len(f.tail)-len(mark)+1):]...)
	return nil
}

// Model returns the model, empty when the form names none.
func (f *Form) Model() []byte { return f.model }
