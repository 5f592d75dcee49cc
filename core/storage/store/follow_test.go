package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestAPathIsFollowedAsTheSystemDoes(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	in := func(rel string) string { return top + "/" + rel }
	testkit.Must(t, os.MkdirAll(in("a/b"), 0o700))
	testkit.Must(t, os.WriteFile(in("a/x"), nil, 0o600))
	for name, target := range map[string]string{
		"rel": "a/b", "abs": in("a/b"), "a/up": "..", "hop": "rel", "missing": "a/none/deeper", "loop": "loop2", "loop2": "loop",
	} {
		testkit.Must(t, os.Symlink(target, in(name)))
	}
	for path, want := range map[string]string{
		"a/b": "a/b", "a/./b//": "a/b", "a/b/../x": "a/x",
		"rel": "a/b", "abs": "a/b", "hop": "a/b", "a/up/rel": "a/b",
		"rel/../x": "a/x", "abs/../x": "a/x", // not x: the link is followed first
		"missing": "a/none/deeper", "rel/none": "a/b/none",
	} {
		got, ok := Follow(in(path))
		if !ok || got != in(want) {
			t.Errorf("%s leads to %s, %v", path, got, ok)
		}
		if system, err := filepath.EvalSymlinks(in(path)); err == nil && system != got {
			t.Errorf("%s leads to %s, but the system goes to %s", path, got, system)
		}
	}
	if got, ok := Follow("/../.."); !ok || got != "/" {
		t.Errorf("above the root is %s", got)
	}
	if got, ok := Follow(in("loop/x")); ok {
		t.Errorf("a loop leads to %s", got)
	}
	last := in("a")
	for n := 1; n <= maxLinks+1; n++ {
		link := in(fmt.Sprint("link", n))
		testkit.Must(t, os.Symlink(last, link))
		last = link
		if _, ok := Follow(link); ok != (n <= maxLinks) {
			t.Errorf("%d links: %v", n, ok)
		}
	}
}
