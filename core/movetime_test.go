package core

import (
	"context"
	"encoding/json"
	"fmt"
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

// answered is a journal of 60 days in which a task pings at 8:00 and the user answers at 9:30.
func answered() file {
	var lines []string
	for n := range 60 {
		at := dayOne.Add(7*time.Hour+10*time.Second).AddDate(0, 0, n-60)
		id := fmt.Sprintf("%08x-1", n)
		lines = append(lines, fmt.Sprintf(`{"at":%q,"id":%q,"task":"aaaa0001","kind":"ping","message":"m%d"}`, at.Format(time.RFC3339), id, n),
			fmt.Sprintf(`{"at":%q,"answers":%q,"how":"reply"}`, at.Add(90*time.Minute).Format(time.RFC3339), id))
	}
	return file{"state/pings.jsonl", strings.Join(lines, "\n") + "\n"}
}

// moves are the files of a routine whose user answers at another time.
var moves = []file{{medFile, medText}, answered()}

// card returns the newest card with a title.
func (w *world) card(title string) transcript.Entry {
	w.Helper()
	for _, e := range slices.Backward(w.Snapshot().Chat) {
		if e.Embed != nil && e.Embed.Title == title {
			return e
		}
	}
	w.Fatalf("no card %q", title)
	return transcript.Entry{}
}

// The whole life of a suggestion: it is made by day, once, changes nothing by itself, and the effect of the answer can be undone.
func TestATimeIsProposedAndChangedOnlyWithConsent(t *testing.T) {
	story(t, moves, func(w *world) {
		w.sleep(7*time.Hour + 30*time.Minute) // the story starts at one
		w.is("open at half past eight", w.asked(), "0 open, 0 reminders")
		w.sleep(time.Hour)
		open := w.Snapshot().Proposals
		w.needs(len(open) == 1, "proposals", open)
		w.is("it asks", open[0].Text, "You answered Medication at about 9:30 in eight of eight weeks. It comes at 8:00. Change it?")
		var labels []string
		for _, b := range open[0].Buttons {
			labels = append(labels, b.Label)
		}
		w.is("buttons", strings.Join(labels, ", "), "Change to 9:30, Not now, Never ask")
		w.is("the file without an answer", w.read(medFile), medText)
		out := w.presses(w.card(textMoveTitle), "Change to 9:30", "")
		w.is("it answers", out.Message, "Medication comes at 9:30 from now on.")
		w.is("the file", w.read(medFile), strings.Replace(medText, "0 8 * * *", "30 9 * * *", 1))
		w.is("open after the answer", len(w.Snapshot().Proposals), 0)
		undo := w.do(out.Undo)
		w.is("the file after undo", w.read(medFile), medText)
		w.holds(undo.Undo != nil && len(w.Snapshot().Proposals) == 1, "the answer was not taken back", undo)
		w.sleep(36 * time.Hour)
		w.is("without an answer, asked", len(w.offers.Of(KindTime)), 1)
	})
}

func TestAnAnswerThatIsCarriedOutTwiceMovesTheRoutineOnce(t *testing.T) {
	story(t, moves, func(w *world) {
		edits := 0
		m := timeMover{index: w.index, do: func(ctx context.Context, c command.Value) (command.Outcome, error) {
			edits++
			return w.Do(ctx, c)
		}}
		for range 2 {
			title, err := m.move(w.Context(), "aaaa0001", "0 8 * * *", "30 9 * * *")
			testkit.Must(t, err)
			w.is("the routine", title, "Medication")
		}
		w.is("edits", edits, 1)
		if _, err := m.move(w.Context(), "aaaa0001", "0 8 * * *", "0 7 * * *"); err == nil || edits != 1 {
			t.Errorf("a routine that has another time by now is moved: %v, %d edits", err, edits)
		}
	})
}

func TestNeverAskIsForEver(t *testing.T) {
	setting{files: moves, gap: 24 * time.Hour}.tell(t, func(w *world) {
		w.sleep(10 * time.Hour)
		w.presses(w.card(textMoveTitle), "Never ask", "stays at 8:00")
	}, func(w *world) {
		w.sleep(time.Hour)
		testkit.Must(t, proposeTime(w.Bot, w.now()))
		w.is("asked", len(w.offers.Of(KindTime)), 1)
		w.is("the file", w.read(medFile), medText)
	})
}

// Nothing is proposed in quiet hours, nor to a user who wants nothing learned from the answers.
func TestATimeIsProposedOnlyWhereItIsWelcome(t *testing.T) {
	for name, c := range map[string]struct{ at, later command.Value }{
		"switched off":   {command.SetConfig{Key: "learning", Value: "off"}, command.SetConfig{Key: "learning", Value: "on"}},
		"in quiet hours": {command.SetConfig{Key: "quiet_hours", Value: "08:00-19:00"}, nil},
	} {
		story(t, moves, func(w *world) {
			w.do(c.at)
			w.sleep(17 * time.Hour)
			w.is(name+": proposed", len(w.offers.Of(KindTime)), 0)
			if c.later != nil {
				w.do(c.later)
			}
			w.sleep(2*time.Hour + time.Minute)
			w.is("not "+name+": proposed", len(w.Snapshot().Proposals), 1)
		})
	}
}

// If the file changed in the meantime, the user's text stays.
func TestAChangeMeetsAFileThatHasChanged(t *testing.T) {
	story(t, moves, func(w *world) {
		w.sleep(10 * time.Hour)
		card := w.card(textMoveTitle)
		edited := strings.Replace(medText, "0 8 * * *", "15 7 * * *", 1)
		w.write(medFile, edited)
		w.index.Scan()
		w.sleep(time.Minute)
		_, err := w.press(card, "Change to 9:30")
		fails(w, "the change", err, `its cron line is "15 7 * * *" now`)
		w.is("the file", w.read(medFile), edited)
	})
}

func TestWhatWasPutOffWaitsFourWeeksAndAWeekHasOneProposal(t *testing.T) {
	now := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		days       int // ago; the clock was wrong where it is below 0
		answer     string
		may, waits bool
	}{
		{6, timeNotNow, false, true},
		{8, timeNotNow, true, true},
		{28, timeNotNow, true, true},
		{29, timeNotNow, true, false},
		{8, "", true, true},
		{29, "", true, false},
		{8, timeChanges, true, false},
		{-6, timeNotNow, false, true},
		{-90, timeNotNow, true, false},
	} {
		p := proposals.Proposal{Kind: KindTime, Words: "the time of a", Made: now.Add(-time.Duration(c.days) * 24 * time.Hour), Answer: c.answer}
		if c.answer != "" {
			p.Answered = p.Made.Add(time.Hour)
		}
		before := []proposals.Proposal{p}
		is(t, fmt.Sprintf("%d days ago, %q: may propose, waits, another routine waits", c.days, c.answer),
			[]bool{mayPropose(before, now), waits(before, "the time of a", now), waits(before, "the time of b", now)}, []bool{c.may, c.waits, false})
	}
}

