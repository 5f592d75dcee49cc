package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/webhook"
)

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
var remark = regexp.MustCompile(`(?s)\s*<system-reminder>.*?</system-reminder>\s*`)

func unremarked(s string) string { return remark.ReplaceAllString(s, "") }

// entry is a line of a list of agents or skills, whose words are ours.
var entry = regexp.MustCompile(`(?m)^- [a-z-]+: .*\n?`)

func (c *contract) plain(s string) string {
	home := ""
	for _, v := range c.env {
		if path, ok := strings.CutPrefix(v, "HOME="); ok {
			home = path
		}
	}
	s = strings.NewReplacer(c.data, "{data}", c.bin(), "{bin}", home, "{home}", c.zone.String(), "{zone}").Replace(s)
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
				rest.WriteString(c.plain(entry.ReplaceAllString(block.Text, "")) + "\n")
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
var foreign = regexp.MustCompile(`(?i)git ?status|recent commits|current branch|auto.?memory|memory\.md|memory directory|` +
	`update-config|plugin-authoring|general-purpose|statusline|CronCreate|TodoWrite|TaskCreate|ScheduleWakeup|` + marigold)

// nothingForeign: a kind of session is told nothing that the bot has off, and the
// date of its user.
func (c *contract) nothingForeign(name string, k seen) {
	c.t.Helper()
	said := k.first.System
	for _, m := range k.first.Messages {
		said += "\n" + m.Text
	}
	if m := foreign.FindString(said); m != "" {
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
