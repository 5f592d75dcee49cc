package core

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/google"
	"ollimbot/routines/watch"
)

// problemFiles are the files in the list of problems.
func (w *world) problemFiles() string {
	var files []string
	for _, p := range w.Snapshot().Schedule.Problems {
		files = append(files, p.File)
	}
	return strings.Join(files, " ")
}

// saves writes files as an editor does, so that the bot reads them; one without text is removed.
func (w *world) saves(files ...file) {
	w.Helper()
	for _, f := range files {
		if f.text == "" {
			testkit.Must(w, os.Remove(w.dir.Path(f.rel)))
		} else {
			w.put(f)
		}
		w.directory.Apply(watch.Batch{Names: []string{f.rel}})
	}
}

// Q1: a bot without a screen said nothing.
func TestAProblemIsSaidAtOnceAndOnThePhoneOnceItHasLasted(t *testing.T) {
	rules := file{"tool-policy.yaml", "bg_forks:\n  overide: []\n"}
	var log bytes.Buffer
	// chat are the messages with the problem in the chat, where the phone shows them.
	chat := func(w *world) (n int) {
		for _, e := range w.Snapshot().Chat {
			if e.Role == transcript.Notice && strings.Contains(e.Text, "the tool rules, line 2: unknown key") {
				n++
			}
		}
		return n
	}
	logged := func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }
	setting{files: []file{rules}, gap: time.Minute, change: logged}.tell(t, func(w *world) {
		w.is("at once: notices, messages", []int{w.noted("tool-policy.yaml:2:3: unknown key"), chat(w)}, []int{1, 0})
		w.is("lines of the log", strings.Count(log.String(), "a file has a problem"), 1)
		w.saves(file{"prices.yaml", "opus: cheap\n"}, file{"prices.yaml", "opus: 1 2 3 4\n"}) // the next save mends it
		w.sleep(30 * time.Minute)
		w.is("after a while: messages, notices of either file", []int{chat(w), w.noted(rules.rel), w.noted("prices.yaml")}, []int{1, 1, 1})
		w.lacks("the chat", fmt.Sprint(w.Snapshot().Chat), "prices.yaml") // the problem of a moment
	}, func(w *world) {
		w.sleep(30 * time.Minute)
		w.is("messages after a restart", chat(w), 1)
		w.saves(file{rules.rel, ""}, rules)
		w.sleep(30 * time.Minute)
		w.is("messages when it is made again", chat(w), 2)
	})
}

// Q1: a version that was lost with the restart stopped the medicine.
func TestABrokenFileKeepsItsLastValidVersionOverARestart(t *testing.T) {
	pill := func(at string) file { return routineOf("pill", "0 "+at+" * * *", "", "Take it.") }
	rel := pill("").rel
	hook := task("webhooks/hook.md", "id: hook\nfields:\n  type: object\n  properties:\n    text: {type: string}\n", "Look: {{text}}")
	inForce := func(w *world, when, want string) {
		w.Helper()
		cron := "none"
		if r, ok := w.index.Set().RoutineByID("pill"); ok {
			cron = r.Cron
		}
		w.is(when+" in force is", cron, want)
	}
	setting{files: []file{pill("8"), hook}, gap: time.Minute}.tell(t, func(w *world) {
		w.saves(pill("9"))
	}, func(w *world) {
		w.put(pill("sometimes"), file{hook.rel, "---\nid: hook\n---\nLook.\n"})
		w.directory.Apply(watch.Batch{Full: true})
		w.is("problems", w.problemFiles(), "routines/pill.md webhooks/hook.md")
		inForce(w, "broken,", "0 9 * * *")
	}, func(w *world) {
		inForce(w, "after a restart", "0 9 * * *")
		list := w.Snapshot().Schedule.Problems
		w.needs(len(w.webhooks.index.Specs(false)) == 1 && len(list) == 2, "problems after a restart", list)
		for _, p := range list {
			w.holds(!p.Kept.IsZero() && strings.Contains(p.Message, "until then the version of 20"), "a problem", p)
		}
		w.saves(file{rel, ""})
		inForce(w, "removed,", "none")
	}, func(w *world) {
		w.saves(pill("sometimes"))
		inForce(w, "broken again,", "none")
	})
	h := newHome(t) // a command beside the bot writes nothing
	h.put(pill("8"), file{"state/.keep", ""})
	list := h.bot(offline()).Problems(time.Now())
	checks{t}.holds(len(list) == 0 && !h.has("state/valid"), "looking for problems finds some or keeps versions", list)
}

