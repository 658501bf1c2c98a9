// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wordCount counts words, so that what a request costs beside them is to be seen.
type wordCount struct{}

func (wordCount) Count(text string) int { return len(strings.Fields(text)) }

func TestCountChat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, request string
		want          ChatCount
	}{
		{"no messages", `{"model":"m","messages":[]}`, ChatCount{Model: "m"}},
		{"two messages", `{"model":"gpt-4o","messages":[{"role":"system","content":"be kind"},{"role":"user","content":"one two three"}]}`,
			ChatCount{Model: "gpt-4o", Messages: 3 + 1 + 2 + 3 + 1 + 3, Priming: 3}},
		{"a name", `{"model":"gpt-4o","messages":[{"role":"user","name":"ann","content":"hi"}]}`, ChatCount{Model: "gpt-4o", Messages: 5, Names: 2, Priming: 3}},
		{"the model of March 2023", `{"model":"gpt-3.5-turbo-0301","messages":[{"role":"user","name":"ann","content":"hi"}]}`, ChatCount{Model: "gpt-3.5-turbo-0301", Messages: 6, Priming: 3}},
		{"parts", `{"model":"gpt-4o","messages":[{"role":"user","content":[{"type":"text","text":"a b"},{"type":"text","text":"c"}]}]}`, ChatCount{Model: "gpt-4o", Messages: 3 + 1 + 3, Priming: 3}},
		{"null content and a call", `{"model":"gpt-4o","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{ \"a\": 1 }"}}]},{"role":"tool","tool_call_id":"x","content":"4"}]}`,
			ChatCount{Model: "gpt-4o", Messages: 3 + 1 + 3 + 1 + 1, Calls: 3 + 1 + 4, Priming: 3}},
		{"a refusal and an older call", `{"model":"gpt-4o","messages":[{"role":"assistant","refusal":"I will not","function_call":{"name":"f","arguments":"{}"}}]}`,
			ChatCount{Model: "gpt-4o", Messages: 3 + 1 + 3, Calls: 3 + 2, Priming: 3}},
		{"what is not known", `{"model":"gpt-4o","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{}},{"type":"image_url","image_url":{"url":"https://host.invalid/a.png"}}]}],"tools":[{"type":"web_search"}]}`,
			ChatCount{Model: "gpt-4o", Messages: 4, Priming: 3, Unknown: []string{"a part of type input_audio", "an image of which the request has the address alone", "a tool of type web_search"}}},
		{"an image of little detail", `{"model":"gpt-4o","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://host.invalid/a.png","detail":"low"}}]}]}`,
			ChatCount{Model: "gpt-4o", Messages: 4, Images: 85, Priming: 3}},
		{"in forms that some servers take", `{"model":"gpt-4o","messages":[{"role":"assistant","reasoning_content":"so it is","content":["a b",5,{"type":"image_url","image_url":"https://host.invalid/a"}],"tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}},{"custom":{"name":"g","input":"x y"}}]}]}`,
			ChatCount{Model: "gpt-4o", Messages: 3 + 1 + 3 + 2, Calls: 2*3 + 3 + 3, Priming: 3, Unknown: []string{"a part that is none", "an image of which the request has the address alone"}}},
		{"a format", `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{ "type": "object" }}}}`,
			ChatCount{Model: "gpt-4o", Messages: 5, Format: 6, Priming: 3}},
		{"a format that is described", `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"what it is","schema":{"$ref":"#/$defs/a","$defs":{"a":{"description":"x y"}}}}}}`,
			ChatCount{Model: "gpt-4o", Messages: 5, Format: 5 + 1 + 3 + 2, Priming: 3}},
		{"a format of which the schema lacks", `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","description":null}}}`,
			ChatCount{Model: "gpt-4o", Messages: 5, Format: 5, Priming: 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got ChatCount
			if err := got.count([]byte(tc.request), wordCount{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for name, request := range map[string]string{"no JSON": `{`, "no chat": `{"model":"m","input":"x"}`, "content of no kind": `{"messages":[{"role":"user","content":5}]}`} {
		if err := new(ChatCount).count([]byte(request), wordCount{}); err == nil || !strings.HasPrefix(err.Error(), "tacho: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

const weather = `{"name":"get_weather","description":"Get the weather.","parameters":{"type":"object","properties":{"place":{"type":"string","description":"A city, and so on."},"unit":{"type":"string","enum":["c","f"]}},"required":["place"]}}`

// TestCountTools has the cookbook's rule for flat parameters.
func TestCountTools(t *testing.T) {
	t.Parallel()
	// "get_weather:Get the weather", "place:string:A city, and so on", "c", "f", "unit:string:"
	texts := 3 + 5 + 1 + 1 + 1
	for model, want := range map[string]int{
		"gpt-4o": 7 + 3 + 3 + 3 - 3 + 3 + 3 + 12 + texts, "gpt-4": 10 + 3 + 3 + 3 - 3 + 3 + 3 + 12 + texts, "gpt-3.5-turbo": 10 + 21 + texts + 3,
		"gpt-4.1": 7 + 24 + texts, "ft:gpt-4o-mini:x": 7 + 24 + texts, "gpt-4-turbo": 10 + 24 + texts,
	} {
		for _, request := range []string{`"tools":[{"type":"function","function":` + weather + `}]`, `"functions":[` + weather + `]`} {
			var got ChatCount
			if err := got.count([]byte(`{"model":"`+model+`","messages":[],`+request+`}`), wordCount{}); err != nil || got.Tools != want {
				t.Errorf("%s, %s: %d, %v, want %d", model, request, got.Tools, err, want)
			}
		}
	}
}

// TestTypeScript has what is written of nested parameters.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	var got rendered
	request := `{"messages":[],"tools":[{"function":{"name":"order","description":"Order a thing.\nOr two.","parameters":{"type":"object","required":["to"],"properties":{
		"to":{"type":"object","description":"Whom to.","properties":{"name":{"type":"string"},"zip":{"type":["integer","null"]}},"required":["name"]},
		"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"kind":{"enum":["a",2]}}}},
		"how":{"anyOf":[{"type":"string"},{"type":"boolean"}]},"other":{"$ref":"#/$defs/thing"},"any":{},"list":{"type":"array"}}}}},{"function":{"name":"stop"}}]}`
	if err := new(ChatCount).count([]byte(request), &got); err != nil {
		t.Fatal(err)
	}
	want := `namespace functions {

// Order a thing.
// Or two.
type order = (_: {
// Whom to.
to: {
  name: string,
  zip?: number | null,
},
items?: {
  id?: number,
  kind?: "a" | 2,
}[],
how?: string | boolean,
other?: thing,
any?: any,
list?: any[],
}) => any;

type stop = () => any;

} // namespace functions`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTypeScriptParts has what is written of references and of schemas made of
// others: all their text, and each definition once, cycles or not.
func TestTypeScriptParts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ parameters, want string }{
		"definitions": {`{"properties":{"a":{"$ref":"#/$defs/thing","description":"The first."},"b":{"$ref":"#/$defs/thing"},"c":{"$ref":"#/definitions/old"}},"required":["a"],
			"$defs":{"thing":{"type":"object","description":"A thing.","properties":{"id":{"type":"integer"}}},"unused":{"type":"string"}},"definitions":{"old":{"enum":["x","y"]}}}`,
			"// A thing.\ntype thing = {\nid?: number,\n};\n\ntype old = \"x\" | \"y\";\n\ntype f = (_: {\n// The first.\na: thing,\nb?: thing,\nc?: old,\n}) => any;\n\n"},
		"a cycle": {`{"$ref":"#/$defs/node","$defs":{"node":{"properties":{"next":{"$ref":"#/$defs/node"},"other":{"items":{"$ref":"#/$defs/pair"}}}},"pair":{"properties":{"of":{"$ref":"#/$defs/node"}}}}}`,
			"type node = {\nnext?: node,\nother?: pair[],\n};\n\ntype pair = {\nof?: node,\n};\n\ntype f = (_: node) => any;\n\n"},
		"a reference to itself": {`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}`, "type a = a;\n\ntype f = (_: {\na?: a,\n}) => any;\n\n"},
		"a reference to all":    {`{"properties":{"child":{"$ref":"#"}}}`, "type f = (_: {\nchild?: any,\n}) => any;\n\n"},
		"escapes":               {`{"properties":{"a":{"$ref":"#/$defs/x~1y~0%20z"}},"$defs":{"x/y~ z":{"type":"boolean"}}}`, "type x~1y~0%20z = boolean;\n\ntype f = (_: {\na?: x~1y~0%20z,\n}) => any;\n\n"},
		"places": {`{"properties":{"a":{"items":{"type":"string","anyOf":[{"type":"null"},{"additionalProperties":{"allOf":[{"description":"deep"}]}}]}},"b":{"$ref":"#/properties/a/items/anyOf/1/additionalProperties/allOf/0"}}}`,
			"// deep\ntype 0 = any;\n\ntype f = (_: {\na?: (null | {\n  [key: string]: /* deep */ any,\n})[],\nb?: 0,\n}) => any;\n\n"},
		"led nowhere": {`{"properties":{"a":{"$ref":"#/$defs/no"},"b":{"$ref":"https://host.invalid/s.json"},"c":{"$ref":"#anchor"},"d":{"$ref":"#/items/9"},"e":{"$ref":"#/"}}}`,
			"type f = (_: {\na?: no,\nb?: s.json,\nc?: anchor,\nd?: 9,\ne?: any,\n}) => any;\n\n"},
		"other names": {`{"properties":{"a":{"type":"object","additionalProperties":{"type":"number","description":"How many."}},"b":{"properties":{"x":{"type":"string"}},"additionalProperties":false}},"additionalProperties":{"type":"boolean"},"patternProperties":{"^s_":{"type":"string"}}}`,
			"type f = (_: {\na?: {\n  // How many.\n  [key: string]: number,\n},\nb?: {\n  x?: string,\n},\n[key: string /* ^s_ */]: string,\n[key: string]: boolean,\n}) => any;\n\n"},
		"properties and alternatives": {`{"description":"What to do.","properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"b":{"type":"string"}}},{"description":"or that","$ref":"#/$defs/c"}],"$defs":{"c":{"type":"object"}}}`,
			"type c = object;\n\n// What to do.\ntype f = (_: {\na?: string,\n} & ({\nb?: string,\n} | /* or that */ c)) => any;\n\n"},
		"all of them": {`{"allOf":[{"properties":{"a":{"type":["string","null"]}}},{"anyOf":[{"type":"string"},{"type":"number"}]}]}`,
			"type f = (_: {\na?: string | null,\n} & (string | number)) => any;\n\n"},
		"any and one": {`{"properties":{"a":{"anyOf":[{"type":"string"}],"oneOf":[{"const":1}]}}}`, "type f = (_: {\na?: string | 1,\n}) => any;\n\n"},
		"items one by one": {`{"properties":{"a":{"prefixItems":[{"type":"string","description":"first"},{"type":"number"}],"items":{"enum":[1,2]}},"b":{"items":[{"type":"null"}]}}}`,
			"type f = (_: {\na?: [/* first */ string, number, ...(1 | 2)[]],\nb?: [null],\n}) => any;\n\n"},
		"defaults": {`{"properties":{"a":{"enum":["x","y"],"default":"x"},"b":{"type":"integer","default":-1},"c":{"items":{}}}}`,
			"type f = (_: {\na?: \"x\" | \"y\", // default: x\nb?: number, // default: -1\nc?: any[],\n}) => any;\n\n"},
	} {
		var got rendered
		if err := new(ChatCount).count([]byte(`{"messages":[],"tools":[{"function":{"name":"f","parameters":`+tc.parameters+`}}]}`), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff("namespace functions {\n\n"+tc.want+"} // namespace functions", string(got)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestOddSchemas counts what it can of schemas of unusual kinds, in one pass however
// deep they are.
func TestOddSchemas(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{`true`, `null`, `[]`, `{"properties":true}`, `{"properties":["a"]}`, `{"properties":{"a":true}}`, `{"items":true}`, `{"items":[{"type":"string"},{}]}`, `{"required":true}`, `{"anyOf":{"a":[{}]}}`, `{"type":5}`, `{"properties":{"a":{"const":1,"enum":5}}}`,
		`{"$ref":5,"$defs":[{}]}`, `{"$ref":"#/$defs/a/properties/b","$defs":{"a":true}}`, `{"allOf":5,"prefixItems":{"a":1},"additionalProperties":[1],"patternProperties":null,"default":null}`} {
		var c ChatCount
		if err := c.count([]byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"tools":[{"function":{"name":"f","parameters":`+parameters+`}}]}`), wordCount{}); err != nil || c.Tools == 0 || c.Messages != 5 {
			t.Errorf("%s: %+v, %v", parameters, c, err)
		}
	}
	deep := strings.Repeat(`{"properties":{"a":`, 2000) + `{"type":"string"}` + strings.Repeat(`}}`, 2000)
	var c ChatCount
	if err := c.count([]byte(`{"messages":[],"tools":[{"function":{"name":"f","parameters":`+deep+`}}]}`), wordCount{}); err != nil || c.Tools == 0 {
		t.Errorf("a deep one: %+v, %v", c, err)
	}
}

// rendered keeps the last text that was counted.
type rendered string

func (r *rendered) Count(text string) int { *r = rendered(text); return 0 }

// TestCountImages has the examples of OpenAI's page and what they say of sizes.
func TestCountImages(t *testing.T) {
	t.Parallel()
	url := func(kind string, w, h int) string {
		var b bytes.Buffer
		m := image.NewGray(image.Rect(0, 0, w, h))
		switch kind {
		case "png":
			if err := png.Encode(&b, m); err != nil {
				t.Fatal(err)
			}
		case "jpeg":
			if err := jpeg.Encode(&b, m, nil); err != nil {
				t.Fatal(err)
			}
		case "gif":
			if err := gif.Encode(&b, m, nil); err != nil {
				t.Fatal(err)
			}
		case "vp8x":
			b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
			for _, n := range []int{w - 1, h - 1} {
				b.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16)})
			}
		case "vp8l":
			b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00\x2f")
			b.Write(binary.LittleEndian.AppendUint32(nil, uint32(w-1)|uint32(h-1)<<14))
			b.WriteString("\x00\x00\x00\x00\x00\x00")
		case "vp8":
			b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a")
			b.Write(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, uint16(w)), uint16(h)))
			b.WriteString("\x00\x00")
		}
		return "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(b.Bytes())
	}
	for _, tc := range []struct {
		model, kind string
		w, h        int
		detail      string
		want        int
	}{
		{"gpt-4o", "png", 1024, 1024, "high", 765}, // 4 tiles
		{"gpt-4o", "png", 2048, 4096, "", 1105},    // 6 tiles
		{"gpt-4o", "png", 4096, 8192, "low", 85},
		{"gpt-4o", "jpeg", 512, 512, "auto", 255},
		{"gpt-4o-mini", "gif", 512, 512, "", 2833 + 5667},
		{"gpt-4o", "vp8x", 513, 100, "", 85 + 2*170},
		{"gpt-4o", "vp8l", 100, 513, "", 85 + 2*170},
		{"gpt-4o", "vp8", 100, 100, "", 255},
		{"o1", "png", 1024, 1024, "", 75 + 4*150},
		{"gpt-5", "png", 1024, 1024, "", 70 + 4*140},
		{"gpt-4.1-mini", "png", 1024, 1024, "", 1659}, // 1,024 patches × 1.62
		{"o4-mini", "png", 1800, 2400, "", 2498},      // 1,452 patches × 1.72, by the page's example
		{"gpt-5-nano", "png", 32, 32, "low", 3},       // 1 patch × 2.46
	} {
		n, err := imageRules(tc.model).count(url(tc.kind, tc.w, tc.h), tc.detail)
		if n != tc.want || err != nil {
			t.Errorf("%s, %s of %d x %d, detail %q: %d, %v, want %d", tc.model, tc.kind, tc.w, tc.h, tc.detail, n, err, tc.want)
		}
	}
	for name, tc := range map[string]struct {
		model, url string
		want       int
		err        error
	}{
		"a model of another family": {"gemini", url("png", 512, 512), 255, errImageModel},
		"an address":                {"gpt-4o", "https://host.invalid/a.png", 0, errImageURL},
		"a picture of another kind": {"gpt-4o", "data:image/bmp;base64,Qk0AAA==", 0, errImageKind},
		"no base64":                 {"gpt-4o", "data:image/png;base64,%%%", 0, errImageKind},
		"cut":                       {"gpt-4o", "data:image/png;base64,iVBORw0KGgo=", 0, errImageKind},
		"a JPEG without a frame":    {"gpt-4o", "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString([]byte("\xff\xd8\xff\xe0\x00\x04ab\xff\xd9\x00\x00\x00\x00\x00\x00\x00")), 0, errImageKind},
	} {
		if n, err := imageRules(tc.model).count(tc.url, ""); n != tc.want || err != tc.err {
			t.Errorf("%s: %d, %v, want %d, %v", name, n, err, tc.want, tc.err)
		}
	}
}

// FuzzImageSize survives whatever stands for an image.
func FuzzImageSize(f *testing.F) {
	f.Add("\xff\xd8\xff\xc0\x00\x11\x08\x00\x01\x00\x01")
	f.Add("RIFF\x00\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00\x2f")
	f.Fuzz(func(t *testing.T, s string) {
		w, h := imageSize(base64.StdEncoding.EncodeToString([]byte(s)))
		if w < 0 || h < 0 {
			t.Errorf("%d x %d", w, h)
		}
		if w > 0 && h > 0 {
			if n := countPatches(w, h); n < 0 || n > maxPatches {
				t.Errorf("%d x %d: %d patches", w, h, n)
			}
			if n := countTiles(w, h); n < 1 && min(w, h) > 0 && max(w, h)/min(w, h) < 1000 {
				t.Errorf("%d x %d: %d tiles", w, h, n)
			}
		}
	})
}

// TestCalibration learns a line, and says what is left.
func TestCalibration(t *testing.T) {
	t.Parallel()
	var c Calibration
	if _, ok := c.Offset("m"); ok {
		t.Error("something is known from the first")
	}
	if n, ok := c.Correct("m", 7); ok || n != 7 {
		t.Errorf("corrected to %d, %v", n, ok)
	}
	c.Learn("m", 100, 110)
	if o, _ := c.Offset("m"); o != (Offset{Pairs: 1, Constant: 10, Factor: 1}) {
		t.Errorf("after one pair: %+v", o)
	}
	for _, x := range []int{100, 200, 300, 1000} {
		c.Learn("line", x, 8+x*11/10)
	}
	c.Learn("line", 50, 0) // not reported
	c.Learn("line", 0, 50)
	o, ok := c.Offset("line")
	if !ok || o.Pairs != 4 || math.Abs(o.Factor-1.1) > 1e-9 || math.Abs(o.Constant-8) > 1e-9 || !o.HasError || o.Error > 1e-5 {
		t.Errorf("after four pairs: %+v", o)
	}
	if n, ok := c.Correct("line", 500); !ok || n != 558 {
		t.Errorf("corrected to %d, %v, want 558", n, ok)
	}
	c.Learn("line", 500, 570) // 12 beside the line
	if o, _ := c.Offset("line"); o.Error < 5 || o.Error > 7 {
		t.Errorf("what is left: %v, want about 6", o.Error)
	}
	for i := range 2 * maxCalibrated {
		c.Learn(fmt.Sprint("other-", i), 1, 2)
	}
	if len(c.models) != maxCalibrated {
		t.Errorf("%d models", len(c.models))
	}
}

// FuzzCountChat survives whatever stands in a request, and counts no less than
// nothing of it; what references lead to is written once, so that little text
// never becomes much.
func FuzzCountChat(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"functions":[` + weather + `]}`)
	f.Add(`{"messages":[],"tools":[{"function":{"name":"f","parameters":{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#"}]}}}}}]}`)
	f.Add(`{"messages":[{"content":null,"tool_calls":[{"custom":{}}]}],"response_format":{"type":"json_schema","json_schema":{"schema":[],"description":5}}}`)
	f.Fuzz(func(t *testing.T, request string) {
		var c ChatCount
		var text longest
		if err := c.count([]byte(request), &text); err == nil && c.Total() < 0 && !strings.Contains(request, "0301") {
			t.Errorf("%+v", c)
		}
		// The indentation of 32 levels, and a reference's name in each place.
		if int(text) > 200+80*len(request) {
			t.Errorf("%d bytes of text in a request of %d", text, len(request))
		}
	})
}

// longest is how long the longest text was that was counted.
type longest int

func (l *longest) Count(text string) int { *l = max(*l, longest(len(text))); return 0 }
