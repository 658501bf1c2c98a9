// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// Form finds the model, and whether a stream is asked for, in a
// multipart/form-data request, the way audio and image requests are sent: parts
// of those names with a short text. It looks for the parts' heads by their bytes,
// and so steps over files at the speed of a search. The zero value is ready;
// feed it pieces of any size.
type Form struct {
	model, stream field
	reading       *field
	state         formState
	tail          []byte // the end of the last piece, where a mark may have begun
	line          []byte // of a part's head, behind the mark
}

// field is the text of a part.
type field struct {
	text  []byte
	found bool
}

type formState uint8

const (
	formSearch formState = iota // for the head of a part
	formLine                    // in the line that names the part
	formHead                    // in the rest of its head
	formText                    // in its text
)

var (
	partMark = []byte("form-data;")
	headMark = []byte("\n\r\n")
)

// maxFormLine bounds the line that names a part.
const maxFormLine = 512

// Write feeds the next bytes.
func (f *Form) Write(p []byte) {
	for len(p) > 0 && !(f.model.found && f.stream.found) {
		switch f.state {
		case formSearch:
			p = f.find(p, partMark)
			f.line = f.line[:0]
		case formLine:
			line, rest := cutByte(p, '\r')
			f.line = append(f.line, line[:min(len(line), maxFormLine-len(f.line))]...)
			if p = rest; p == nil {
				return
			}
			f.state = formSearch
			if f.reading = f.named(); f.reading != nil {
				f.state = formHead
			}
		case formHead:
			p = f.find(p, headMark)
		case formText:
			text, rest := cutByte(p, '\r')
			if len(f.reading.text)+len(text) > maxToken {
				*f.reading = field{found: true} // too long to be one
				f.state = formSearch
				continue
			}
			f.reading.text = append(f.reading.text, text...)
			if p = rest; p != nil {
				f.reading.found, f.state = true, formSearch
			}
		}
	}
}

// named returns the field that a part's line names, nil for those of no
// interest and for one that has come before.
func (f *Form) named() *field {
	for p := range bytes.SplitSeq(f.line, []byte(";")) {
		name, ok := bytes.CutPrefix(bytes.TrimSpace(p), []byte("name="))
		if !ok {
			continue
		}
		var at *field
		switch string(bytes.Trim(name, `"`)) {
		case "model":
			at = &f.model
		case "stream":
			at = &f.stream
		}
		if at != nil && !at.found {
			return at
		}
	}
	return nil
}

// cutByte returns what stands before c and what behind it, nil when there is no c.
func cutByte(p []byte, c byte) (before, after []byte) {
	if i := bytes.IndexByte(p, c); i >= 0 {
		return p[:i], p[i+1:]
	}
	return p, nil
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

// End puts what was found into q.
func (f *Form) End(q *Request) {
	q.Model.Set(f.model.text)
	q.Stream = string(f.stream.text) == "true" || string(f.stream.text) == "True" || string(f.stream.text) == "1"
}
