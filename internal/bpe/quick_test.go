package bpe
import ("testing";"os";"encoding/json";"compress/gzip";"path/filepath";"bytes";"time";"slices";"runtime")
func sanitize(b []byte) []byte { return bytes.ReplaceAll([]byte(string([]rune(string(b)))), nil, nil) }
func TestQuick(t *testing.T) {
	dir := os.Getenv("TACHO_TOKENS")
	f, _ := os.Open(filepath.Join(dir,"expected.json.gz")); zr,_ := gzip.NewReader(f)
	var exp map[string]map[string]json.RawMessage
	if err := json.NewDecoder(zr).Decode(&exp); err != nil { t.Fatal(err) }
	t0 := time.Now(); v, err := O200kBase(); t.Log(time.Since(t0), err)
	var m runtime.MemStats; runtime.GC(); runtime.ReadMemStats(&m); t.Log(m.HeapAlloc>>10, "KB")
	t0 = time.Now(); w, _ := Cl100kBase(); t.Log(time.Since(t0))
	for name, e := range exp {
		b, _ := os.ReadFile(filepath.Join(dir,"corpus",name))
		b = []byte(string([]rune(string(b))))
		for _, c := range []struct{n string; v *Vocabulary; s Splitter}{{"o200k_base",v,O200k},{"cl100k_base",w,Cl100k}} {
			var x struct{Ids []int}
			json.Unmarshal(e[c.n], &x)
			t0 := time.Now()
			n := c.v.Count(c.s,b)
			d := time.Since(t0)
			got := c.v.Append(nil,c.s,b)
			if !slices.Equal(got,x.Ids) { 
				i:=0; for i<len(got)&&i<len(x.Ids)&&got[i]==x.Ids[i] {i++}
				t.Errorf("%s %s: %d want %d, differ at %d", c.n,name,len(got),len(x.Ids),i) }
			if n!=len(x.Ids) {t.Error("count")}
			t.Logf("%-12s %-26s %8d B %.1f MB/s %v", c.n,name,len(b),float64(len(b))/d.Seconds()/1e6, d)
		}
	}
}
