package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
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

// contract is the whole program over the real command, with a model that looks
// around in each kind of session.
type contract struct {
	*siege
	version string
	zone    *time.Location
	began   time.Time
	prompt  string             // what `preview --system` prints
	last    claudetest.Request // of the main session, before anything branches off
}

// A kind of session: its first request, and what it was told of its surroundings.
type seen struct {
	first       claudetest.Request
	environment string
	dir         string
}

// around is how the model looks around.
var around = []claudetest.Step{
	shellCall("env"), shellCall("pwd"),
	call("Grep", map[string]any{"pattern": "plum", "glob": "*.md"}), call("Glob", map[string]any{"pattern": "notes/*.md"}),
}

// TestWhatTheModelSees holds against goldens what each kind of session is sent, by
// the real command and the version at hand: our own words in full, the
// command's by a digest for each version. A version that has no line there is
// held against the rest only.
func TestWhatTheModelSees(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	c := newContract(t)
	kinds := c.look()
	c.theSamePrefix(kinds)
	presets := c.presets()
	for name, k := range kinds {
		c.golden(name, c.told(name, k))
		preset, full := c.preset(k)
		switch want, known := presets[c.version+" "+name]; {
		case *goldentest.Update:
			presets[c.version+" "+name] = preset
		case known && want != preset:
			t.Errorf("what %s itself tells %s is %s, not %s: read it, then -update\n%s", c.version, name, preset, want, full)
		case !known:
			t.Logf("nothing is written down of what %s tells %s: %s", c.version, name, preset)
		}
		c.nothingForeign(name, k)
	}
	if *goldentest.Update {
		c.keep(presets)
	}
}

func newContract(t *testing.T) *contract {
	t.Helper()
	s := newSiege(t, choice.Claude, "bubblewrap")
	testkit.Must(t, os.RemoveAll(s.data))
	c := &contract{siege: s, began: time.Now()}
	// A zone in which it is another day than at Greenwich.
	zone := "Pacific/Kiritimati"
	if c.began.UTC().Hour() < 10 {
		zone = "Etc/GMT+12"
	}
	var err error
	if c.zone, err = time.LoadLocation(zone); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), claudetest.RequireCLI(t), "--version").Output()
	testkit.Must(t, err)
	c.version, _, _ = strings.Cut(string(out), " ")
	s.env = append(s.env, "OLLIM_TIMEZONE="+zone)
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
func (c *contract) look() map[string]seen {
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
	kinds := map[string]seen{}
	note := func(name string, results []claudetest.Block, begins func(claudetest.Request) bool) {
		t.Helper()
		k := seen{first: c.first(name, begins)}
		if len(results) > 0 {
			k.environment, k.dir = unremarked(results[0].Text), unremarked(results[1].Text)
			for i, want := range []string{"TZ=" + c.zone.String(), c.data, "notes/a.md", "notes/a.md"} {
				if i == len(results) {
					break // a subagent only looks where it is
				}
				if results[i].IsError || !strings.Contains(results[i].Text, want) {
					t.Errorf("%s: %s gives %q, not %s", name, around[i].Tool, results[i].Text, want)
				}
			}
		}
		kinds[name] = k
	}
	says := func(words string) func(claudetest.Request) bool {
		return func(r claudetest.Request) bool { return strings.Contains(r.Prompt(), words) }
	}
	sub := claudetest.Script(append(slices.Clone(around[:2]), claudetest.Step{Text: "Looked."})...)
	results := c.talks(append(slices.Clone(around), call("Agent", map[string]any{
		"description": "look", "prompt": "Look around. " + sub, "subagent_type": "ollim-bot-guide",
	}))...)
	note("main", results[:len(around)], says("go."))
	note("subagent", c.ofSubagent(), func(r claudetest.Request) bool {
		return says("Look around.")(r) && !strings.Contains(r.Prompt(), "go.")
	})
	requests := c.api.Requests()
	c.last = requests[len(requests)-1]
	c.asks("/fork Plan the move.", "bot: I heard:")
	results = c.talks(append(slices.Clone(around), call("mcp__discord__exit_fork", map[string]any{}))...)
	note("fork", results, says("Plan the move."))
	c.hears("the fork has ended")
	extra := "allowed-tools: [\"Bash(env)\", \"Bash(pwd)\"]\n"
	c.due("back0001", extra, around...)
	note("background", c.came("back0001", len(around)), says("back0001"))
	c.due("isol0001", extra+"isolated: true\n", around...)
	note("isolated", c.came("isol0001", len(around)), says("isol0001"))
	if status := c.posts(port, "ci", `{"run": "seven"}`); status != 202 {
		t.Fatalf("the webhook answers %d", status)
	}
	c.until("the screening", func() bool {
		return slices.ContainsFunc(c.api.Requests(), func(r claudetest.Request) bool { return r.ForModel() && bare(r) })
	})
	note("screener", nil, bare)
	return kinds
}

