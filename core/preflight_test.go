package core

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/google"
	"ollimbot/routines/watch"
)

// A routine that cannot work is reported before it fires: in the list of problems, and in
// a single notice that a restart does not repeat.
func TestWhatARoutineLacksIsToldOnceBeforeItFires(t *testing.T) {
	const lacks = `runs without the skill "gone"`
	told := func(b *Bot) (n int) {
		for _, one := range b.Snapshot().Notices {
			if strings.Contains(one.Text, lacks) && one.Level == notice.Warn {
				n++
			}
		}
		return n
	}
	listed := func(b *Bot) (n int) {
		for _, p := range b.Snapshot().Schedule.Problems {
			if strings.Contains(p.Message, lacks) {
				n++
			}
		}
		return n
	}
	lives(t, time.Minute, func(h home) {
		h.write(tidyFile, "---\nid: "+tidyID+"\ncron: 0 0 1 6 *\nbackground: true\nskills: [gone]\n---\nTidy.\n")
	}, func(_ home, b *Bot) {
		time.Sleep(25 * time.Minute)
		if listed(b) != 1 || told(b) != 1 || len(b.Snapshot().Forks) != 0 {
			t.Errorf("listed %d, told %d: %+v", listed(b), told(b), b.Snapshot().Notices)
		}
	}, func(h home, b *Bot) {
		time.Sleep(25 * time.Minute)
		if listed(b) != 1 || told(b) != 0 {
			t.Errorf("after a restart listed %d, told %d", listed(b), told(b))
		}
		h.write("skills/gone/SKILL.md", "---\nname: gone\ndescription: It is back.\n---\nDo it.\n")
		time.Sleep(11 * time.Minute)
		if listed(b) != 0 {
			t.Errorf("it is mended and still listed: %+v", b.Snapshot().Schedule.Problems)
		}
	})
}

// A background task whose tools are commands of Google lacks the login, in the same words in the
// list of problems, the notice and the description, until there is one. A login changes it at once.
func TestWhatARoutineLacksOfGoogleIsToldOnce(t *testing.T) {
	const lacks = "it runs without your Google calendar: log in with /google-auth"
	told := func(b *Bot) (n int) {
		for _, one := range b.Snapshot().Notices {
			if one.Text == tidyFile+": "+lacks {
				n++
			}
		}
		return n
	}
	lives(t, time.Minute, func(h home) {
		h.write(google.ClientFile, `{"installed":{"client_id":"a","client_secret":"b"}}`)
		h.write(tidyFile, "---\nid: "+tidyID+"\ncron: 0 0 1 6 *\nbackground: true\nallowed-tools: [\"Bash(ollim-bot cal today)\"]\n---\nTidy.\n")
	}, func(h home, b *Bot) {
		time.Sleep(25 * time.Minute)
		s := b.Snapshot()
		about, err := b.tasks.Describe(tidyID)
		testkit.Must(t, err)
		if p := s.Lacks(tidyFile); told(b) != 1 || p == nil || p.Message != lacks || p.Lacks != "no login" || !strings.Contains(about, "warning   "+lacks+"\n") {
			t.Errorf("told %d, lacks %+v, described as\n%s", told(b), p, about)
		}
		h.write(google.TokenFile, `{"token":"t","refresh_token":"r","client_id":"a","client_secret":"b","token_uri":"u","scopes":[],"expiry":"2999-01-01T00:00:00Z"}`)
		b.google.Refresh() // as the watch on files and the end of a login do
		if s := b.Snapshot(); s.Lacks(tidyFile) != nil {
			t.Errorf("with a login it lacks %+v", s.Lacks(tidyFile))
		}
	})
}

// L2: each check of a chain is a new file, and each told again what it lacks, so that the notices pushed out the reports
// of runs.
func TestWhatAChainLacksIsToldOnceForTheChain(t *testing.T) {
	const lacks = `runs without the skill "gone"`
	lives(t, time.Minute, func(h home) {}, func(h home, b *Bot) {
		seen := map[string]bool{}
		for i := range 3 {
			parent := ""
			if i > 0 {
				parent = "chain-parent: \"c0000000\"\n"
			}
			file := fmt.Sprintf("reminders/c000000%d.md", i)
			h.write(file, fmt.Sprintf("---\nid: \"c000000%d\"\nrun-at: \"2000-01-20T00:00:00Z\"\nbackground: true\nskills: [gone]\nchain-depth: %d\nmax-chain: 5\n%s---\nCheck.\n", i, i, parent))
			b.index.Scan()
			lookAgain(b, watch.Batch{Full: true})
			time.Sleep(time.Minute)
			for _, one := range b.Snapshot().Notices {
				if strings.Contains(one.Text, lacks) {
					seen[one.Text] = true
				}
			}
			testkit.Must(t, os.Remove(b.dir.Path(file)))
			b.index.Scan()
			lookAgain(b, watch.Batch{Full: true}) // between two checks there is no file
		}
		if len(seen) != 1 { // each would name its file
			t.Errorf("told %v", seen)
		}
	})
}
