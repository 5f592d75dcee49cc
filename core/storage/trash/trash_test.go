package trash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	if err := Restore(d, List(d, noon(), "routines")[0], "routines/a.md"); err == nil || !strings.Contains(err.Error(), "another file") {
		t.Error(err)
	}
	if storetest.Text(t, d, "routines/a.md") != "new" || listed(d, noon(), "routines") == nil {
		t.Error("a file was lost")
	}
}

func TestTheNewestIsFirstAndALongNameFits(t *testing.T) {
	d := storetest.Prepared(t)
	long := "routines/" + strings.Repeat("x", 240) + ".md"
	for i, rel := range []string{"routines/a.md", long} {
		storetest.Put(t, d, rel, rel)
		testkit.Must(t, Put(d, noon().Add(time.Duration(i)*time.Second), rel))
	}
	got := listed(d, noon(), "routines")
	if len(got) != 2 || !strings.HasPrefix(got[0], "routines/xxx") || !strings.HasSuffix(got[0], ".md") || got[1] != "routines/a.md" {
		t.Errorf("%q", got)
	}
}

func TestExpiryDeletesWhatIsOldOrTooMuch(t *testing.T) {
	d := storetest.Prepared(t)
	storetest.Put(t, d, "routines/old.md", "x")
	testkit.Must(t, Put(d, noon().Add(-Kept), "routines/old.md"))
	storetest.Put(t, d, folder+"/notes.txt", "not ours")
	testkit.Must(t, os.MkdirAll(d.Path(folder), 0o700))
	for i := range most + 1 {
		name := noon().Add(-time.Duration(i)*time.Second).Format(stamp) + ".routines.x.md"
		testkit.Must(t, os.WriteFile(d.Path(folder+"/"+name), nil, 0o600))
	}
	Expire(d, noon())
	got := List(d, noon(), "routines")
	if len(got) != most || got[most-1].At.Before(noon().Add(-(most-1)*time.Second)) {
		t.Errorf("%d files are left", len(got))
	}
	if storetest.Text(t, d, folder+"/notes.txt") != "not ours" {
		t.Error("a file of another kind was deleted")
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
