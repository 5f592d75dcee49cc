package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/webhook"
)

// contract is the whole program over the real command, with a model that looks around in each kind of session.
type contract struct {
	*siege
	version string
	zone    *time.Location
	began   time.Time
	prompt  string             // what `preview --system` prints
	last    claudetest.Request // of the main session, before anything branches off
	kinds   map[string]seen
}

// seen is a kind of session: its first request, and what it has seen of its surroundings.
type seen struct {
	first   claudetest.Request
	results []claudetest.Block // of around
}

// around is how the model looks around.
var around = []claudetest.Step{
	shellCall("env"), shellCall("pwd"),
	call("Grep", map[string]any{"pattern": "plum", "glob": "*.md"}), call("Glob", map[string]any{"pattern": "notes/*.md"}),
}

// TestWhatTheModelSees compares with goldens what each kind of session is sent by the real command: our own words in full, the
// command's by a digest for each version. Of a version without digests the rest is compared only.
func TestWhatTheModelSees(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	c := newContract(t)
	c.look()
	c.theSamePrefix()
	var presets strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		goldentest.Compare(t, filepath.Join("contract", name+".golden"), c.ours(name))
		short, full := c.preset(c.kinds[name])
		fmt.Fprintf(&presets, "%s %s: %s\n", c.version, name, short)
		t.Logf("the command itself says to %s (%s):\n%s", name, short, full)
		c.nothingForeign(name)
	}
	file := filepath.Join("testdata", "contract", "presets")
	switch known := stored(file); {
	case *goldentest.Update:
		lines := slices.DeleteFunc(strings.SplitAfter(known, "\n"), func(line string) bool {
			return line == "" || strings.HasPrefix(line, c.version+" ")
		})
		slices.Sort(lines)
		put(t, file, strings.Join(lines, "")+presets.String())
	case strings.Contains(known, c.version+" ") && !strings.Contains(known, presets.String()):
		t.Errorf("the words of %s itself are not those in %s: read them above, then -update\n%s", c.version, file, &presets)
	}
}

func newContract(t *testing.T) *contract {
	t.Helper()
	s := newSiege(t, choice.Claude, "bubblewrap")
	testkit.Must(t, os.RemoveAll(s.data))
	c := &contract{siege: s, began: time.Now(), kinds: map[string]seen{}}
	// A zone in which it is another day than at Greenwich.
	zone := "Pacific/Kiritimati"
	if c.began.UTC().Hour() < 10 {
		zone = "Etc/GMT+12"
	}
	var err error
	c.zone, err = time.LoadLocation(zone)
	testkit.Must(t, err)
	c.version, _, _ = strings.Cut(shell(t, claudetest.RequireCLI(t), os.Environ(), "--version").out, " ")
	s.setenv("OLLIM_TIMEZONE", zone)
	s.file("state/config.json", "{}")
	s.file(".env", "GOOGLE_SECRET="+marigold+"\n")
	s.file("IDENTITY.md", "You are Ollie.\n")
	s.file("USER.md", "Ada likes plums.\n")
	s.file("notes/a.md", "A plum tree.\n")
	s.file("skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Sorts notes.\n---\nSort them.\n")
	s.file("tool-policy.yaml", "main_session:\n  additional_allowed: [\"Bash(env)\", \"Bash(pwd)\"]\n")
	s.file("webhooks/ci.md", "---\nid: \"ci\"\nisolated: true\nfields:\n  type: object\n  properties:\n    run: {type: string}\n---\nLook at build {run}.\n")
	return c
}

