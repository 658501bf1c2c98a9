// SPDX-License-Identifier: Apache-2.0

package wire

import "testing"

// TestCommon shares a Detail among answers, and none that has counts.
func TestCommon(t *testing.T) {
	t.Parallel()
	var common Common
	read := func(doc string) *Detail {
		var d Decoder
		var f Facts
		d.Share(&common)
		d.Init(ChatCompletions, false, false, &f)
		d.Write([]byte(doc))
		d.End()
		return f.Detail
	}
	a, b := read(`{"system_fingerprint":"fp_a"}`), read(`{"system_fingerprint":"fp_a"}`)
	if a != b || a.Fingerprint != "fp_a" {
		t.Errorf("%p %+v and %p %+v: want one", a, a, b, b)
	}
	own := read(`{"system_fingerprint":"fp_a","usage":{"prompt_tokens_details":{"audio_tokens":5}}}`)
	if own == a || *a != (Detail{Fingerprint: "fp_a", shared: true}) || *own != (Detail{Fingerprint: "fp_a", In: Modalities{Audio: 5}}) {
		t.Errorf("shared %+v, own %+v", a, own)
	}
	if own = read(`{"usage":{"prompt_tokens_details":{"audio_tokens":5}},"system_fingerprint":"fp_b"}`); *own != (Detail{Fingerprint: "fp_b", In: Modalities{Audio: 5}}) {
		t.Errorf("own %+v", own)
	}
	if c := read(`{"system_fingerprint":"fp_b"}`); c.Fingerprint != "fp_b" || a.Fingerprint != "fp_a" {
		t.Errorf("after another system: %+v, before %+v", c, a)
	}
	if none := read(`{"system_fingerprint":null,"usage":{"prompt_tokens_details":{"audio_tokens":0}}}`); none != nil {
		t.Errorf("nothing said: %+v", none)
	}
}
