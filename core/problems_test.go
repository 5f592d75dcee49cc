package core

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/transcript"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

// filesOf returns the files in the list of problems.
func filesOf(list []routines.Problem) string {
	var files []string
	for _, p := range list {
		files = append(files, p.File)
	}
	return strings.Join(files, " ")
}

// Q1: a bot without a screen said nothing.
func TestAProblemIsToldAtOnceAndOnThePhoneOnceItHasLasted(t *testing.T) {
	var log bytes.Buffer
	saidOf := func(b *Bot) (n int) {
		for _, e := range b.Snapshot().Chat {
			if e.Role == transcript.Notice && strings.Contains(e.Text, "the tool rules, line 2: unknown key") {
				n++
			}
		}
		return n
	}
	noticed := func(b *Bot, what string) (n int) {
		for _, one := range b.Snapshot().Notices {
			if strings.Contains(one.Text, what) {
				n++
			}
		}
		return n
	}
	livesWith(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }, time.Minute, func(h home) {
		h.write("tool-policy.yaml", "bg_forks:\n  overide: []\n")
	}, func(h home, b *Bot) {
		if noticed(b, "tool-policy.yaml:2:3: unknown key") != 1 || saidOf(b) != 0 || strings.Count(log.String(), "a file has a problem") != 1 {
			t.Errorf("at once: %+v, log %s", b.Snapshot().Notices, &log)
		}
		h.write("prices.yaml", "opus: cheap\n")
		b.directory.Apply(watch.Batch{Names: []string{"prices.yaml"}})
		h.write("prices.yaml", "opus: 1 2 3 4\n") // the next save mends it
		b.directory.Apply(watch.Batch{Names: []string{"prices.yaml"}})
		time.Sleep(30 * time.Minute)
		if saidOf(b) != 1 || noticed(b, "prices.yaml") != 1 || noticed(b, "tool-policy.yaml") != 1 {
			t.Errorf("after a while: said %d times, %+v", saidOf(b), b.Snapshot().Notices)
		}
		for _, e := range b.Snapshot().Chat {
			if strings.Contains(e.Text, "prices.yaml") {
				t.Errorf("a problem of a moment: %q", e.Text)
			}
		}
	}, func(h home, b *Bot) {
		time.Sleep(30 * time.Minute)
		if saidOf(b) != 1 {
			t.Errorf("after a restart it was said %d times", saidOf(b))
		}
		testkit.Must(t, os.Remove(filepath.Join(h.root, "tool-policy.yaml")))
		b.directory.Apply(watch.Batch{Names: []string{"tool-policy.yaml"}})
		h.write("tool-policy.yaml", "bg_forks:\n  overide: []\n")
		b.directory.Apply(watch.Batch{Names: []string{"tool-policy.yaml"}})
		time.Sleep(30 * time.Minute)
		if saidOf(b) != 2 {
			t.Errorf("made again it was said %d times", saidOf(b))
		}
	})
}

// Q1: a version that was lost with the restart stopped the medicine.
func TestABrokenFileKeepsItsLastValidVersionOverARestart(t *testing.T) {
	pill := func(at string) string {
		return "---\nid: pill\ncron: \"0 " + at + " * * *\"\nbackground: true\n---\nTake it.\n"
	}
	const hook = "---\nid: hook\nfields:\n  type: object\n  properties:\n    text: {type: string}\n---\nLook: {{text}}\n"
	hourOf := func(b *Bot) string {
		r, ok := b.index.Set().RoutineByID("pill")
		if !ok {
			return "gone"
		}
		return r.Cron
	}
	lives(t, time.Minute, func(h home) {
		h.write("routines/pill.md", pill("8"))
		h.write("webhooks/hook.md", hook)
	}, func(h home, b *Bot) {
		h.write("routines/pill.md", pill("9"))
		b.directory.Apply(watch.Batch{Names: []string{"routines/pill.md"}})
	}, func(h home, b *Bot) {
		h.write("routines/pill.md", pill("sometimes"))
		h.write("webhooks/hook.md", "---\nid: hook\n---\nLook.\n")
		b.directory.Apply(watch.Batch{Full: true})
		if got := filesOf(b.Snapshot().Schedule.Problems); got != "routines/pill.md webhooks/hook.md" || hourOf(b) != "0 9 * * *" {
			t.Errorf("problems of %s, in force %s", got, hourOf(b))
		}
	}, func(_ home, b *Bot) {
		list := b.Snapshot().Schedule.Problems
		if hourOf(b) != "0 9 * * *" || len(b.webhooks.index.Specs(false)) != 1 || len(list) != 2 {
			t.Fatalf("after a restart %s is in force, problems %+v", hourOf(b), list)
		}
		for _, p := range list {
			if p.Kept.IsZero() || !strings.Contains(p.Message, "until then the version of 20") {
				t.Errorf("%+v", p)
			}
		}
		testkit.Must(t, os.Remove(b.dir.Path("routines/pill.md")))
		b.directory.Apply(watch.Batch{Names: []string{"routines/pill.md"}})
		if hourOf(b) != "gone" {
			t.Errorf("its file is gone, and %s is in force", hourOf(b))
		}
	}, func(h home, b *Bot) {
		h.write("routines/pill.md", pill("sometimes"))
		b.directory.Apply(watch.Batch{Names: []string{"routines/pill.md"}})
		if hourOf(b) != "gone" {
			t.Errorf("the version of a removed file came back: %s", hourOf(b))
		}
	})
}

// A command beside the bot writes nothing.
func TestLookingForProblemsKeepsNothing(t *testing.T) {
	h := newHome(t)
	h.t = t
	h.write("routines/pill.md", "---\nid: pill\ncron: \"0 8 * * *\"\n---\nTake it.\n")
	h.write("state/.keep", "")
	if list := h.bot(offline()).Problems(time.Now()); len(list) != 0 || h.has("state/valid") {
		t.Errorf("%+v", list)
	}
}

// A frame shows what is known of files that no index holds, and has them read for the next one.
func TestAFrameDoesNotWaitForFilesThatNoIndexHolds(t *testing.T) {
	lives(t, time.Minute, func(home) {}, func(h home, b *Bot) {
		shown := func() bool { return strings.Contains(filesOf(b.Snapshot().Schedule.Problems), "skills/x/SKILL.md") }
		if shown() {
			t.Fatal("there is a skill")
		}
		h.write("skills/x/SKILL.md", "no front matter")
		time.Sleep(time.Minute)
		if shown() {
			t.Error("the frame has read the file")
		}
		synctest.Wait()
		if !shown() {
			t.Error("the file was not read after the frame")
		}
	})
}
