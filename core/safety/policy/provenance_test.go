package policy

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func TestFilesOfTheAgentAndOfTheUserDoWhatTheirStoriesSay(t *testing.T) { stories(t, "files") }

// A session that finds a version in a file, where its command may have put it, may find what another session wrote just before.
func TestAVersionWithAKnownWriterIsNotTakenOver(t *testing.T) {
	r := newRoom(t)
	const rel, spec = "routines/mine.md", "allowed-tools: [Bash(cp *)] | Go."
	r.plays("main: writes " + rel + " " + spec)
	r.session("run").claim(rel, []byte(taskText(rel, spec)))
	if got := r.outcome(rel, "waits"); got != "waits" {
		t.Errorf("it %s, because the run may do what main may not", got)
	}
}

func TestTextsThatNothingWaitsOverAreForgotten(t *testing.T) {
	r := newRoom(t)
	const mine, agents = "allowed-tools: [Bash(rm *)] | Tidy up.", "allowed-tools: [Bash(rm *)] | Delete it."
	r.plays("disk: saves routines/tidy.md " + mine + "\nrun: plans routines/tidy.md " + agents)
	written := r.provenance.now.Load().by[routines.Digest([]byte(r.text("routines/tidy.md")))].At
	for _, c := range []struct {
		age        time.Duration
		live, kept bool
	}{{keepOrigin + 1, true, true}, {0, false, true}, {keepOrigin + 1, false, false}} {
		routines.PruneTexts(r.o.Dir, r.provenance.Replaced(written.Add(c.age), func(string) bool { return c.live }))
		_, err := os.Stat(r.o.Dir.Path("state/approved/" + routines.Digest([]byte(taskText("routines/tidy.md", mine))) + ".md"))
		if (err == nil) != c.kept {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A1: what the program does with a file keeps its approval; the approval of what went ends.
func TestApprovalsOfWhatIsGoneEnd(t *testing.T) {
	g, _ := newGuard(t)
	p, now := g.provenance, time.Now()
	const rel = "reminders/r.md"
	next := []byte(taskText(rel, "allowed-tools: [Bash(touch *)] | x"))
	digest := routines.Digest(next)
	gone := func(string, string) bool { return false }
	record := func() {
		_, err := p.record("old", Origin{Path: rel, At: now, Excess: []string{"use Bash"}})
		testkit.Must(t, err)
	}
	record()
	testkit.Must(t, p.Approve("old", rel, now.Add(-time.Hour)))
	testkit.Must(t, g.Inherit("old", rel, next))
	if o, _ := p.Find(rel, digest); !o.approvedIn(rel) || o.Before != "" {
		t.Errorf("a moved reminder has lost its approval, or replaces another: %+v", o)
	}
	ended, again, err := p.EndApprovals(time.Now(), gone)
	if err != nil || !slices.Equal(ended, []Ended{{rel, "old"}}) || again.IsZero() {
		t.Errorf("ended %v, %v, %v; the new file may not be there yet", ended, again, err)
	}
	if ended, _, _ = p.EndApprovals(again, gone); !slices.Equal(ended, []Ended{{rel, digest}}) {
		t.Errorf("ended %v", ended)
	}
	if o, _ := p.Find(rel, digest); o.approvedIn(rel) || len(o.Excess) == 0 {
		t.Errorf("%+v", o)
	}
	record()
	if o, _ := p.Find(rel, "old"); !o.Approved.IsZero() {
		t.Error("written again, it is approved")
	}
}

// Approvals of the previous version name no file: they stay where those bytes are, and end for all others.
func TestApprovalsOfThePreviousVersionStayWithTheirBytes(t *testing.T) {
	g, _ := newGuard(t)
	const rest = `", "at": "2026-01-01T00:00:00Z", "excess": ["use Bash"], "approved": "2026-01-02T00:00:00Z"}`
	storetest.Put(t, g.o.Dir, ProvenanceFile, `{"written": {"here": {"path": "routines/a.md`+rest+`,
		"moved": {"path": "routines/b.md`+rest+`, "gone": {"path": "routines/d.md`+rest+`}}`)
	p := g.provenance
	_, err := p.Load()
	testkit.Must(t, err)
	files := map[string]string{"here": "routines/a.md", "moved": "routines/c.md"}
	end := cannotRecord(t, g)
	if p.Adopt(files) == nil {
		t.Error("what is not stored is adopted")
	}
	end()
	testkit.Must(t, p.Adopt(files))
	ended, _, err := p.EndApprovals(time.Now(), func(file, digest string) bool { return files[digest] == file })
	if err != nil || len(ended) != 1 || ended[0].Digest != "gone" {
		t.Errorf("ended %v, %v", ended, err)
	}
	for digest, rel := range map[string]string{"here": "routines/a.md", "moved": "routines/c.md", "gone": ""} {
		if o, _ := p.Find("reminders/r.md", digest); o.approvedIn(rel) != (rel != "") || o.approvedIn("routines/other.md") {
			t.Errorf("%s: %+v", digest, o)
		}
	}
}

func TestOldVersionsAreForgottenOnceThereAreMany(t *testing.T) {
	g, _ := newGuard(t)
	p, now := g.provenance, time.Now()
	known := func() map[string]Origin { return p.now.Load().by }
	prune := func() { testkit.Must(t, p.Prune(now, func(digest string) bool { return digest == "live" })) }
	old := Origin{Path: "routines/a.md", At: now.Add(-keepOrigin - time.Second)}
	_, err := p.record("old", old)
	testkit.Must(t, err)
	if prune(); len(known()) != 1 {
		t.Error("one is forgotten")
	}
	testkit.Must(t, p.change(func(o *origins) {
		o.by["live"], o.by["young"] = old, Origin{Path: old.Path, At: now.Add(-keepOrigin)}
		for i := range manyOrigins - 3 {
			o.by[fmt.Sprint(i)] = old
		}
	}))
	if prune(); len(known()) != 2 || known()["live"].At.IsZero() || known()["young"].At.IsZero() {
		t.Errorf("%d are left", len(known()))
	}
}

// The command line approves tasks in a separate process.
func TestAnApprovalByAnotherProcessIsNoticed(t *testing.T) {
	g, _ := newGuard(t)
	mine, other := g.provenance, newProvenance(g.o.Dir)
	_, err := mine.record("abc", Origin{Path: "routines/a.md", At: time.Unix(1, 0), Excess: []string{"use Bash"}})
	testkit.Must(t, err)
	load := func(what string, want bool) {
		t.Helper()
		changed, err := mine.Load()
		if o, _ := mine.Find("routines/a.md", "abc"); err != nil || changed != want || o.Approved.IsZero() == (what == "approved") {
			t.Errorf("%s: changed %v, %+v, %v", what, changed, o, err)
		}
	}
	load("recorded", false)
	testkit.Must(t, other.Approve("abc", "routines/a.md", time.Unix(2, 0)))
	load("approved", true)
	load("approved", false)
	testkit.Must(t, other.Withdraw("abc"))
	load("withdrawn", true)
}