// A better time is suggested only for a routine with a single time of day and permission to ping. It moves the time of day; the days that
// other keys select stay.
func TestOnlyAPlainTimeIsMoved(t *testing.T) {
	story(t, moves, func(w *world) {
		asks, err := asksByTask(w.Bot, w.now())
		testkit.Must(t, err)
		const days = "0 8 * * mon-fri, every 2 weeks, from 1 January 2001"
		for _, c := range []struct {
			name, to string
			alter    func(*routines.Routine)
		}{
			{"plain", "30 9 * * mon-fri", func(*routines.Routine) {}},
			{"with days", strings.Replace(days, "0 8", "30 9", 1), func(r *routines.Routine) {
				r.Schedule, err = w.times().Schedule(days)
				testkit.Must(t, err)
			}},
			{"two times", "", func(r *routines.Routine) { r.Cron = "0 8,20 * * *" }},
			{"every hour", "", func(r *routines.Routine) { r.Cron = "0 * * * *" }},
			{"silent", "", func(r *routines.Routine) { r.AllowPing = false }},
			{"not approved", "", func(r *routines.Routine) { r.Waits = "it is new" }},
			{"an edit waits", "", func(r *routines.Routine) { r.Proposed.Version = "1" }},
			{"with a window", "", func(r *routines.Routine) { r.Leeway = leeway.Rule{Jitter: time.Minute} }},
			{"another zone", "", func(r *routines.Routine) { r.Schedule.Zone = time.UTC }},
			{"another time", "", func(r *routines.Routine) { r.Cron = "0 7 * * *" }},
			{"another routine", "", func(r *routines.Routine) { r.ID = "bbbb0001" }},
		} {
			r := &routines.Routine{Task: routines.Task{ID: "aaaa0001", AllowPing: true}, Cron: "0 8 * * mon-fri"}
			c.alter(r)
			r.Schedule.Cron, err = cron.Parse(r.Cron)
			testkit.Must(t, err)
			p, ok := timeFor(r, asks[r.ID], w.now())
			var change movedTime
			if ok {
				testkit.Must(t, json.Unmarshal(p.Change, &change))
			}
			w.is(c.name+": moved to", change.To, c.to)
			w.is(c.name+": moved", ok, c.to != "")
		}
	})
}
