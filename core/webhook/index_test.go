package webhook

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/routines"
	"ollimbot/routines/watch"
)

func TestTheIndexFollowsTheFolder(t *testing.T) {
	d := newDir(t)
	x := NewIndex(d)
	if x.Scan() || len(x.Set().Specs) != 0 {
		t.Fatal("a missing folder is an empty one")
	}
	put(t, d, "a.md", ciSpec)
	put(t, d, ".#a.md", "an editor's own")
	put(t, d, "notes.txt", "not a spec")
	if !x.Apply(watch.Batch{Full: true}) {
		t.Fatal("the new file was not seen")
	}
	if s, ok := x.Find("github-ci"); !ok || s.Path != "webhooks/a.md" {
		t.Fatalf("%+v, %v", s.Task, ok)
	}
	if x.Scan() || x.Reload("webhooks/a.md", "routines/a.md", "webhooks/../a.md") {
		t.Error("nothing has changed")
	}
	put(t, d, "a.md", strings.Replace(ciSpec, "github-ci", "gitlab-ci", 1))
	if !x.Apply(watch.Batch{Names: []string{"routines/x.md", "webhooks/a.md"}}) {
		t.Error("the change was not seen")
	}
	if _, ok := x.Find("github-ci"); ok {
		t.Error("the old id is still in force")
	}
	if err := d.Remove("webhooks/a.md"); err != nil {
		t.Fatal(err)
	}
	if !x.Reload("webhooks/a.md") || len(x.Set().Specs) != 0 {
		t.Error("the file is gone, its spec is not")
	}
}

func TestABrokenFileKeepsItsLastGoodVersion(t *testing.T) {
	d := newDir(t)
	put(t, d, "a.md", ciSpec)
	x := NewIndex(d)
	x.Scan()
	before := x.Set()
	for _, broken := range []string{"", "---\nid: github-ci\nfields:\n  type: object\n   x: [\n---\nGo", "\x00\xff", strings.Replace(ciSpec, "integer", "entire", 1)} {
		put(t, d, "a.md", broken)
		if !x.Reload("webhooks/a.md") {
			t.Fatalf("%q: the change was not seen", broken)
		}
		s, ok := x.Find("github-ci")
		if !ok || len(s.Fields.Declared) != 4 {
			t.Errorf("%q: the last good version is not in force", broken)
		}
		p := x.Set().Problems
		if !routines.HasErrors(p) || !strings.HasSuffix(p[0].Message, msgLastGood) {
			t.Errorf("%q: the problems are %+v", broken, p)
		}
	}
	put(t, d, "a.md", ciSpec)
	x.Scan()
	if len(x.Set().Problems) != 0 {
		t.Errorf("the file is whole again: %+v", x.Set().Problems)
	}
	if len(before.Problems) != 0 {
		t.Error("an old set has changed")
	}
}

func TestOneBadFileAffectsNoOther(t *testing.T) {
	d := newDir(t)
	put(t, d, "a.md", fixedSpec)
	put(t, d, "b.md", strings.Replace(fixedSpec, "The server", "Another", 1)) // the same id
	put(t, d, "c.md", "---\nid: c\n---\n")
	put(t, d, "d.md", openSpec)
	if err := os.MkdirAll(d.Path("webhooks/e.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := NewIndex(d)
	x.Scan()
	var files []string
	for _, p := range x.Set().Problems {
		files = append(files, p.File)
	}
	if diff := cmp.Diff([]string{"webhooks/b.md", "webhooks/c.md", "webhooks/c.md", "webhooks/e.md"}, files); diff != "" {
		t.Errorf("files with problems (-want +got):\n%s", diff)
	}
	if s, _ := x.Find("fixed"); s.Path != "webhooks/a.md" {
		t.Errorf("the first file with an id is in force, not %s", s.Path)
	}
	if _, ok := x.Find("open"); !ok {
		t.Error("a good file is not in force")
	}
	if err := d.Remove("webhooks/a.md"); err != nil {
		t.Fatal(err)
	}
	x.Scan()
	if s, _ := x.Find("fixed"); s.Path != "webhooks/b.md" {
		t.Errorf("the second file has not taken its place: %s", s.Path)
	}
}

func TestAFolderThatCannotBeReadKeepsWhatIsInForce(t *testing.T) {
	d := newDir(t)
	put(t, d, "a.md", ciSpec)
	x := NewIndex(d)
	x.Scan()
	if err := os.Rename(d.Path(Folder), d.Path("aside")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Path(Folder), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !x.Scan() || x.Scan() {
		t.Error("the trouble is told once")
	}
	if _, ok := x.Find("github-ci"); !ok || len(x.Set().Problems) != 1 {
		t.Errorf("what is in force has gone: %+v", x.Set().Problems)
	}
}

func TestACopyWhoseNameSortsFirstDoesNotTakeTheWorkingFilesPlace(t *testing.T) {
	d := newDir(t)
	put(t, d, "b.md", fixedSpec)
	x := NewIndex(d)
	x.Scan()
	put(t, d, "a.md", strings.Replace(fixedSpec, "The server", "Another", 1))
	x.Reload("webhooks/a.md")
	if s, _ := x.Find("fixed"); s.Path != "webhooks/b.md" || len(x.Set().Problems) != 1 || x.Set().Problems[0].File != "webhooks/a.md" {
		t.Errorf("in force is %s, problems %+v", s.Path, x.Set().Problems)
	}
}
