// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
)

// Synthetic prompts have the very number of tokens in each vocabulary, and no two
// are alike from the first words on.
func TestSynthetic(t *testing.T) {
	t.Parallel()
	p := load.Synthetic(128, 512)
	for _, name := range []string{"r50k_base", "p50k_base", "cl100k_base", "o200k_base"} {
		enc, err := tacho.EncodingByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(50) {
			got := p.Prompt(load.Job{Index: i, Worker: -1, Seed: 1})
			if s, u := enc.Count(got.System), enc.Count(got.User); s != 128 || u != 512 {
				t.Fatalf("%s, call %d: %d and %d tokens", name, i, s, u)
			}
		}
		traced := p.Prompt(load.Job{Seed: 1, Request: load.Request{PromptTokens: 1000, OutputTokens: 7}})
		if n := enc.Count(traced.System) + enc.Count(traced.User); n != 1000 || traced.MaxTokens != 7 {
			t.Errorf("%s: a trace's prompt has %d tokens and a limit of %d", name, n, traced.MaxTokens)
		}
	}
	begins := map[string]string{}
	for worker := -1; worker < 20; worker++ {
		for i := range int64(50) {
			j := load.Job{Index: i, Worker: worker, Seed: 1}
			got := p.Prompt(j)
			if got != p.Prompt(j) {
				t.Fatal("a job has two prompts")
			}
			begin, who := strings.Join(strings.Fields(got.System)[:8], " "), fmt.Sprintf("worker %d, call %d", worker, i)
			if other, ok := begins[begin]; ok {
				t.Fatalf("%s begins as %s", who, other)
			}
			begins[begin] = who
		}
	}
	shared := load.SharedSystem(16, 16)
	a, b := shared.Prompt(load.Job{Seed: 1, Index: 1}), shared.Prompt(load.Job{Seed: 1, Index: 2})
	if a.System != b.System || a.User == b.User {
		t.Errorf("the shared instruction: %q, %q", a.System, b.System)
	}
	u := load.Unique(load.Fixed("hello"))
	c, d := u.Prompt(load.Job{Index: 1}), u.Prompt(load.Job{Index: 2})
	if c.User == d.User || !strings.HasSuffix(c.User, "\nhello") {
		t.Errorf("unique: %q and %q", c.User, d.User)
	}
}

// Drawn prompts come each once before one comes again.
func TestDrawn(t *testing.T) {
	t.Parallel()
	for n := 1; n < 40; n++ {
		var list []load.Prompt
		for i := range n {
			list = append(list, load.Prompt{User: fmt.Sprint(i)})
		}
		p := load.Drawn(list)
		for round := range 3 {
			seen := map[string]bool{}
			for i := range n {
				seen[p.Prompt(load.Job{Worker: -1, Seed: 5, Index: int64(round*n + i)}).User] = true
			}
			if len(seen) != n {
				t.Errorf("%d prompts: round %d has %d of them", n, round, len(seen))
			}
		}
	}
	if got := load.Drawn(nil).Prompt(load.Job{}); got != (load.Prompt{}) {
		t.Errorf("of none: %+v", got)
	}
}

func TestReadPrompts(t *testing.T) {
	t.Parallel()
	words := func(s string) int { return len(strings.Fields(s)) }
	for name, tt := range map[string]struct {
		in    string
		limit int
		want  []load.Prompt
		err   string
	}{
		"ShareGPT": {in: `[{"id":"x","conversations":[{"from":"human","value":"q 1"},{"from":"gpt","value":"a b c"},{"from":"human","value":"q 2"}]},
			{"conversations":[{"from":"gpt","value":"no question"}]}, {"conversations":[{"from":"system","value":"s"},{"from":"human","value":"q"}]}]`,
			want: []load.Prompt{{User: "q 1", MaxTokens: 3}, {System: "s", User: "q"}}},
		"limit": {in: `[{"prompt":"a"},{"prompt":"b"},{"prompt":"c"}]`, limit: 2, want: []load.Prompt{{User: "a"}, {User: "b"}}},
		"JSONL": {in: "\ufeff{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":\"a b\"}]}\n" +
			`{"prompt":"p","completion":"c"}`, want: []load.Prompt{{System: "s", User: "u", MaxTokens: 2}, {User: "p", MaxTokens: 1}}},
		"empty":       {in: " \n", err: "load: prompts: the file is empty"},
		"no question": {in: `[{"x":1}]`, err: "there is no question in the file"},
		"broken":      {in: `{"prompt":"p"}` + "\n{", err: "conversation 2: unexpected EOF"},
		"no JSON":     {in: "hello", err: "conversation 1: invalid character"},
	} {
		got, err := load.ReadPrompts(strings.NewReader(tt.in), tt.limit, words)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: error %v, want %q", name, err, tt.err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" && tt.err == "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReadTrace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		want []load.Request
		err  string
	}{
		"CSV":      {in: "time,prompt_tokens,output_tokens\n1.5,10,20\n0.5,1,2\n", want: []load.Request{{At: 0, PromptTokens: 1, OutputTokens: 2}, {At: time.Second, PromptTokens: 10, OutputTokens: 20}}},
		"BurstGPT": {in: "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,230,1317,Conversation log\n", want: []load.Request{{PromptTokens: 472, OutputTokens: 18}, {At: 40 * time.Second, PromptTokens: 1087, OutputTokens: 230}}},
		"Azure":    {in: "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n", want: []load.Request{{PromptTokens: 4808, OutputTokens: 10}, {At: 52 * time.Millisecond, PromptTokens: 3180, OutputTokens: 8}}},
		"Mooncake": {in: `{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}` + "\n" + `{"timestamp": 30535, "input_length": 6472, "output_length": 26}`, want: []load.Request{{PromptTokens: 6955, OutputTokens: 52}, {At: 3053 * time.Millisecond, PromptTokens: 6472, OutputTokens: 26}}},
		"no time":  {in: "prompt_tokens\n1\n", err: "no column time"},
		"bad time": {in: "time\nsoon\n", err: `line 2: time: "soon" is no time`},
		"NaN":      {in: "time\nNaN\n", err: `"NaN" is no time`},
		"tokens":   {in: "time,prompt_tokens\n1,-4\n", err: `line 2: prompt_tokens: "-4" is no number of tokens`},
		"object":   {in: `{"a":1}`, err: "object 1: there is no time"},
		"empty":    {in: "", err: "the file is empty"},
		"no rows":  {in: "time\n", err: "there is no arrival"},
	} {
		got, err := load.ReadTrace(strings.NewReader(tt.in))
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: error %v, want %q", name, err, tt.err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" && tt.err == "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzReadTrace: what is read is a stage that can be run, and JSON numbers and CSV
// fields of any kind are an error or an arrival.
func FuzzReadTrace(f *testing.F) {
	for _, s := range []string{"time,prompt_tokens\n1,2\n0,3\n", `{"timestamp":1,"output_length":2}`, "timestamp\n2023-11-16 18:17:03\n", "time\n1e300\n", `{"time":null}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		trace, err := load.ReadTrace(strings.NewReader(in))
		if (err == nil) != (len(trace) > 0) {
			t.Fatalf("%d arrivals and %v", len(trace), err)
		}
		last := time.Duration(0)
		for i, r := range trace {
			if r.At < last || i == 0 && r.At != 0 || r.PromptTokens < 0 || r.OutputTokens < 0 {
				t.Fatalf("arrival %d: %+v after %v", i, r, last)
			}
			last = r.At
		}
	})
}
