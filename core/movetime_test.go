package core

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/proposals"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
)

const medFile = "routines/medication.md"

// medText is a file with parts that an edit must not change.
const medText = "---\n# by hand\nid: \"aaaa0001\"\ndescription:   \"Medication\"\ncron: \"0 8 * * *\" # after breakfast\nbackground: true\nmine: [1,  2]\n---\nSay nothing.\n\n\tAs it is. \n"

// movedFor writes a journal in which a task pings at 8:00 and the user answers at 9:30
// every day.
func movedFor(h home, task string, days int) {
	begin := time.Date(2000, 1, 1, 8, 0, 10, 0, h.zone).AddDate(0, 0, -days)
	var lines []string
	for n := range days {
		at := begin.AddDate(0, 0, n)
		id := fmt.Sprintf("%08x-1", n)
		lines = append(lines, fmt.Sprintf(`{"at":%q,"id":%q,"task":%q,"kind":"ping","message":"m%d"}`, at.Format(time.RFC3339), id, task, n),
			fmt.Sprintf(`{"at":%q,"answers":%q,"how":"reply"}`, at.Add(90*time.Minute).Format(time.RFC3339), id))
	}
	h.write("state/pings.jsonl", strings.Join(lines, "\n")+"\n")
}

func (h home) text(rel string) string {
	data, err := os.ReadFile(filepath.Join(h.root, rel))
	testkit.Must(h.t, err)
	return string(data)
}

func moves(h home) {
	h.write(medFile, medText)
	movedFor(h, "aaaa0001", 60)
}

// The whole life of a suggestion: it is made by day, once, changes nothing by itself, and
// the effect of the answer can be undone.
func TestATimeIsProposedAndChangedOnlyWithConsent(t *testing.T) {
	running(t, moves, func(h home, b *Bot) {
		time.Sleep(7*time.Hour + 30*time.Minute) // the story starts at one
		if open := b.Snapshot().Proposals; len(open) != 0 {
			t.Errorf("at %s it asks: %+v", b.now().Format("15:04"), open)
		}
		time.Sleep(time.Hour)
		open := b.Snapshot().Proposals
		if len(open) != 1 || open[0].Text != "You answered Medication at about 9:30 in eight of eight weeks. It comes at 8:00. Change it?" {
			t.Fatalf("proposals: %+v", open)
		}
		if got := h.text(medFile); got != medText {
			t.Errorf("without an answer the file is\n%s", got)
		}
		card := lastCard(t, b, textMoveTitle)
		if labels := fmt.Sprint(labelsOf(open[0])); labels != "[Change to 9:30 Not now Never ask]" {
			t.Error(labels)
		}
		out, err := press(t, b, card, "Change to 9:30")
		if err != nil || out.Message != "Medication comes at 9:30 from now on." {
			t.Fatalf("%+v, %v", out, err)
		}
		if got := h.text(medFile); got != strings.Replace(medText, "0 8 * * *", "30 9 * * *", 1) {
			t.Errorf("the file is\n%s", got)
		}
		if n := len(b.Snapshot().Proposals); n != 0 {
			t.Errorf("%d are open after the answer", n)
		}
		undo := do(t, b, out.Undo)
		if got := h.text(medFile); got != medText {
			t.Errorf("after undo the file is\n%s", got)
		}
		if undo.Undo == nil || len(b.Snapshot().Proposals) != 1 {
			t.Errorf("the answer was not taken back: %+v", undo)
		}
		time.Sleep(36 * time.Hour)
		if all := b.offers.Of(KindTime); len(all) != 1 {
			t.Errorf("without an answer it asked %d times", len(all))
		}
	})
}

func TestNeverAskIsForEver(t *testing.T) {
	lives(t, 24*time.Hour, moves, func(_ home, b *Bot) {
		time.Sleep(10 * time.Hour)
		if out, err := press(t, b, lastCard(t, b, textMoveTitle), "Never ask"); err != nil || !strings.Contains(out.Message, "stays at 8:00") {
			t.Errorf("%+v, %v", out, err)
		}
	}, func(h home, b *Bot) {
		time.Sleep(time.Hour)
		testkit.Must(t, proposeTime(b, b.now()))
		if all := b.offers.Of(KindTime); len(all) != 1 || h.text(medFile) != medText {
			t.Errorf("asked %d times: %+v", len(all), all)
		}
	})
}

// Switched off, nothing is learned from answers: no time is proposed, and runs are not told when the
// user answers.
func TestWhoWantsNoLearningGetsNoSuggestions(t *testing.T) {
	running(t, moves, func(_ home, b *Bot) {
		do(t, b, command.SetConfig{Key: "learning", Value: "off"})
		time.Sleep(17 * time.Hour)
		if n := len(b.offers.Of(KindTime)); n != 0 {
			t.Errorf("switched off: %d proposed", n)
		}
		do(t, b, command.SetConfig{Key: "learning", Value: "on"})
		time.Sleep(2*time.Hour + time.Minute)
		if n := len(b.Snapshot().Proposals); n != 1 {
			t.Errorf("switched on: %d proposed", n)
		}
	})
}

func TestNothingIsProposedInQuietHours(t *testing.T) {
	running(t, moves, func(_ home, b *Bot) {
		do(t, b, command.SetConfig{Key: "quiet_hours", Value: "08:00-19:00"})
		time.Sleep(17 * time.Hour)
		if n := len(b.Snapshot().Proposals); n != 0 {
			t.Errorf("%d in quiet hours", n)
		}
		time.Sleep(2*time.Hour + time.Minute)
		if n := len(b.Snapshot().Proposals); n != 1 {
			t.Errorf("%d after quiet hours", n)
		}
	})
}

