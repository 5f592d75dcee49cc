package routines

import (
	"testing"

	"ollimbot/core/storage/store/storetest"
)

// Q2: with a copy that a sync program or a file manager made, 7 of 9 names won over the file itself.
func TestACopyNeverOwnsAnIDThatAnotherFileHas(t *testing.T) {
	const text = "---\nid: meds\ncron: \"0 8 * * *\"\n---\nTake them.\n"
	for _, name := range []string{
		"meds (conflicted copy).md", "meds (Sam's conflicted copy 2026-11-29).md", "meds 2.md", "meds - Copy.md", "meds - Copy (2).md", "Copy of meds.md",
		"meds copy.md", "meds (1).md", "meds.sync-conflict-20261129-101112-ABCDEFG.md", "meds (Case Conflict).md", "a copy 2.md",
	} {
		t.Run(name, func(t *testing.T) {
			dir := storetest.Dir(t)
			x := NewIndex(dir, nil)
			owner := func(when, want string) {
				t.Helper()
				x.Scan()
				if r, ok := x.Set().RoutineByID("meds"); !ok || r.Path != want {
					t.Errorf("%s it is not %s", when, want)
				}
			}
			storetest.Put(t, dir, "routines/"+name, text)
			owner("alone", "routines/"+name)
			storetest.Put(t, dir, "routines/meds.md", text)
			owner("once the file is there", "routines/meds.md")
			x = NewIndex(dir, nil)
			owner("at the next start", "routines/meds.md")
		})
	}
	for _, name := range []string{"meds.md", "2.md", "copy.md", "evening meds.md", "conflict.md"} {
		if isCopy(name) {
			t.Errorf("%s counts as a copy", name)
		}
	}
}
