package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// triedElsewhere are the beginnings of the sentences with a number or an order that other tests try, or that are only advice.
var triedElsewhere = []string{
	"within ten seconds a run starts", // TestTheDemoTellsItsStory
	"A reminder can repeat until you answer it", "The bot reads it with your next message", "At the next start, missed reminders", "the old version or the new one",
	// What the reader does, and headings before it.
	"It runs your routines", "It is one Go binary", "Building needs Go", "For real answers, choose one", "Get started In ten minutes", "You need Go 1.26",
	"Leave the dashboard open", "Your first reminder", "Your first routine", "ollim-bot routine add", "Let it ping you now", "ollim-bot routine list",
	"ls ~/.ollim-bot/routines", "Say something",
}

const readme, tutorial = "README.md", "docs/get-started.md"

// walked is a sentence of a document, and what shows that it is true: what a command line prints, and more. Where it
// begins with "soon", the bot may still be at it. Walks play in order, in one home with one bot.
type walked struct {
	page, sentence string
	line, prints   string
	is             func(w *walk) bool
}

// walk is somebody who follows README.md and the tutorial.
type walk struct {
	*world
	id string // of the routine
}

// prints reports whether a command line prints what a pattern matches.
func (w *walk) prints(line, pattern string) bool {
	w.t.Helper()
	line, soon := strings.CutPrefix(line, "soon ")
	words := strings.Split(strings.ReplaceAll(line, "ID", w.id), " ")
	if message, quoted, ok := strings.Cut(line, " -m "); ok {
		words = append(strings.Split(message, " "), "-m", quoted)
	}
	re, got := regexp.MustCompile(pattern), spoken{}
	asks := func() bool {
		got = w.shell(words...)
		return re.MatchString(got.out)
	}
	if soon {
		w.untilAsked(pattern, asks)
	} else if !asks() {
		w.t.Logf("ollim-bot %q printed %+v", words, got)
		return false
	}
	return true
}

// theRoutine is the file of the routine.
const theRoutine = "routines/nudge-me-to-make-tea.md"

// edits saves the routine with another time.
func (w *walk) edits(from, to string) {
	w.file(theRoutine, strings.Replace(w.read(theRoutine), from, to, 1))
}

// afterAMinute makes the reminder, which the schedule has shown in a minute, due now. Once it is due by itself, its file may go at any time
// and must not be there again.
func (w *walk) afterAMinute() {
	w.t.Helper()
	files, err := filepath.Glob(w.path("reminders/*.md"))
	testkit.Must(w.t, err)
	for _, path := range files {
		text := regexp.MustCompile(`(?m)^run-at:.*$`).ReplaceAllString(stored(path), `run-at: "`+time.Now().UTC().Format(time.RFC3339)+`"`)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		testkit.Must(w.t, err)
		_, err = file.WriteString(text)
		testkit.Must(w.t, errors.Join(err, file.Close()))
	}
}

