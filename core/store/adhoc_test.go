package store
import ("testing";"os";"encoding/json";"pgregory.net/rapid")
func TestAdhoc(t *testing.T) {
	f,_ := os.Create("/tmp/adhoc.jsonl"); defer f.Close(); enc := json.NewEncoder(f)
	rapid.Check(t, func(t *rapid.T) {
		y := yamlText().Draw(t, "yaml")
		ff := fences{yaml:y, firstLine:2}
		if checkText(ff)!=nil {return}
		fast, done, err := parseFast(ff)
		slow, serr := parseYAML(ff)
		m := map[string]any{"y":y,"done":done,"slow":conv(slow)}
		if err!=nil {m["err"]=err.Error()}
		if serr!=nil {m["serr"]=serr.Error()}
		if done {m["fast"]=conv(fast)}
		enc.Encode(m)
	})
}
func conv(fs []Field) any { out := [][2]any{}; for _,f := range fs { out=append(out,[2]any{f.Key,cv(f.Value)}) }; return out }
func cv(v Value) any { switch v.Kind { case Null: return nil; case Scalar: return v.Text; case Map: return "MAP" }; l := []any{}; for _,i := range v.Items { l=append(l,cv(i)) }; return l }
