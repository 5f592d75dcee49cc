package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/work/budget"
)

// answeredPing is a ping of a day, and what follows it: its answer, half an hour later.
func answeredPing(at time.Time, id string) string {
	return fmt.Sprintf(`{"at":%q,"id":%q,"task":"aaaa0001","title":"Medication","kind":"ping","text":"m"}`, at.Format(time.RFC3339), id) + "\n" +
		fmt.Sprintf(`{"at":%q,"answers":%q,"how":"reply"}`, at.Add(30*time.Minute).Format(time.RFC3339), id) + "\n"
}

// journalOf is a journal with a ping on each of some days.
func journalOf(days ...int) string {
	var b strings.Builder
	for _, n := range days {
		b.WriteString(answeredPing(time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC).AddDate(0, 0, n), fmt.Sprintf("%08x-1", n+100_000)))
	}
	return b.String()
}

// daysOf are the days from one to another, but for some.
func daysOf(from, to int, but ...int) (days []int) {
	for n := from; n < to; n++ {
		if !slices.Contains(but, n) {
			days = append(days, n)
		}
	}
	return days
}

// Issue 32, bad input: the data directory of another bot is imported over one that is in use, from
// the directory itself and from an export, and the journals of pings overlap. Of each ping and
// each answer there is one, by its time.
func TestAnImportJoinsTwoJournalsOfPings(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for name, c := range map[string]struct{ here, there, want string }{
		"they overlap":       {journalOf(daysOf(0, 20)...), journalOf(daysOf(10, 30)...), journalOf(daysOf(0, 30)...)},
		"one is newer":       {journalOf(daysOf(10, 20)...), journalOf(daysOf(0, 10)...), journalOf(daysOf(0, 20)...)},
		"with holes":         {journalOf(daysOf(0, 20, 3, 4, 5, 15)...), journalOf(daysOf(5, 25, 7, 16)...), journalOf(daysOf(0, 25, 3, 4)...)},
		"with a future date": {journalOf(append(daysOf(0, 5), 4000)...), journalOf(daysOf(3, 9)...), journalOf(append(daysOf(0, 9), 4000)...)},
		"ten years":          {journalOf(daysOf(-3652, 0)...), journalOf(daysOf(-700, 10)...), journalOf(daysOf(-3652, 10)...)},
		"only here":          {journalOf(daysOf(0, 3)...), "", journalOf(daysOf(0, 3)...)},
		"only there":         {"", journalOf(daysOf(0, 3)...), journalOf(daysOf(0, 3)...)},
		"damaged":            {journalOf(daysOf(0, 5)...) + `{"at":"2026-`, journalOf(daysOf(3, 7)...), journalOf(daysOf(0, 7)...)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, how := range []string{"directory", "export"} {
				root := t.TempDir()
				here, there := filepath.Join(root, "here"), filepath.Join(root, "there")
				for dir, journal := range map[string]string{here: c.here, there: c.there} {
					put(t, filepath.Join(dir, "routines", "a.md"), "---\nid: \"aaaa0001\"\ncron: \"0 8 * * *\"\n---\nx\n")
					if journal != "" {
						put(t, filepath.Join(dir, "state", "pings.jsonl"), journal)
					}
				}
				env := []string{"HOME=" + root, "PATH=" + os.Getenv("PATH"), "OLLIM_DATA_DIR=" + here, "OLLIM_TIMEZONE=UTC"}
				from := there
				if how == "export" {
					from = filepath.Join(root, "other.export")
					if got := shell(t, built(t), env, "--data-dir", there, "export", from); got.status != 0 {
						t.Fatal(got.err)
					}
				}
				got := shell(t, built(t), env, "import", "--replace", from)
				if both := c.here != "" && c.there != ""; got.status != 0 || strings.Contains(got.out, "Joined with what was there, each entry once: state/pings.jsonl.") != both {
					t.Fatalf("%s: %d %s%s", how, got.status, got.out, got.err)
				}
				if text := stored(here, "state", "pings.jsonl"); text != c.want {
					t.Errorf("%s: %d bytes, want %d:\n%.2000s", how, len(text), len(c.want), text)
				}
				if stored(there, "state", "pings.jsonl") != c.there {
					t.Errorf("%s: the source has changed", how)
				}
				d := storetest.At(t, here)
				list, err := budget.NewJournal(d, time.UTC, nil).All()
				check(t, err)
				for i, p := range list {
					if p.Answered.Sub(p.At) != 30*time.Minute || i > 0 && !p.At.After(list[i-1].At) {
						t.Fatalf("%s: ping %d is %+v", how, i, p)
					}
				}
			}
		})
	}
}
