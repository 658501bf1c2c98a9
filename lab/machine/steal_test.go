// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"reflect"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

func TestSteal(t *testing.T) {
	t.Parallel()
	// A second passes on 2 cores, of which this process uses a quarter of one.
	const own = `"own_cpu_s":0.25,"own_cpu_share":0.125}`
	for _, c := range []struct{ name, before, after, want string }{
		{"stolen", "cpu  10 0 10 100 0 0 0 5 0 0\n", "cpu  60 0 30 120 0 0 0 15 0 0\n", `{"interval_s":1,"steal_share":0.1,"steal_ever_counted":true,` + own},
		{"none, counter in use", "cpu  10 0 10 100 0 0 0 5 0 0\n", "cpu  10 0 10 200 0 0 0 5 0 0\n", `{"interval_s":1,"steal_share":0,"steal_ever_counted":true,` + own},
		{"none, counter never moved", "cpu  10 0 10 100 0 0 0 0 0 0\n", "cpu  10 0 10 200 0 0 0 0 0 0\n", `{"interval_s":1,"steal_share":0,"steal_ever_counted":false,` + own},
		{"guest time is part of user", "cpu  10 0 10 100 0 0 0 0 10 0\n", "cpu  60 0 10 100 0 0 0 50 60 0\n", `{"interval_s":1,"steal_share":0.5,"steal_ever_counted":true,` + own},
		{"iowait steps back", "cpu  0 0 0 0 50 0 0 0 0 0\n", "cpu  30 0 0 0 40 0 0 10 0 0\n", `{"interval_s":1,"steal_share":0.25,"steal_ever_counted":true,` + own},
		{"no ticks", "cpu  10 0 10 100 0 0 0 5 0 0\n", "cpu  10 0 10 100 0 0 0 5 0 0\n", `{"interval_s":1,` + own},
		{"only one processor's line", "cpu0 10 0 10 100 0 0 0 5 0 0\n", "cpu0 20 0 10 100 0 0 0 5 0 0\n", `{"interval_s":1,` + own},
		{"old kernel", "cpu  10 0 10 100\n", "cpu  20 0 10 100\n", `{"interval_s":1,` + own},
		{"no number", "cpu  10 0 10 x 0 0 0 5 0 0\n", "cpu  10 0 10 100 0 0 0 5 0 0\n", `{"interval_s":1,` + own},
		{"empty", "", "", `{"interval_s":1,` + own},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fsys := fstest.MapFS{"proc/stat": {Data: []byte(c.before)}}
				used := 3 * time.Second
				m := startSteal(fsys, func() (time.Duration, bool) { return used, true }, 2)
				fsys["proc/stat"] = &fstest.MapFile{Data: []byte(c.after)}
				used += 250 * time.Millisecond
				time.Sleep(time.Second)
				r := m.Stop()
				checkJSON(t, r, c.want)
				time.Sleep(time.Second)
				if again := m.Stop(); !reflect.DeepEqual(r, again) {
					t.Errorf("second Stop: %v, first %v", again, r)
				}
			})
		})
	}
}

func TestStealAbsent(t *testing.T) {
	t.Parallel()
	none := func() (time.Duration, bool) { return 0, false }
	synctest.Test(t, func(t *testing.T) {
		m := startSteal(nil, none, 2)
		time.Sleep(time.Second)
		r := m.Stop()
		checkJSON(t, r, `{"interval_s":1}`)
		_, ok1 := r.Steal()
		_, ok2 := r.Counted()
		_, ok3 := r.Own()
		_, ok4 := r.OwnShare()
		if ok1 || ok2 || ok3 || ok4 {
			t.Errorf("known: %v %v %v %v", ok1, ok2, ok3, ok4)
		}
		if got, want := r.String(), "over 1s"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		checkJSON(t, startSteal(nil, func() (time.Duration, bool) { return 0, true }, 2).Stop(), `{"interval_s":0,"own_cpu_s":0}`)
	})
}

func TestStealString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"interval_s":2,"steal_share":0.1,"steal_ever_counted":true,"own_cpu_s":0.5,"own_cpu_share":0.125}`: "steal 10.00 %, own CPU 12.50 %, over 2s",
		`{"interval_s":2,"steal_share":0,"steal_ever_counted":false}`:                                        "steal 0.00 % (never counted since the machine started), over 2s",
	} {
		var r StealReport
		if err := json.Unmarshal([]byte(in), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The real meter answers without an error on every system.
func TestStartSteal(t *testing.T) {
	t.Parallel()
	r := StartSteal().Stop()
	if share, ok := r.Steal(); ok && (share < 0 || share > 1) {
		t.Errorf("steal share %v", share)
	}
	if own, ok := r.Own(); ok && own < 0 {
		t.Errorf("own CPU time %v", own)
	}
}

// checkJSON compares v as JSON and after decoding it again.
func checkJSON[T any](t *testing.T, v T, want string) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != want {
		t.Errorf("\n got %s\nwant %s", b, want)
	}
	var back T
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(v, back) {
		t.Errorf("decoded %+v, encoded %+v", back, v)
	}
}
