package provider

import (
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestAModelOfTheFileReplacesTheBuiltInOneOfItsName(t *testing.T) {
	d := storetest.Prepared(t)
	testkit.Must(t, d.Write(File, []byte("anthropic:\n  models:\n    - {name: claude-sonnet-5-5, like: sonnet, window: 200_000}\n")))
	r := New(Options{Dir: d, Getenv: func(string) string { return "" }})
	for name, want := range map[string]int{"claude-sonnet-5-5": 200_000, "opus": 1_000_000} {
		if _, m, err := r.Find(name); err != nil || m.Window != want {
			t.Errorf("%s has a window of %d, want %d, %v", name, m.Window, want, err)
		}
	}
}
