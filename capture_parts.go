// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/tacho-go/tacho/internal/wire"
)

// The parts of a message's content: texts, and data inline, by id or by address.

// parts are those of a content: a text, or a list of texts and objects.
func (m *contentMaker) parts(v any) (list []Part) {
	for _, e := range listOf(v) {
		switch e := e.(type) {
		case string, wire.Cut:
			s, lost := m.str(e)
			list = append(list, Part{Type: PartText, Text: s, Cut: lost})
		case map[string]any:
			list = append(list, m.part(e))
		}
	}
	return list
}

func (m *contentMaker) part(t map[string]any) Part {
	text := func(kind string, v any) Part {
		s, lost := m.str(v)
		return Part{Type: kind, Text: s, Cut: lost}
	}
	switch kind := m.word(t["type"]); kind {
	case "text", "input_text", "output_text", "summary_text":
		return text(PartText, t["text"])
	case "reasoning_text":
		return text(PartReasoning, t["text"])
	case "thinking":
		var p Part
		for _, e := range m.parts(t["thinking"]) {
			p.Text, p.Cut = p.Text+e.Text, p.Cut+e.Cut
		}
		p.Type = PartReasoning
		return p
	case "refusal":
		return text(PartRefusal, t["refusal"])
	case "image_url", "input_image", "video_url", "audio_url":
		modality, _, _ := strings.Cut(strings.TrimPrefix(kind, "input_"), "_")
		at := t["image_url"]
		if at == nil {
			at = t[kind]
		}
		if o, ok := at.(map[string]any); ok {
			at = o["url"]
		}
		return m.data(modality, "", at, t["file_id"])
	case "input_audio":
		a, _ := t["input_audio"].(map[string]any)
		mime := ""
		if f := m.word(a["format"]); f != "" {
			mime = "audio/" + f
		}
		return m.blob("audio", mime, a["data"])
	case "file", "input_file":
		f, ok := t["file"].(map[string]any)
		if !ok {
			f = t
		}
		at := f["file_data"]
		if at == nil {
			at = f["file_url"]
		}
		return m.data("document", "", at, f["file_id"])
	default:
		return m.other(kind, t)
	}
}

// other is a part of a type without a form of its own.
func (m *contentMaker) other(kind string, t map[string]any) Part {
	if kind == "" {
		kind = "unknown"
	}
	return Part{Type: kind, JSON: jsonText(m.plain(t))}
}

// data is what stands inline, at a URL or with the provider under an id.
func (m *contentMaker) data(modality, mime string, at, id any) Part {
	s, lost := "", int64(0)
	switch at := at.(type) {
	case string:
		s = at
	case wire.Cut:
		s, lost = at.S, at.Lost
	case nil:
		return Part{Type: PartFile, Modality: modality, FileID: m.word(id)}
	}
	head, data, inline := strings.Cut(s, ",")
	if !strings.HasPrefix(s, "data:") {
		if !strings.Contains(s, "://") { // bare base64, as some take it
			return m.blob(modality, mime, at)
		}
		return Part{Type: PartURI, Modality: modality, MIMEType: mime, URI: m.marked(bareURI(s), lost), Cut: lost}
	}
	if !inline { // cut in its head
		return m.blob(modality, "", at)
	}
	mime, _, _ = strings.Cut(strings.TrimPrefix(head, "data:"), ";")
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "image", "audio", "video":
		modality = kind
	}
	if lost > 0 {
		return m.blob(modality, mime, wire.Cut{S: data, Lost: lost})
	}
	return m.blob(modality, mime, data)
}

// blob is data inline; where a limit cut it, its size alone.
func (m *contentMaker) blob(modality, mime string, v any) Part {
	p := Part{Type: PartBlob, Modality: modality, MIMEType: mime}
	switch v := v.(type) {
	case string:
		p.Text = v
	case wire.Cut:
		p.Cut = int64(len(v.S)) + v.Lost
		p.Text = fmt.Sprintf("[cut by tacho: %d bytes]", p.Cut)
	}
	return p
}

// bareURI is a URI without its user, query and fragment: addresses that are
// signed have their credentials there.
func bareURI(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return redacted
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}
