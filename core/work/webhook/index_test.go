package webhook

import (
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

func TestTheIndexFollowsTheFolder(t *testing.T) {
	d := storetest.Dir(t)
	x := NewIndex(d)
	if !x.Scan().Empty() || len(x.Specs(false)) != 0 {
		t.Fatal("a missing folder is an empty one")
	}
	put(t, d, "a.md", ciSpec)
	put(t, d, ".#a.md", "an editor's own")
	put(t, d, "notes.txt", "not a spec")
	if x.Apply(watch.Batch{Full: true}).Empty() {
		t.Fatal("the new file was not seen")
	}
	if s, ok := x.Find("github-ci"); !ok || s.Path != "webhooks/a.md" {
		t.Fatalf("%+v, %v", s.Task, ok)
	}
	if !x.Scan().Empty() || !x.Refresh([]string{"webhooks/a.md", "routines/a.md", "webhooks/../a.md"}).Empty() {
		t.Error("nothing has changed")
	}
	put(t, d, "a.md", strings.Replace(ciSpec, "github-ci", "gitlab-ci", 1))
	if x.Apply(watch.Batch{Names: []string{"routines/x.md", "webhooks/a.md"}}).Empty() {
		t.Error("the change was not seen")
	}
	if _, ok := x.Find("github-ci"); ok {
		t.Error("the old id is still in force")
	}
	testkit.Must(t, d.Remove("webhooks/a.md"))
	if x.Refresh([]string{"webhooks/a.md"}).Empty() || len(x.Specs(false)) != 0 {
		t.Error("the file is gone, its spec is not")
	}
}

func TestAWebhookWorksAsBeforeWhileItsEditWaits(t *testing.T) {
	d := storetest.Dir(t)
	edited := strings.Replace(ciSpec, "---\n", "---\nallowed-tools: [\"Bash(rm *)\"]\n", 1)
	if err := routines.KeepText(d, []byte(ciSpec)); err != nil {
		t.Fatal(err)
	}
	put(t, d, "a.md", edited)
	x := NewIndex(d)
	x.JudgeBy(func(task *routines.Task) string {
		if len(task.Allowed) > 0 {
			return "it may use Bash(rm *)"
		}
		return ""
	})
	x.KeepBy(func(string) string { return routines.Digest([]byte(ciSpec)) })
	x.Scan()
	if s, ok := x.Find("github-ci"); !ok || len(s.Allowed) != 0 || len(x.Specs(false)) != 1 || len(x.Specs(true)) != 0 {
		t.Errorf("in force is %+v", s)
	}
	p := x.Problems()
	if len(p) != 1 || !p[0].Waits || p[0].Severity != routines.Warning || p[0].File != "webhooks/a.md" ||
		!strings.HasPrefix(p[0].Message, "an edit is waiting: it may use Bash(rm *). The old text stays in force") {
		t.Fatalf("problems: %+v", p)
	}
	if p[0].Version != routines.Digest([]byte(edited)) || p[0].Proposed.Version != p[0].Version || !strings.Contains(p[0].Proposed.Diff, "+allowed-tools") {
		t.Errorf("what waits is %+v", p[0])
	}
}

func TestAWebhookThatWaitsForItsUserIsNotInForce(t *testing.T) {
	d := storetest.Dir(t)
	put(t, d, "a.md", ciSpec)
	x := NewIndex(d)
	why := "it may use Bash"
	x.JudgeBy(func(*routines.Task) string { return why })
	x.Scan()
	if _, ok := x.Find("github-ci"); ok || len(x.Specs(false)) != 0 || len(x.Specs(true)) != 1 {
		t.Error("it is in force")
	}
	if p := x.Problems(); len(p) != 1 || !p[0].Waits || p[0].Version == "" || !strings.Contains(p[0].Message, why) {
		t.Errorf("problems: %+v", p)
	}
	why = ""
	x.Judge()
	if _, ok := x.Find("github-ci"); !ok || len(x.Problems()) != 0 {
		t.Errorf("it still waits: %+v", x.Problems())
	}
}