var walks = []walked{
	{tutorial, "The last command prints the version.", "version", `^ollim-bot \d`, nil},
	{readme, "This creates the data directory `~/.ollim-bot` and opens the dashboard.", "", "", func(w *walk) bool {
		w.launch("run", "--plain")
		w.hears("ollim-bot in plain mode")
		return true
	}},
	{tutorial, "This creates `~/.ollim-bot` and opens the dashboard with a welcome", "", "", func(w *walk) bool {
		return exists(w.data)
	}},
	{readme, "It has five pings and gets one back every 90 minutes.", "budget", `5/5 available \(refills 1 every 90 min\)`, nil},
	{
		tutorial, "You see six panes: **Ping budget** (full: `5 / 5`), **Schedule** (empty), **Updates**, **Runs**, **Chat** and **Logs**.",
		"snapshot", `(?s)2 Schedule.*4 Runs.*5 Chat.*6 Logs.*3 Updates.*1 Ping budget.*5 / 5`, nil,
	},
	{readme, "Only you can read the files.", "", "", func(w *walk) bool {
		info, err := os.Stat(w.data)
		return err == nil && info.Mode().Perm() == 0o700
	}},
	{
		tutorial, "The output looks like `scheduled 663c3d67: [bg] at 2026-11-24T09:31 -- Remind me to drink a glass of water.`",
		"reminder add --delay 1 -m Remind me to drink a glass of water.",
		`^scheduled [0-9a-f]{8}: \[bg\] at \d{4}-\d\d-\d\dT\d\d:\d\d -- Remind me to drink a glass of water\.\n$`, nil,
	},
	{tutorial, "In the dashboard the reminder is now in the schedule.", "soon schedule", `(in 1 min|now) +[0-9a-f]{8}  Remind me`, nil},
	{tutorial, "After a minute:", "", "", func(w *walk) bool {
		w.afterAMinute()
		w.hears("ping: Remind me to drink a glass of water: ")
		return w.prints("soon runs", `done .*Remind me to drink`)
	}},
	{
		tutorial, "1. A run appears in **Runs**, with its output below it. It has no model that could decide, so it pings you.",
		"runs", `Remind me to drink a glass of water\. .*1 ping`, nil,
	},
	{
		tutorial, "2. **Chat** shows the ping: `Remind me to drink a glass of water.`, with the remark that no model is connected.", "", "", func(w *walk) bool {
			w.hears("ping: Remind me to drink a glass of water: Remind me to drink a glass of water. (No model is connected") // S13: no ".:"
			return true
		},
	},
	{
		tutorial, "3. **Ping budget** drops to `4 / 5`. You get the token back in 90 minutes.",
		"budget", `4/5 available \(refills 1 every 90 min, next in (89|90) min\)`, nil,
	},
	{tutorial, "4. **Updates** shows the run's report.", "soon updates", `glass of water`, nil},
	{tutorial, "The reminder has left the schedule: it fires only once.", "reminder list", `^no reminders|^no pending`, nil},
	{
		tutorial, "`ollim-bot cron weekdays at 15:00` prints the next five times.",
		"cron weekdays at 15:00", `^at 15:00, Monday to Friday\n(  (Mon|Tue|Wed|Thu|Fri) [-0-9]+ 15:00 \w+\n){5}$`, nil,
	},
	{tutorial, "In the file, that is `0 15 * * 1-5`", "", "", func(w *walk) bool {
		got := w.shell("routine", "add", "-d", "Tea", "-m", "Nudge me to make tea.", "--when", "weekdays at 15:00", "--background")
		return regexp.MustCompile(`^scheduled [0-9a-f]{8}: \[bg\] cron '0 15 \* \* 1-5' -- Tea\n`).MatchString(got.out)
	}},
	{tutorial, "Find the id of your routine in the list:", "", "", func(w *walk) bool {
		w.id = regexp.MustCompile(`[0-9a-f]{8}`).FindString(w.runs("routine", "list"))
		return w.id != ""
	}},
	{tutorial, "The command prints `Tea starts now`.", "fire ID", `^Tea starts now`, nil},
	{
		tutorial, "In the dashboard a second run appears, the chat shows `Nudge me to make tea.`, and the budget drops to `3 / 5`.",
		"soon budget", `^ping budget: 3/5`, func(w *walk) bool {
			w.hears("ping: Tea: Nudge me to make tea.")
			return w.prints("soon runs", `(?s)Tea .*Remind me`)
		},
	},
	{tutorial, "The routine is a file.", "", "", func(w *walk) bool {
		return w.read(theRoutine) == "---\nid: \""+w.id+"\"\ncron: \"0 15 * * 1-5\"\nbackground: true\ndescription: \"Tea\"\n---\nNudge me to make tea.\n"
	}},
	{tutorial, "The change takes effect at once; `ollim-bot routine list` shows the new time.", "", "", func(w *walk) bool {
		w.edits("0 15", "30 15")
		w.gets("state/valid/"+theRoutine, "30 15") // the last valid version below
		return w.prints("soon routine list", `30 15 \* \* 1-5`)
	}},
	{
		tutorial, "If you make a mistake, the last valid version stays in effect, and `ollim-bot check` prints the file, the line and how to fix it.",
		"", "", func(w *walk) bool {
			w.edits("30 15", "30 99")
			defer w.edits("30 99", "30 15")
			return w.prints("soon check", `(?m)^routines/nudge-me-to-make-tea\.md:3:\d+: error: `) && w.prints("routine list", `30 15 \* \* 1-5`)
		},
	},
	{tutorial, "The bot sets the reminder.", "", "", func(w *walk) bool {
		w.types("/remind water the plants, in 2 minutes")
		return w.prints("soon reminder list", `water the plants`)
	}},
	{readme, "`ollim-bot help topics` lists them and `ollim-bot help NAME` prints one, even offline.", "help topics", `how-it-works`, func(w *walk) bool {
		return w.prints("help how-it-works", `^# `)
	}},
	{readme, "`ollim-bot doctor` names the one in use.", "doctor", `(?m)^ +(PASS|WARN|FAIL) +commands: .*(bubblewrap|Landlock|sandbox)`, nil},
}

// A reader who does what README.md and the tutorial say sees what they say, in their order.
func TestEverySentenceOfTheFirstMinutesIsTrue(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	git := testkit.Needs(t, "git")
	w := &walk{world: newWorld(t, "PATH="+filepath.Dir(git))}
	pages := map[string]string{}
	for _, name := range []string{readme, tutorial} {
		pages[name] = strings.Join(strings.Fields(source(t, name)), " ")
	}
	for _, step := range walks {
		if !strings.Contains(pages[step.page], step.sentence) {
			t.Errorf("%s no longer says %q", step.page, step.sentence)
		}
		if step.line != "" && !w.prints(step.line, step.prints) || step.is != nil && !step.is(w) {
			t.Fatalf("%s says %q, which is not so", step.page, step.sentence)
		}
	}
	for name, text := range pages {
		for _, sentence := range sentencesWithFacts(text) {
			if !isWalked(sentence) {
				t.Errorf("nothing tries the sentence %q of %s", sentence, name)
			}
		}
	}
}

// sentencesWithFacts returns the sentences that state a number, a time or an order of events.
func sentencesWithFacts(text string) (list []string) {
	fact := regexp.MustCompile(`\d|\b(one|two|three|four|five|six|ten|first|second|last|minutes?|seconds?|once|repeats?|at once|next)\b`)
	text = regexp.MustCompile("```.*?```").ReplaceAllString(text, "")
	for _, s := range regexp.MustCompile(`[.:] |#+ `).Split(text, -1) {
		if fact.MatchString(s) && !strings.Contains(s, "](") {
			list = append(list, strings.TrimSpace(s))
		}
	}
	return list
}

func isWalked(sentence string) bool {
	for _, step := range walks {
		if strings.Contains(step.sentence, sentence) || strings.Contains(sentence, strings.TrimSuffix(step.sentence, ".")) {
			return true
		}
	}
	for _, begin := range triedElsewhere {
		if strings.HasPrefix(sentence, begin) {
			return true
		}
	}
	return false
}