// A frame shows what is known of files that no index holds, and has them read for the next one.
func TestAFrameDoesNotWaitForFilesThatNoIndexHolds(t *testing.T) {
	const rel = "skills/x/SKILL.md"
	story(t, nil, func(w *world) {
		shown := func() bool { return strings.Contains(w.problemFiles(), rel) }
		w.is("shown before there is a skill", shown(), false)
		w.write(rel, "no front matter")
		time.Sleep(time.Minute)
		w.is("shown in the first frame", shown(), false)
		synctest.Wait()
		w.is("shown in the next frame", shown(), true)
	})
}

// A routine that cannot work is reported before it fires: in the list of problems, and in a single notice that a restart does not repeat.
func TestWhatARoutineLacksIsSaidOnceBeforeItFires(t *testing.T) {
	const lacks = `runs without the skill "gone"`
	seen := func(w *world) (problems, notices int) {
		for _, p := range w.Snapshot().Schedule.Problems {
			problems += strings.Count(p.Message, lacks)
		}
		for _, one := range w.Snapshot().Notices {
			if one.Level == notice.Warn {
				notices += strings.Count(one.Text, lacks)
			}
		}
		return problems, notices
	}
	needy := routineOf(tidyID, "0 0 1 6 *", "skills: [gone]\n", "Tidy.")
	setting{files: []file{needy}, gap: time.Minute}.tell(t, func(w *world) {
		w.sleep(25 * time.Minute)
		w.is("problems, notices", fmt.Sprint(seen(w)), "1 1")
		w.is("runs", w.runs(), "")
	}, func(w *world) {
		w.sleep(25 * time.Minute)
		w.is("problems, notices after a restart", fmt.Sprint(seen(w)), "1 0")
		w.put(task("skills/gone/SKILL.md", "name: gone\ndescription: It is back.\n", "Do it."))
		w.sleep(11 * time.Minute)
		w.is("problems, notices when it is mended", fmt.Sprint(seen(w)), "0 0")
	})
}

// A background task whose tools are commands of Google lacks the login, in the same words in the list of problems, the notice and the
// description, until there is one. A login changes it at once.
func TestWhatARoutineLacksOfGoogleIsSaidOnce(t *testing.T) {
	const lacks = "it runs without your Google calendar: log in with /google-auth"
	story(t, []file{
		{google.ClientFile, `{"installed":{"client_id":"a","client_secret":"b"}}`},
		routineOf(tidyID, "0 0 1 6 *", "allowed-tools: [\"Bash(ollim-bot cal today)\"]\n", "Tidy."),
	}, func(w *world) {
		w.sleep(25 * time.Minute)
		w.is("notices", w.noted(tidyFile+": "+lacks), 1)
		s := w.Snapshot()
		p := s.Lacks(tidyFile)
		w.holds(p != nil && p.Message == lacks && p.Lacks == "no login", "it lacks", p)
		w.shows("the description", w.describe(tidyID), "warning   "+lacks+"\n")
		w.write(google.TokenFile, `{"token":"t","refresh_token":"r","client_id":"a","client_secret":"b","token_uri":"u","scopes":[],"expiry":"2999-01-01T00:00:00Z"}`)
		w.google.Refresh() // as the watch on files and the end of a login do
		s = w.Snapshot()
		w.holds(s.Lacks(tidyFile) == nil, "with a login it lacks", s.Lacks(tidyFile))
	})
}

// L2: each check of a chain is a new file, and each repeated what it lacks, so that the notices pushed out the reports of runs.
func TestWhatAChainLacksIsSaidOnceForTheChain(t *testing.T) {
	story(t, nil, func(w *world) {
		said := map[string]bool{}
		for i, parent := range []string{"", "chain-parent: \"c0000000\"\n", "chain-parent: \"c0000000\"\n"} {
			extra := fmt.Sprintf("chain-depth: %d\nmax-chain: 5\nskills: [gone]\n%s", i, parent)
			check := remind(fmt.Sprintf("c000000%d", i), 19*24*time.Hour, extra)
			look := func() {
				w.index.Scan()
				lookAgain(w.Bot, watch.Batch{Full: true})
			}
			w.put(check)
			look()
			w.sleep(time.Minute)
			for _, one := range w.Snapshot().Notices {
				if strings.Contains(one.Text, `runs without the skill "gone"`) {
					said[one.Text] = true
				}
			}
			testkit.Must(w, os.Remove(w.dir.Path(check.rel)))
			look() // between two checks there is no file
		}
		w.is("notices", len(said), 1) // each would name its file
	})
}
