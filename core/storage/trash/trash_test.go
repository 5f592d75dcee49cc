package trash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

func noon() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }

func listed(d *store.Dir, now time.Time, folder string) (names []string) {
	for _, f := range List(d, now, folder) {
		names = append(names, f.Rel)
	}
	return names
}

func TestARemovedFileCanBePutBackForADay(t *testing.T) {
	d := storetest.Prepared(t)
	storetest.Put(t, d, "routines/a.md", "A")
	testkit.Must(t, Put(d, noon(), "routines/a.md"))
	testkit.Must(t, Put(d, noon(), "routines/a.md")) // it is missing now
	if storetest.Text(t, d, "routines/a.md") != "" {
		t.Fatal("it was not removed")
	}
	if got := listed(d, noon().Add(Kept), "routines"); got != nil {
		t.Errorf("after a day: %q", got)
	}
	files := List(d, noon().Add(Kept-1), "routines")
	if len(files) != 1 || files[0].Rel != "routines/a.md" || !files[0].At.Equal(noon()) || listed(d, noon(), "reminders") != nil {
		t.Fatalf("%+v", files)
	}
	if data, err := Read(d, files[0]); err != nil || string(data) != "A" {
		t.Errorf("%q, %v", data, err)
	}
	testkit.Must(t, Restore(d, files[0], "routines/a.md"))
	if storetest.Text(t, d, "routines/a.md") != "A" || listed(d, noon(), "routines") != nil {
		t.Error("it was not moved back")
	}
}

func TestRestoringReplacesNoFile(t *testing.T) {
	d := storetest.Prepared(t)
	storetest.Put(t, d, "routines/a.md", "old")
	testkit.Must(t, Put(d, noon(), "routines/a.md"))
	storetest.Put(t, d, "routines/a.md", "new")
	if err := Restore(d, List(d, noon(), "routines")[0], "routines/a.md"); err == nil || err.Error() != "restore routines/a.md: another file has this name now" {
		t.Error(err)
	}
	if storetest.Text(t, d, "routines/a.md") != "new" || listed(d, noon(), "routines") == nil {
		t.Error("a file was lost")
	}
}

func TestTheNewestIsFirstAndALongNameFits(t *testing.T) {
	d := storetest.Prepared(t)
	name := func(n int) string { return "routines/" + strings.Repeat("x", n-3) + ".md" }
	for i, rel := range []string{"routines/a.md", name(200), name(201)} {
		storetest.Put(t, d, rel, rel)
		testkit.Must(t, Put(d, noon().Add(time.Duration(i)*time.Second), rel))
	}
	if diff := cmp.Diff([]string{name(193), name(200), "routines/a.md"}, listed(d, noon(), "routines")); diff != "" {
		t.Error(diff)
	}
}

func TestExpiryDeletesWhatIsOldOrTooMuch(t *testing.T) {
	d := storetest.Prepared(t)
	in := func(age time.Duration) string { return noon().Add(-age).Format(stamp) + ".routines.x.md" }
	names := []string{"notes.txt", "these are notes with a longer name.routines.a.md", noon().Format(stamp), noon().Format(stamp) + ".routines"}
	for i := range most - 1 {
		names = append(names, in(time.Duration(i)*time.Second))
	}
	names = append(names, in(Kept-time.Microsecond))
	slices.Sort(names)
	for _, name := range append([]string{in(Kept), in(Kept + time.Hour)}, names...) {
		storetest.Put(t, d, folder+"/"+name, "x")
	}
	for range 2 {
		Expire(d, noon())
		entries, err := d.Entries(folder)
		testkit.Must(t, err)
		var left []string
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if diff := cmp.Diff(names, left); diff != "" {
			t.Error(diff)
		}
		storetest.Put(t, d, folder+"/"+in(Kept-2*time.Microsecond), "x") // one too many
		names = slices.DeleteFunc(names, func(name string) bool { return name == in(Kept-time.Microsecond) })
		names = slices.Sorted(slices.Values(append(names, in(Kept-2*time.Microsecond))))
	}
}

func TestATextThatIsOverwrittenIsKeptToBeReadAndNotListed(t *testing.T) {
	d := storetest.Prepared(t)
	testkit.Must(t, Copy(d, noon(), "routines/a.md", []byte("A")))
	if got := storetest.Text(t, d, folder+"/"+noon().Format(stamp)+".refused-routines.a.md"); got != "A" || listed(d, noon(), "routines") != nil {
		t.Errorf("kept %q, listed %q", got, listed(d, noon(), "routines"))
	}
	if err := Copy(d, noon(), strings.Repeat("x", 300)+"/a.md", nil); err == nil || !strings.HasPrefix(err.Error(), "keep xxx") {
		t.Errorf("a folder whose name is too long: %v", err)
	}
}

func TestNamesOutsideOfTheDirectoryAreRefused(t *testing.T) {
	d := storetest.Prepared(t)
	storetest.Put(t, d, "routines/a.md", "A")
	testkit.Must(t, Put(d, noon(), "routines/a.md"))
	outside := filepath.Join(filepath.Dir(d.Root()), "outside.md")
	testkit.Must(t, os.WriteFile(outside, nil, 0o600))
	if err := Put(d, noon(), "../outside.md"); err == nil {
		t.Error("a file outside was removed")
	}
	if err := Restore(d, List(d, noon(), "routines")[0], "../b.md"); err == nil {
		t.Error("a file was put outside")
	}
}