// ofSubagent gives the results of what the subagent has called.
func (c *contract) ofSubagent() []claudetest.Block {
	c.t.Helper()
	var all []claudetest.Block
	for _, r := range c.api.Requests() {
		if !r.ForModel() || !strings.Contains(r.Messages[0].Text, "Look around.") || strings.Contains(r.Messages[0].Text, "go.") {
			continue
		}
		all = toolResults(r.Messages)
	}
	if len(all) != 2 {
		c.t.Fatalf("the subagent was told %d results", len(all))
	}
	return all
}

// first is the first request of the model that begins so.
func (c *contract) first(name string, begins func(claudetest.Request) bool) claudetest.Request {
	c.t.Helper()
	for _, r := range c.api.Requests() {
		if r.ForModel() && begins(r) {
			return r
		}
	}
	c.t.Fatalf("%s asked nothing", name)
	return claudetest.Request{}
}

// wire is a request as bytes, without the marks for the API's cache, which move
// along with the conversation.
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
func (c *contract) theSamePrefix(kinds map[string]seen) {
	t := c.t
	t.Helper()
	main := decoded(t, c.last)
	for _, name := range []string{"fork", "background", "isolated"} {
		got := decoded(t, kinds[name].first)
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

// theirs stands for words of the command, of which goldens hold a digest only.
const theirs = "{the command's own}"

// told is what a kind of session is told by us, as text.
func (c *contract) told(name string, k seen) string {
	t := c.t
	t.Helper()
	var b strings.Builder
	b.WriteString("== system prompt\n" + theirs + "\n")
	ours, stands := c.prompt, "{what `ollim-bot preview --system` prints}"
	switch name {
	case "subagent":
		_, ours, _ = strings.Cut(c.read(".claude/agents/ollim-bot-guide.md")[3:], "\n---\n")
		stands = "{what .claude/agents/ollim-bot-guide.md says}\n" + theirs
	case "screener":
		ours, stands = webhook.ScreenSystem, webhook.ScreenSystem
	}
	if ours = strings.TrimSpace(ours); !strings.Contains(k.first.System, ours) {
		t.Errorf("%s is not told our own prompt", name)
	}
	b.WriteString(strings.TrimSpace(stands) + "\n")
	fmt.Fprintf(&b, "\n== tools\n%s\n", strings.Join(k.first.Tools, "\n"))
	fmt.Fprintf(&b, "\n== told by the command\nagents: %s\nskills: %s\n", listed(k.first, "Available agent types"), listed(k.first, "The following skills"))
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
	if k.dir != "" {
		env := strings.Split(strings.TrimSpace(k.environment), "\n")
		slices.Sort(env)
		fmt.Fprintf(&b, "\n== environment\n%s\n\n== directory\n%s\n", strings.Join(env, "\n"), k.dir)
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

// What differs from run to run, and what stands for it in goldens.
var changing = []struct{ pattern, stands string }{
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
	home := ""
	for _, v := range c.env {
		if path, ok := strings.CutPrefix(v, "HOME="); ok {
			home = path
		}
	}
	s = strings.NewReplacer(c.data, "{data}", filepath.Dir(built(c.t)), "{bin}", home, "{home}", c.zone.String(), "{zone}").Replace(s)
	for _, r := range changing {
		s = regexp.MustCompile(r.pattern).ReplaceAllString(s, r.stands)
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

// foreign is what the command says where something of its own is on that competes
// with the bot's: memory, git, skills, schedulers.
var foreign = lazyregexp.New(`(?i)git ?status|recent commits|current branch|auto.?memory|memory\.md|memory directory|` +
	`update-config|plugin-authoring|general-purpose|statusline|CronCreate|TodoWrite|TaskCreate|ScheduleWakeup|` + marigold)

// nothingForeign: a kind of session is told nothing that the bot has off, and the
// date of its user.
func (c *contract) nothingForeign(name string, k seen) {
	c.t.Helper()
	said := k.first.System
	for _, m := range k.first.Messages {
		said += "\n" + m.Text
	}
	if m := foreign().FindString(said); m != "" {
		c.t.Errorf("%s reads of %q", name, m)
	}
	dates := regexp.MustCompile(`(?i)(?:date is|date:) (\d{4}-\d\d-\d\d)`).FindAllStringSubmatch(said, -1)
	if len(dates) == 0 {
		c.t.Errorf("%s is told no date", name)
	}
	for _, d := range dates {
		if !slices.Contains(c.days(), d[1]) {
			c.t.Errorf("%s is told the date %s, and its user has %v", name, d[1], c.days())
		}
	}
}

func (c *contract) golden(name, got string) {
	c.t.Helper()
	goldentest.Compare(c.t, filepath.Join("contract", name+".golden"), got)
}

// presets are digests by version and kind.
func (c *contract) presets() map[string]string {
	data, err := os.ReadFile(filepath.Join("testdata", "contract", "presets"))
	if err != nil && !*goldentest.Update {
		c.t.Fatal(err)
	}
	list := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			list[key] = value
		}
	}
	return list
}

func (c *contract) keep(presets map[string]string) {
	c.t.Helper()
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(presets)) {
		fmt.Fprintf(&b, "%s: %s\n", key, presets[key])
	}
	testkit.Must(c.t, os.WriteFile(filepath.Join("testdata", "contract", "presets"), []byte(b.String()), 0o644))
}
