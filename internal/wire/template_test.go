// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// request reads a whole request, with what common knows of others.
func request(common *Common, doc string) Request {
	if q := common.Request([]byte(doc)); q != nil {
		return *q
	}
	var d Decoder
	d.Share(common)
	q := new(Request)
	d.ReadRequest([]byte(doc), q)
	return *q
}

// sameRequest compares what is read of a request with the template of another, and
// without.
func sameRequest(t *testing.T, learnt, doc string) {
	t.Helper()
	var common Common
	request(&common, learnt)
	got := request(&common, doc)
	want := request(new(Common), doc)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Name{})); diff != "" {
		t.Fatalf("(-without +with the template)\n%s\nof %q\nand %q", diff, learnt, doc)
	}
}

// asked is a request with its usual members.
func asked(model, system, user, rest string) string {
	return `{"model":"` + model + `","messages":[{"role":"system","content":"` + system + `"},{"role":"user","content":[{"type":"text","text":"` + user + `"}]}],"max_tokens":50` + rest + `}`
}

var requestPairs = [][2]string{
	{asked("m", "a", "b", ""), asked("m", "", `longer, with \"quotes\" and \\`, "")},
	{asked("m", "a", "b", ""), asked("other", "a", "b", "")},
	{asked("m", "a", "b", ""), asked("m", "a", "b", `,"n":2`)},
	{asked("m", "a", "b", ""), asked("m", "a", `b"}]}],"n":3,"x":[{"a":[{"b":"`, "")},
	{asked("m", "a", "b", ""), asked("m", "a", "b", "") + "\n"},
	{asked("m", "a", "b", ""), asked("m", "a", "b", "")[:60]},
	{asked("m", "a", "b", ""), ""},
	{asked("m", "a", "b", `,"stream":true,"tools":[{"function":{"name":"f","description":"content"}}]`), asked("m", "a", "b", `,"stream":true,"tools":[{"function":{"name":"g","description":"content"}}]`)},
	{`{"input":"a","model":"m"}`, `{"input":"bcd","model":"m"}`},
	{`{"input":["a","b"],"model":"m"}`, `{"input":["a","b","c"],"model":"m"}`},
	{`{"prompt":"a","model":"m"}`, `{"prompt":"b","model":"n"}`},
	{`{"instructions":"a","input":"b","model":"m"}`, `{"instructions":"c","input":"d","model":"m"}`},
	{`{"instructions":{"a":"b"},"prompt":{"id":"a"},"model":"m"}`, `{"instructions":{"a":"c"},"prompt":{"id":"b"},"model":"n"}`},
	{`{"messages":[{"content":"a"}],"model" : "m"}`, `{"messages":[{"content":"a"}],"model" : "n"}`},
	{`{"messages":[{"content":null}],"model" : "m"}`, `{"messages":[{"content":null}],"modex" : "m"}`},
	{`{"messages":[{"content":["a"],"model" : "m"}]}`, `{"messages":[{"content":["a"],"n" : "m"}]}`},
	{`{"messages":[{"content" : "a"}],"model":"m"}`, `{"messages":[{"content" : "b"}],"model":"m"}`},
	{`{"model":"m","text":{"format":{"type":"text"}},"reasoning":{"effort":"low"}}`, `{"model":"m","text":{"format":{"type":"json"}},"reasoning":{"effort":"high"}}`},
	{`{"response_format":{"content":"a","type":"b"},"stop":["content","x"]}`, `{"response_format":{"content":"a","type":"c"},"stop":["content","y"]}`},
	{`{"messages":[],"messages":[{"content":"a"}],"n":1}`, `{"messages":[],"messages":[{"content":"b"}],"n":2}`},
	{`[{"messages":[{"content":"a"}],"model":"m"}]`, `[{"messages":[{"content":"b"}],"model":"n"}]`},
	{`{"messages":[{"content":"a"}]`, `{"messages":[{"content":"b"}]`},
	{`{"messages":[{"content":"\u0022"}],"temperature":1}`, `{"messages":[{"content":"\u00"}],"temperature":1}`},
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	for i, p := range requestPairs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			sameRequest(t, p[0], p[0])
			sameRequest(t, p[0], p[1])
			sameRequest(t, p[1], p[0])
		})
	}
}