// look has a model look around in every kind of session.
func (c *contract) look() {
	t := c.t
	t.Helper()
	port := somePort(t)
	c.env = append(c.env, "WEBHOOK_PORT="+port, "WEBHOOK_SECRET="+marigold+"-"+marigold)
	bare := func(r claudetest.Request) bool { return len(r.Tools) == 0 }
	c.api.Answer(func(r claudetest.Request) (claudetest.Step, bool) {
		return claudetest.Step{Text: `{"safe": false, "flagged": ["run"]}`}, bare(r)
	})
	c.start()
	c.prompt = strings.TrimSuffix(c.runs("preview", "--system"), "\n")
	note := func(name string, results []claudetest.Block, begins func(claudetest.Request) bool) {
		t.Helper()
		all := claudetest.ForModel(c.api.Requests())
		i := slices.IndexFunc(all, begins)
		if i < 0 {
			t.Fatalf("%s asked nothing", name)
		}
		for j, want := range []string{"TZ=" + c.zone.String(), c.data, "notes/a.md", "notes/a.md"}[:len(results)] {
			if results[j].IsError || !strings.Contains(results[j].Text, want) {
				t.Errorf("%s: %s gives %q, not %s", name, around[j].Tool, results[j].Text, want)
			}
		}
		c.kinds[name] = seen{all[i], results}
	}
	says := func(words string) func(claudetest.Request) bool {
		return func(r claudetest.Request) bool { return strings.Contains(r.Prompt(), words) }
	}
	isSub := func(r claudetest.Request) bool {
		first := r.Messages[0].Text
		return strings.Contains(first, "Look around.") && !strings.Contains(first, "go.")
	}
	sub := claudetest.Script(append(slices.Clone(around[:2]), claudetest.Step{Text: "Looked."})...) // it only looks where it is
	results := c.talks(append(slices.Clone(around), call("Agent", map[string]any{
		"description": "look", "prompt": "Look around. " + sub, "subagent_type": "ollim-bot-guide",
	}))...)
	note("main", results[:len(around)], says("go."))
	var ofSub []claudetest.Block
	for _, r := range claudetest.ForModel(c.api.Requests()) {
		if isSub(r) {
			ofSub = toolResults(r.Messages)
		}
	}
	if len(ofSub) != 2 {
		t.Fatalf("the subagent has %d results", len(ofSub))
	}
	note("subagent", ofSub, isSub)
	requests := c.api.Requests()
	c.last = requests[len(requests)-1]
	c.asks("/fork Plan the move.", "bot: I heard:")
	results = c.talks(append(slices.Clone(around), call("mcp__discord__exit_fork", map[string]any{}))...)
	note("fork", results[:len(around)], says("Plan the move."))
	c.hears("the fork has ended")
	extra := "allowed-tools: [\"Bash(env)\", \"Bash(pwd)\"]\n"
	c.due("back0001", extra, around...)
	note("background", c.came("back0001", len(around)), says("back0001"))
	c.due("isol0001", extra+"isolated: true\n", around...)
	note("isolated", c.came("isol0001", len(around)), says("isol0001"))
	if status := c.posts(port, "ci", `{"run": "seven"}`); status != 202 {
		t.Fatalf("the webhook answers %d", status)
	}
	c.until("the screening", func() bool { return slices.ContainsFunc(claudetest.ForModel(c.api.Requests()), bare) })
	note("screener", nil, bare)
}

// wire is a request as bytes, without the marks for the API's cache, which move along with the conversation.
type wire struct {
	System   []struct{ Text string }
	Tools    json.RawMessage
	Messages []map[string]any
}

func decoded(t *testing.T, r claudetest.Request) wire {
	t.Helper()
	var w wire
	testkit.Must(t, json.Unmarshal(r.Raw, &w))
	for _, m := range w.Messages {
		delete(m, "output_config")
		blocks, ok := m["content"].([]any)
		if !ok { // a text, which is a block where a mark has to go on it
			m["content"] = []any{map[string]any{"type": "text", "text": m["content"]}}
			continue
		}
		for _, b := range blocks {
			delete(b.(map[string]any), "cache_control")
		}
	}
	return w
}

// theSamePrefix: forks begin with the very bytes of the main session, an isolated
// run with the same prompt and tools, so that the API's cache holds for all.
func (c *contract) theSamePrefix() {
	t := c.t
	t.Helper()
	main := decoded(t, c.last)
	for _, name := range []string{"fork", "background", "isolated"} {
		got := decoded(t, c.kinds[name].first)
		from := 0
		if name == "isolated" {
			from = 1 // the first block is a mark of the conversation, which differs
		}
		if diff := cmp.Diff(main.System[from:], got.System[from:]); diff != "" {
			t.Errorf("%s has another system prompt:\n%s", name, diff)
		}
		if string(main.Tools) != string(got.Tools) {
			t.Errorf("%s has other tools:\n%s", name, got.Tools)
		}
		if name == "isolated" {
			continue
		}
		if n := len(main.Messages); len(got.Messages) < n+2 {
			t.Errorf("%s has %d messages", name, len(got.Messages))
		} else if diff := cmp.Diff(main.Messages, got.Messages[:n]); diff != "" {
			t.Errorf("%s has another history:\n%s", name, diff)
		}
	}
}

// theirs is for words of the command, of which goldens have a digest only.
const theirs = "{the command's own}"

// ours is what a kind of session is sent by us, as text.
func (c *contract) ours(name string) string {
	t, k := c.t, c.kinds[name]
	t.Helper()
	var b strings.Builder
	prompt, shown := c.prompt, "{what `ollim-bot preview --system` prints}"
	switch name {
	case "subagent":
		_, prompt, _ = strings.Cut(c.read(".claude/agents/ollim-bot-guide.md")[3:], "\n---\n")
		shown = "{what .claude/agents/ollim-bot-guide.md says}\n" + theirs
	case "screener":
		prompt, shown = webhook.ScreenSystem, webhook.ScreenSystem
	}
	if !strings.Contains(k.first.System, strings.TrimSpace(prompt)) {
		t.Errorf("%s does not have our own prompt", name)
	}
	b.WriteString("== system prompt\n" + theirs + "\n" + strings.TrimSpace(shown) + "\n")
	fmt.Fprintf(&b, "\n== tools\n%s\n", strings.Join(k.first.Tools, "\n"))
	agents, skills := listed(k.first, "Available agent types"), listed(k.first, "The following skills")
	fmt.Fprintf(&b, "\n== listed by the command\nagents: %s\nskills: %s\n", agents, skills)
	b.WriteString("\n== first message\n")
	first := k.first.Messages[slices.IndexFunc(k.first.Messages, func(m claudetest.Message) bool { return m.Role == "user" }):]
	if name == "fork" || name == "background" {
		first = first[len(c.last.Messages):]
	}
	for _, m := range first {
		for _, block := range m.Blocks {
			if m.Role == "user" && !strings.HasPrefix(block.Text, "<system-reminder>") {
				b.WriteString(block.Text + "\n")
			}
		}
	}
	if len(k.results) > 0 {
		env := strings.Split(strings.TrimSpace(unremarked(k.results[0].Text)), "\n")
		slices.Sort(env)
		fmt.Fprintf(&b, "\n== environment\n%s\n\n== directory\n%s\n", strings.Join(env, "\n"), unremarked(k.results[1].Text))
	}
	return c.plain(b.String())
}

