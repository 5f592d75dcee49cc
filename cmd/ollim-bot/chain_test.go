package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// chain is an attack in several sessions; core/safety/policy/chain_test.go says what the fields mean.
type chain struct {
	Line, Only string
	Files      map[string]string
	Steps      []chainStep
}

type chainStep struct {
	In, Do, Want string
	Fenced       string // what a sandbox makes of it, where that is something else
	With         map[string]any
}

// TestNoChainOfSessionsGetsPastTheProgram plays the table of chains in the built program: with
// the bot's own tools and with the real command, behind every fence.
func TestNoChainOfSessionsGetsPastTheProgram(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	testkit.Campaign(t, "siege")
	for _, engine := range []string{choice.Messages, choice.Claude} {
		for _, fence := range slices.Sorted(maps.Keys(fences)) {
			t.Run(engine+" behind "+fence, func(t *testing.T) {
				t.Parallel()
				newChains(t, engine, fence).playAll()
			})
		}
	}
}

// chains is the program in which they are played, one after the other.
type chains struct {
	*siege
	t     *testing.T
	port  string
	kept  map[string]bool // files that were there before
	runs  int
	asked int
}

// actingTools are what the tasks of a chain may use.
const actingTools = "allowed-tools: [\"Bash\", \"Write\", \"Edit\", \"Read\", \"Grep\", \"Glob\", \"Skill\"]\n"

func newChains(t *testing.T, engine, fence string) *chains {
	t.Helper()
	c := &chains{siege: newSiege(t, engine, fence), t: t, port: somePort(t), kept: map[string]bool{}}
	c.fence = fence != "no sandbox"
	c.env = append(c.env, "WEBHOOK_PORT="+c.port, "WEBHOOK_SECRET="+marigold+"-"+marigold)
	c.file("tool-policy.yaml", "main_session:\n  additional_allowed: [\"Write\", \"Edit\", \"Read\", \"Grep\"]\n")
	c.file("webhooks/ci.md", "---\nid: \"ci\"\nupdate-main-session: \"freely\"\n"+actingTools+
		"fields:\n  type: object\n  properties:\n    run: {type: integer}\n---\nLook at build {run}.\n")
	c.file("USER.md", "Ada.\n")
	for _, folder := range chainFolders { // behind Landlock a process sees no folder that is younger
		testkit.Must(t, os.MkdirAll(filepath.Join(c.data, folder), 0o700))
	}
	c.start()
	listens(c.t, c.port)
	c.eachFile(func(path string) { c.kept[path] = true })
	return c
}

func (c *chains) playAll() {
	var table struct{ Chains []chain }
	testkit.Must(c.t, json.Unmarshal([]byte(source(c.t, "core/safety/policy/testdata/chains.json")), &table))
	for _, one := range table.Chains {
		if one.Only == "guard" {
			continue
		}
		for name, text := range one.Files {
			c.file(name, text)
		}
		c.play(one)
		c.tidy()
	}
	c.noSecret()
}

// play plays one chain: the steps of a session at a time, with those of the reminder that it sets.
func (c *chains) play(one chain) {
	c.t.Helper()
	for steps := one.Steps; len(steps) > 0; {
		n := 1
		for n < len(steps) && steps[n].In == steps[0].In {
			n++
		}
		switch steps[0].In {
		case "hand", "life":
			for _, s := range steps[:n] {
				c.outside(s)
			}
		case "reminder": // what has set it has waited for it
		default:
			c.session(one.Line, steps[:n], steps[n:])
		}
		steps = steps[n:]
	}
}