// If the file changed in the meantime, the user's text stays.
func TestAChangeMeetsAFileThatHasChanged(t *testing.T) {
	running(t, moves, func(h home, b *Bot) {
		time.Sleep(10 * time.Hour)
		card := lastCard(t, b, textMoveTitle)
		edited := strings.Replace(medText, "0 8 * * *", "15 7 * * *", 1)
		h.write(medFile, edited)
		b.index.Scan()
		time.Sleep(time.Minute)
		if _, err := press(t, b, card, "Change to 9:30"); err == nil || !strings.Contains(err.Error(), `its cron line is "15 7 * * *" now`) {
			t.Errorf("%v", err)
		}
		if got := h.text(medFile); got != edited {
			t.Errorf("the file is\n%s", got)
		}
	})
}

func TestWhatWasPutOffWaitsFourWeeksAndAWeekHasOneProposal(t *testing.T) {
	now := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	ago := func(d time.Duration, answer string) proposals.Proposal {
		p := proposals.Proposal{Kind: KindTime, Words: "the time of a", Made: now.Add(-d), Answer: answer}
		if answer != "" {
			p.Answered = p.Made.Add(time.Hour)
		}
		return p
	}
	for _, c := range []struct {
		p          proposals.Proposal
		may, waits bool
	}{
		{ago(6*day, timeNotNow), false, true},
		{ago(8*day, timeNotNow), true, true},
		{ago(28*day, timeNotNow), true, true},
		{ago(29*day, timeNotNow), true, false},
		{ago(8*day, ""), true, true},
		{ago(29*day, ""), true, false},
		{ago(8*day, timeChanges), true, false},
		{ago(-6*day, timeNotNow), false, true}, // the clock was wrong
		{ago(-90*day, timeNotNow), true, false},
	} {
		before := []proposals.Proposal{c.p}
		if may, w := mayPropose(before, now), waits(before, "the time of a", now); may != c.may || w != c.waits {
			t.Errorf("%s ago, %q: %v, %v", now.Sub(c.p.Made), c.p.Answer, may, w)
		}
		if waits(before, "the time of b", now) {
			t.Error("another routine waits too")
		}
	}
}

// A better time is suggested only for a routine with a single time of day and permission
// to ping.
// A learned time moves the time of day; the days that other keys select stay.
func TestALearnedTimeKeepsTheDays(t *testing.T) {
	running(t, func(h home) { movedFor(h, "aaaa0001", 60) }, func(_ home, b *Bot) {
		asks, err := asksByTask(b, b.now())
		testkit.Must(t, err)
		r := &routines.Routine{Task: routines.Task{ID: "aaaa0001", AllowPing: true}, Cron: "0 8 * * mon-fri"}
		r.Schedule, err = b.times().Schedule("0 8 * * mon-fri, every 2 weeks, from 1 January 2001")
		testkit.Must(t, err)
		p, ok := timeFor(r, asks[r.ID], b.now())
		var change movedTime
		if !ok || json.Unmarshal(p.Change, &change) != nil || change.To != "30 9 * * mon-fri, every 2 weeks, from 1 January 2001" {
			t.Errorf("%v, %+v", ok, change)
		}
	})
}

func TestOnlyAPlainTimeIsMoved(t *testing.T) {
	running(t, func(h home) { movedFor(h, "aaaa0001", 60) }, func(_ home, b *Bot) {
		asks, err := asksByTask(b, b.now())
		testkit.Must(t, err)
		for want, alter := range map[string]func(*routines.Routine){
			"":                func(*routines.Routine) {},
			"two times":       func(r *routines.Routine) { r.Cron = "0 8,20 * * *" },
			"every hour":      func(r *routines.Routine) { r.Cron = "0 * * * *" },
			"silent":          func(r *routines.Routine) { r.AllowPing = false },
			"not approved":    func(r *routines.Routine) { r.Waits = "it is new" },
			"an edit waits":   func(r *routines.Routine) { r.Proposed.Version = "1" },
			"with a window":   func(r *routines.Routine) { r.Leeway = leeway.Rule{Jitter: time.Minute} },
			"another zone":    func(r *routines.Routine) { r.Schedule.Zone = time.UTC },
			"another time":    func(r *routines.Routine) { r.Cron = "0 7 * * *" },
			"another routine": func(r *routines.Routine) { r.ID = "bbbb0001" },
		} {
			r := &routines.Routine{Task: routines.Task{ID: "aaaa0001", AllowPing: true}, Cron: "0 8 * * mon-fri"}
			alter(r)
			c, err := cron.Parse(r.Cron)
			testkit.Must(t, err)
			r.Schedule.Cron = c
			p, ok := timeFor(r, asks[r.ID], b.now())
			if ok != (want == "") {
				t.Errorf("%q: %v", want, ok)
			}
			var change movedTime
			if ok && (json.Unmarshal(p.Change, &change) != nil || change.To != "30 9 * * mon-fri") {
				t.Errorf("changes to %+v", change)
			}
		}
	})
}

// lastCard returns the newest card with a title.
func lastCard(t *testing.T, b *Bot, title string) transcript.Entry {
	t.Helper()
	for _, e := range slices.Backward(b.Snapshot().Chat) {
		if e.Embed != nil && e.Embed.Title == title {
			return e
		}
	}
	t.Fatalf("no card %q", title)
	return transcript.Entry{}
}

// labelsOf returns the labels of a proposal's buttons.
func labelsOf(p proposals.Proposal) (list []string) {
	for _, b := range p.Buttons {
		list = append(list, b.Label)
	}
	return list
}