// listed are the names of a list that the command writes into the messages.
func listed(r claudetest.Request, heading string) string {
	for _, m := range r.Messages {
		for _, block := range m.Blocks {
			_, list, ok := strings.Cut(block.Text, heading)
			if !ok {
				continue
			}
			var names []string
			for line := range strings.Lines(list) {
				if name, _, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": "); ok && strings.HasPrefix(line, "- ") {
					names = append(names, name)
				} else if len(names) > 0 {
					break
				}
			}
			return strings.Join(names, ", ")
		}
	}
	return "none"
}

// What differs from run to run, and what is in its place in goldens.
var changing = []struct{ pattern, shown string }{
	{`@@\[.*\]@@`, "{script}"},
	{`\[\d{4}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d [AP]M [^\]]+\]`, "[{now}]"},
	{`\b\d?\d:\d\d [AP]M\b`, "{time}"},
	{`OLLIM_SESSION=\S+`, "OLLIM_SESSION={token}"},
	{`(OLLIM_SOCKET=\S+/control/)\d+`, "${1}{n}"},
	{`OLLIM_CLAUDE_PROCESS=\S+`, "OLLIM_CLAUDE_PROCESS={mark}"},
	{`\d+ tokens left`, "{tokens} left"},
	{`cc_version=\S+`, "cc_version={version};"},
	{`(?m)(OS Version: ).*$`, "${1}{system}"},
}

// remark is what the command adds to texts of others, results of tools among them.
var remark = lazyregexp.New(`(?s)\s*<system-reminder>.*?</system-reminder>\s*`)

func unremarked(s string) string { return remark().ReplaceAllString(s, "") }

// entry is a line of a list of agents or skills, whose words are ours.
var entry = lazyregexp.New(`(?m)^- [a-z-]+: .*\n?`)

func (c *contract) plain(s string) string {
	s = strings.NewReplacer(c.data, "{data}", filepath.Dir(built(c.t)), "{bin}", c.home, "{home}", c.zone.String(), "{zone}").Replace(s)
	for _, r := range changing {
		s = regexp.MustCompile(r.pattern).ReplaceAllString(s, r.shown)
	}
	for _, day := range c.days() {
		s = strings.ReplaceAll(s, day, "{today}")
	}
	return s
}

// days are the user's dates while the test ran.
func (c *contract) days() []string {
	return []string{c.began.In(c.zone).Format(time.DateOnly), time.Now().In(c.zone).Format(time.DateOnly)}
}

// preset is what the command itself says to a session, as a digest and in full.
func (c *contract) preset(k seen) (short, full string) {
	system := c.plain(strings.ReplaceAll(k.first.System, c.prompt, "{ours}"))
	var rest strings.Builder
	for i, m := range k.first.Messages {
		for _, block := range m.Blocks {
			if (m.Role == "system" && i < 2 || strings.HasPrefix(block.Text, "<system-reminder>")) && i < 2 {
				rest.WriteString(c.plain(entry().ReplaceAllString(block.Text, "")) + "\n")
			}
		}
	}
	return digest(system) + ", messages " + digest(rest.String()), system + "\n\n" + rest.String()
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%d characters %s", len([]rune(s)), hex.EncodeToString(sum[:6]))
}

// foreign is what the command says where something of its own is on that competes with the bot's: memory, git, skills, schedulers.
var foreign = lazyregexp.New(`(?i)git ?status|recent commits|current branch|auto.?memory|memory\.md|memory directory|` +
	`update-config|plugin-authoring|general-purpose|statusline|CronCreate|TodoWrite|TaskCreate|ScheduleWakeup|` + marigold)

// nothingForeign: a kind of session reads nothing that the bot has off, and the date of its user.
func (c *contract) nothingForeign(name string) {
	c.t.Helper()
	said := c.kinds[name].first.System
	for _, m := range c.kinds[name].first.Messages {
		said += "\n" + m.Text
	}
	if m := foreign().FindString(said); m != "" {
		c.t.Errorf("%s reads of %q", name, m)
	}
	dates := found(`(?i)(?:date is|date:) (\d{4}-\d\d-\d\d)`, said)
	if len(dates) == 0 || slices.ContainsFunc(dates, func(d string) bool { return !slices.Contains(c.days(), d) }) {
		c.t.Errorf("%s reads the dates %q, and its user has %v", name, dates, c.days())
	}
}