// session plays the steps of one session and looks at what became of each, and of those of a reminder that it sets.
func (c *chains) session(line string, steps, later []chainStep) {
	c.t.Helper()
	c.runs++
	id := fmt.Sprintf("c4a1%04d", c.runs)
	laterID := id[:3] + "b" + id[4:]
	var calls, acts []claudetest.Step
	for i, s := range steps {
		if s.Do != "set" {
			calls = append(calls, call(s.Do, s.With))
			continue
		}
		steps, later = steps[:i+1], append(slices.Clone(steps[i+1:]), later...)
		for _, l := range later {
			acts = append(acts, call(l.Do, l.With))
		}
		calls = append(calls, writing("reminders/"+laterID+".md", dueNow(laterID, actingTools, acts...)))
		break
	}
	var results []claudetest.Block
	switch kind, _, _ := strings.Cut(steps[0].In, " "); kind {
	case "webhook":
		build := 7000 + c.runs
		results = c.hooked(c.port, "ci", fmt.Sprintf(`{"run": %d}`, build), fmt.Sprintf("Look at build %d", build), calls)
	case "user":
		results = c.turn(steps, calls)
	case "fork":
		c.types("/fork plums")
		results = c.turn(steps, calls)
	case "task":
		c.file("reminders/"+id+".md", strings.Replace(dueNow(id, actingTools, calls...), "background: true", "background: false", 1))
		c.hears("bot: Done with " + id + ".")
		results = c.results("Done with "+id+".", len(calls))
	default:
		extra := map[string]string{"trusted": "isolated: true\ntrust-input: true\n", "isolated": "isolated: true\n"}[kind]
		c.due(id, extra+actingTools, calls...)
		results = c.came(id, len(calls))
	}
	c.compare(line, steps, results)
	if len(acts) > 0 {
		c.compare(line, later, c.came(laterID, len(later)))
	}
}

func (c *chains) compare(line string, steps []chainStep, results []claudetest.Block) {
	c.t.Helper()
	for i, b := range results {
		want := steps[i].Want
		if c.fence && steps[i].Fenced != "" {
			want = steps[i].Fenced
		}
		failed := b.IsError || strings.HasPrefix(b.Text, "Error")
		if failed != (want == "refused" || want == "asked") {
			c.t.Errorf("%s: %s %v in %s should be %s: %.300s", line, steps[i].Do, steps[i].With, steps[i].In, want, b.Text)
		}
	}
}

// turn is a turn that the user begins, and in which the user answers questions.
func (c *chains) turn(steps []chainStep, calls []claudetest.Step) []claudetest.Block {
	c.t.Helper()
	c.said++
	end := fmt.Sprintf("That was turn %d.", c.said)
	c.types("say go. " + claudetest.Script(append(calls, claudetest.Step{Text: end})...))
	for _, s := range steps {
		if s.Want != "asked" && s.Want != "approved" {
			continue
		}
		c.asked++
		c.hears(fmt.Sprintf("approval: number %d,", c.asked))
		c.types(fmt.Sprintf("%s %d", map[string]string{"asked": "deny", "approved": "allow"}[s.Want], c.asked))
	}
	c.hears("bot: " + end)
	return c.results(end, len(calls))
}

// outside does what the user does with files, and what becomes of the program.
func (c *chains) outside(s chainStep) {
	c.t.Helper()
	switch s.Do {
	case "rename", "link":
		from, to := c.path(s.With["from"].(string)), c.path(s.With["to"].(string))
		testkit.Must(c.t, os.MkdirAll(filepath.Dir(to), 0o700))
		testkit.Must(c.t, map[string]func(string, string) error{"rename": os.Rename, "link": os.Link}[s.Do](from, to))
	case "restart":
		c.stops()
		c.asked = 0
		c.start()
		listens(c.t, c.port)
	case "compact":
		c.asks("/compact", "tokens compacted")
	case "save":
		c.asks("exit save", "the fork has ended")
	case "discard":
		before := strings.Count(c.out.String(), "the fork has ended")
		c.types("exit")
		c.types("yes")
		c.until("the end of the fork", func() bool { return strings.Count(c.out.String(), "the fork has ended") > before })
	}
}

// tidy takes away what a chain has left: the user reads the updates, answers them, and removes the files.
func (c *chains) tidy() {
	c.t.Helper()
	c.talks()
	c.talks()
	c.eachFile(func(path string) {
		if !c.kept[path] {
			testkit.Must(c.t, os.RemoveAll(path))
		}
	})
	c.file("USER.md", "Ada.\n")
}

// chainFolders are the folders that chains are about.
var chainFolders = []string{"notes", "shelf", "downloads"}

// eachFile visits the folders in which chains leave files.
func (c *chains) eachFile(do func(path string)) {
	for _, folder := range append([]string{"reminders", "skills"}, chainFolders...) {
		entries, _ := os.ReadDir(filepath.Join(c.data, folder))
		for _, e := range entries {
			do(filepath.Join(c.data, folder, e.Name()))
		}
	}
}
