package history

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// value draws a JSON value.
func value(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 4
		if depth > 0 {
			kinds = 6
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\"{}\[\],: a]{0,12}`)).Draw(t, "string")
		case 1:
			return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4:
			return rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "array")
		}
		return rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}`), value(depth-1), 0, 4).Draw(t, "object")
	})
}

func TestSkimmingFindsTheMembersThatDecodingFinds(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		object := rapid.MapOf(rapid.StringMatching(`[a-z]{1,6}`), value(3)).Draw(t, "object")
		indent := rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent")
		data, err := json.MarshalIndent(object, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]any{}, map[string]any{}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		whole := members(data, func(key, raw []byte) {
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			got[string(key)] = v
		})
		if diff := cmp.Diff(want, got); diff != "" || !whole {
			t.Fatalf("whole %v\n%s\n%s", whole, data, diff)
		}
	})
}

func TestSkimmingFindsTheElementsThatDecodingFinds(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(rapid.SliceOf(value(3)).Draw(t, "array"))
		if err != nil {
			t.Fatal(err)
		}
		want, got := []json.RawMessage{}, []json.RawMessage{}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if whole := elements(data, func(raw []byte) { got = append(got, raw) }); !whole {
			t.Fatalf("%s counts as torn", data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A truncated object is never complete.
func TestATornObjectIsNeverWhole(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(rapid.MapOf(rapid.String(), value(3)).Draw(t, "object"))
		if err != nil {
			t.Fatal(err)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if members(data[:cut], func(_, _ []byte) {}) {
			t.Fatalf("%q is whole", data[:cut])
		}
	})
}

func FuzzSkim(f *testing.F) {
	for _, s := range []string{`{"a":"\\"}`, `{"a":[{"b":"]"}]}`, `{`, `"`, `{"a"`, `{"a":}`, `{"type":"user","message":{"content":"x"}}`, `[1,]`, `{,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := members(data, func(key, raw []byte) { _, _ = plainString(raw), text(raw) })
		if json.Valid(data) && strings.HasPrefix(strings.TrimLeft(string(data), " \t\r\n"), "{") && !whole {
			t.Errorf("%q counts as torn", data)
		}
		elements(data, func([]byte) {})
		if l, ok := readLine(data); ok {
			l.entries()
		}
	})
}