func FuzzTemplate(f *testing.F) {
	for _, p := range requestPairs {
		f.Add(p[0], p[1])
	}
	f.Fuzz(func(t *testing.T, learnt, doc string) {
		sameRequest(t, learnt, learnt)
		sameRequest(t, learnt, doc)
	})
}

// TestTemplateFits: a request that differs in its texts alone is not read, and no
// text of one before is kept.
func TestTemplateFits(t *testing.T) {
	t.Parallel()
	var common Common
	request(&common, asked("m", "secret", "word", ""))
	first := common.template.Load()
	if first == nil || first.ntexts != 2 || strings.Contains(first.literal, "secret") || strings.Contains(first.literal, "word") {
		t.Fatalf("the first request made %+v", first)
	}
	if q := common.Request([]byte(asked("m", `\"`, strings.Repeat("long ", 1000), ""))); q != first.req {
		t.Error("a request that differs in its texts is read again")
	}
	for _, kept := range []string{`,"arguments":"` + strings.Repeat("x", maxWord+1) + `"`, strings.Repeat(`,"content":"c"`, maxTexts) + `,"content":"` + strings.Repeat("x", maxWord+1) + `"`} {
		var own Common
		request(&own, strings.Replace(asked("m", "a", "b", ""), `]}],"max`, `]`+kept+`}],"max`, 1))
		if own.template.Load() != nil {
			t.Errorf("a template keeps a text of %q", kept)
		}
	}
	for n := range maxTexts + 2 {
		turn := asked("m", "a", "b", "")
		turn = strings.Replace(turn, `]}],"max`, `]}`+strings.Repeat(`,{"content":"c"}`, n)+`],"max`, 1)
		var own Common
		if request(&own, turn); own.Request([]byte(turn)) == nil {
			t.Errorf("a request of %d texts does not fit itself", n+2)
		}
	}
	if request(&common, asked("m", strings.Repeat("long ", maxTemplate/4), "b", `,"n":1`)); common.template.Load() == first {
		t.Error("a text that is long makes no template")
	}
	first = common.template.Load()
	common.unlike.Store(0)
	if request(&common, asked("m", strings.Repeat("x", maxLearnt), "b", `,"n":2`)); common.template.Load() != first {
		t.Error("a request that is longer than is checked makes a template")
	}
	if common.Request([]byte(asked("m", strings.Repeat("x", maxLearnt), "b", `,"n":1`))) == nil {
		t.Error("a request that is longer than is checked does not fit")
	}
	common.unlike.Store(0)
	if request(&common, asked("m", "a", "b", `,"tools":["`+strings.Repeat("x", maxTemplate)+`"]`)); common.template.Load() != first {
		t.Error("what is longer than a template may be made one")
	}
}

// TestTemplateOfMany: of requests that are never alike, the first, the second, the
// fourth and so on make a template.
func TestTemplateOfMany(t *testing.T) {
	t.Parallel()
	var common Common
	made := []int{}
	for i, last := 1, (*template)(nil); i <= 20; i++ {
		request(&common, asked(fmt.Sprint("m", i), "a", "b", ""))
		if now := common.template.Load(); now != last {
			made, last = append(made, i), now
		}
	}
	if diff := cmp.Diff([]int{1, 2, 4, 8, 16}, made); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i := range manyAlike {
		if common.unlike.Load() == 0 {
			t.Errorf("%d that fit begin the count anew", i)
		}
		if common.Request([]byte(asked("m16", "x", "y", ""))) == nil {
			t.Error("one that is alike does not fit")
		}
	}
	if common.unlike.Load() != 0 {
		t.Error("many that fit do not begin the count anew")
	}
}

// TestTemplateOfTwo: requests of two kinds that take turns are not learnt again and
// again, and what is long never is.
func TestTemplateOfTwo(t *testing.T) {
	t.Parallel()
	var common Common
	made := 0
	for i, last := 0, (*template)(nil); i < 1000; i++ {
		request(&common, asked(fmt.Sprint("m", i%2), "a", "b", ""))
		if now := common.template.Load(); now != last {
			made, last = made+1, now
		}
	}
	if made > 10 {
		t.Errorf("%d templates are made of 1000 requests", made)
	}
	common = Common{}
	if request(&common, asked("m", strings.Repeat("x", maxLearnt), "b", "")); common.template.Load() != nil || common.unlike.Load() != 0 {
		t.Error("a long request is learnt")
	}
}
