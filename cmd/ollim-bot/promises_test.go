package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/guide"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

// promised is a data directory in which everything that the texts for the model name is tried, by the policy and the program
// that would meet it.
type promised struct {
	*desk
	read       policy.Taint // what the sessions have read
	exe        string
	env        []string // of a shell of the main session
	main, back *policy.Session
	offered    []string // tools that the real command offers, by the contract's golden
	words      map[string]func() bool
}

func newPromised(t *testing.T) *promised {
	t.Helper()
	p := &promised{desk: newDesk(t), exe: built(t)}
	_, err := guide.Install(storetest.At(t, p.root), guide.Options{})
	testkit.Must(t, err)
	scope := policy.Scope{Kind: policy.Main, Taint: &p.read, Session: "main session", Rules: policy.Rules{Allowed: policy.MainTools()}}
	p.main, p.env = p.guard.Session(scope), p.session(scope)
	p.back = p.guard.Session(policy.Scope{Kind: policy.Background, Taint: &p.read, Rules: policy.Rules{Allowed: policy.BackgroundTools()}})
	_, list, _ := strings.Cut(stored("testdata/contract/main.golden"), "== tools\n")
	list, _, _ = strings.Cut(list, "\n\n")
	p.offered = strings.Split(list, "\n")
	p.words = p.wordsAndTests()
	return p
}

// sample is a call of each tool as the texts want it made.
var sample = map[string]string{
	"Agent": `{"subagent_type":"ollim-bot-guide","prompt":"x","description":"x"}`, "Bash": `{"command":"ollim-bot help"}`,
	"Edit": `{"file_path":"USER.md","old_string":"x","new_string":"y"}`, "Write": `{"file_path":"notes/new.md","content":"x"}`,
	"Read": `{"file_path":"USER.md"}`, "Glob": `{"pattern":"**/*.md"}`, "Grep": `{"pattern":"x","glob":"*.md"}`,
	"Skill": `{"skill":"job-config"}`, "WebFetch": `{"url":"https://example.com","prompt":"x"}`, "WebSearch": `{"query":"x"}`,
}

// lets reports what is against a call in a session, or "".
func (p *promised) lets(s *policy.Session, tool, input string) string {
	if input == "" {
		input = "{}"
	}
	p.read.Clear() // each promise is tried first
	use := agent.ToolUse{Name: tool, Input: json.RawMessage(input)}
	d := s.PreTool(p.t.Context(), use)
	if d.Allow && !d.Ask {
		s.Hooks(nil).PostTool(p.t.Context(), use) // else a command continues, and writes what the next promises try
		return ""
	}
	return fmt.Sprintf("%s %s is refused: %s", tool, input, d.Reason)
}

// Words that are for something, and what they are tried with.
var filled = []string{
	"MINUTES", "5", "TEXT", "x", "WORDS", "plum", "[--all]", "", "YYYY-MM-DD", "2036-01-01",
	"reminder …", "reminder list", "history …", "history list", "routine …", "routine list", "ls …", "ls routines",
	" N", " 2", "history *", "history list", "routine *", "routine list", "reminder *", "reminder list",
}

// command runs a command line in a shell of the main session: it exists, the policy lets it through, and it does what it is for.
func (p *promised) command(line string) string {
	id := "0f6a2f0e-7a67-4a1e-9f55-0c5be1b3a001"
	p.read.Clear() // a reminder of a labeled session has its label
	if strings.HasPrefix(line, "ollim-bot reminder ") && strings.Contains(line, " ID") {
		_, added, _ := strings.Cut(shell(p.t, p.exe, p.env, "reminder", "add", "-m", "x", "--delay", "5").out, "scheduled ")
		id, _, _ = strings.Cut(added, ":")
	}
	if strings.Contains(line, "routine cancel") {
		id = "feed0001"
		put(p.t, filepath.Join(p.root, "routines", "x.md"), "---\nid: \"feed0001\"\ncron: \"0 9 * * *\"\n---\nx\n")
	}
	line = strings.TrimSpace(strings.NewReplacer(append([]string{" ID", " " + id}, filled...)...).Replace(line))
	if why := p.lets(p.main, "Bash", `{"command":"`+line+`"}`); why != "" || strings.HasPrefix(line, "ls") {
		return why
	}
	got := shell(p.t, p.exe, p.env, strings.Fields(line)[1:]...)
	if got.status != 0 && !strings.Contains(got.err, "no session \""+id) { // this machine has no sessions
		return fmt.Sprintf("%s ends with %d: %s", line, got.status, got.err)
	}
	return ""
}

// file tries a path: to read it, and to write it, as far as the text says so.
func (p *promised) file(path string) string {
	if slices.Contains([]string{"state/", ".claude/", ".git/", "CLAUDE.md", ".env"}, path) {
		if p.lets(p.main, "Write", `{"file_path":"`+strings.TrimSuffix(path, "/")+`","content":"x"}`) == "" {
			return path + " is said to be closed, and can be written"
		}
		return ""
	}
	under := path
	if strings.HasSuffix(path, "/") {
		under += "x.md"
	}
	under = strings.ReplaceAll(under, "NAME", "tidy-notes")
	if why := p.lets(p.main, "Read", `{"file_path":"`+under+`"}`); why != "" {
		return why
	}
	if strings.HasSuffix(path, "-spec.md") && !exists(filepath.Join(p.root, path)) {
		return path + " does not exist"
	}
	return ""
}

// wordsAndTests are what else is in back quotes, each with the test of it.
func (p *promised) wordsAndTests() map[string]func() bool {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	bg := func(kind routines.Kind) string {
		return prompt.BackgroundPrompt(prompt.Background{Now: now, Task: routines.Task{ID: "ID", Kind: kind}, Budget: budget.Default(now), Late: now.Add(-time.Hour)})
	}
	fg := func(kind routines.Kind) string {
		return prompt.ForegroundPrompt(prompt.Foreground{Now: now, Task: routines.Task{ID: "ID", Kind: kind, Body: "x"}})
	}
	says := func(text, part string) func() bool { return func() bool { return strings.Contains(text, part) } }
	button := func(action string) func() bool {
		return func() bool {
			_, err := post.Button{Label: "x", Action: action}.CustomID(func(string) (string, error) { return "1", nil })
			return err == nil
		}
	}
	schema := func(tool, key string) func() bool {
		i := slices.IndexFunc(toolset.Tools(nil), func(t agent.Tool) bool { return t.Name == tool })
		return says(string(toolset.Tools(nil)[i].Schema), `"`+key+`"`)
	}
	routine := func(line string, is func(routines.Routine) bool) func() bool {
		r, problems := routines.ParseRoutine("routines/x.md", []byte("---\nid: \"a\"\ncron: \"0 9 * * *\"\n"+line+"\n---\nx\n"))
		return func() bool { return len(problems) == 0 && is(r) }
	}
	mode := func(value string) func() bool {
		return routine("update-main-session: \""+value+"\"", func(r routines.Routine) bool { return string(r.Mode) == value })
	}
	list := []updates.Update{{At: now, Message: "x"}}
	written := "---\nname: tidy-notes\ndescription: x\nallowed-tools:\n  - \"Edit(./notes/**.md)\"\n---\nx\n"
	skillKey := func() bool {
		s, _, ok := skill.Parse("tidy-notes", []byte(written))
		return ok && s.Name == "tidy-notes" && s.Description == "x" && len(s.Tools) == 1
	}
	words := map[string]func() bool{
		"[routine:ID]": says(fg(routines.KindRoutine), "[routine:ID]"), "[reminder:ID]": says(fg(routines.KindReminder), "[reminder:ID]"),
		"[routine-bg:ID]": says(bg(routines.KindRoutine), "[routine-bg:ID]"), "[reminder-bg:ID]": says(bg(routines.KindReminder), "[reminder-bg:ID]"),
		"[webhook:ID]":   says(bg(routines.KindWebhook), "[webhook:ID]"),
		"[fork-started]": says(prompt.ForkStarted(""), "[fork-started]"), "[fork-timeout]": says(prompt.ForkIdle(time.Hour, false), "[fork-timeout]"),
		"[late: …]": says(bg(routines.KindRoutine), "]\n[late: "), "[stale-fork]": says(prompt.Stale(time.Hour), "[stale-fork]"),
		"[profile]": says(prompt.Profile{User: "x"}.Changed(prompt.Profile{}), "[profile] "),
		"[button]":  says(prompt.Button("x"), "[button]"), "[system]": says(prompt.Instruction("x"), "[system]"),
		"[reminder:resp-rev]": says(fg(routines.KindReminder), "[reminder:"),
		"[YYYY-MM-DD Day HH:MM AM/PM ZONE]": func() bool {
			return prompt.Timestamp(now) == "[2026-11-22 Sun 09:00 AM UTC]"
		},
		"RECENT BACKGROUND UPDATES": says(prompt.Main(now, list, "")+prompt.Peeked(now, list, ""), "] RECENT BACKGROUND UPDATES"),
		"> ":                        says(prompt.Quote("x", "y"), "> x\n\ny"),
		"(end of message)":          func() bool { return sessionfile.LastBlock == "(end of message)" },
		"agent:PROMPT":              button("agent:PROMPT"), "dismiss:": button("dismiss:"),
		"critical": schema(toolset.PingUser, "critical"), "run_at": schema(toolset.AddReminder, "run_at"),
		"update-main-session": mode("always"), "name": skillKey, "description": skillKey, "allowed-tools": skillKey,
		`skills: ["tidy-notes"]`: routine(`skills: ["tidy-notes"]`, func(r routines.Routine) bool {
			return slices.Equal(r.Skills, []string{"tidy-notes"})
		}),
		"SKILL.md":  func() bool { return skill.File == "SKILL.md" },
		"&&":        func() bool { return p.lets(p.main, "Bash", `{"command":"ollim-bot help && ollim-bot help"}`) != "" },
		"*.md":      func() bool { return p.lets(p.main, "Grep", `{"pattern":"x"}`) != "" },
		"docs":      func() bool { return slices.Contains(p.offered, "mcp__docs__search") },
		"ollim-bot": func() bool { return p.command("ollim-bot help") == "" },
	}
	for _, value := range []string{"always", "on_ping", "freely", "blocked"} {
		words[value] = mode(value)
	}
	for _, colour := range []string{"blue", "green", "yellow", "red", "purple"} {
		words[colour] = schema(toolset.DiscordEmbed, "color")
	}
	return words
}

// spans are the words of a text in back quotes, code blocks left out.
func spans(text string) []string {
	return found("`([^`\n]+)`", regexp.MustCompile("(?s)\n```.*?\n```").ReplaceAllString(text, ""))
}

// agents are the subagents that come with the program.
var agents = []string{"ollim-bot-guide", "history-reviewer", "responsiveness-reviewer", "user-proxy"}

// try tries one span; known is false for one for which there is no way to try it.
func (p *promised) try(span string) (why string, known bool) {
	tool := span
	if slices.Contains(p.offered, toolset.Prefix+span) {
		tool = toolset.Prefix + span
	}
	check, isWord := p.words[span]
	switch {
	case slices.Contains(p.offered, tool):
		return p.lets(p.main, tool, sample[tool]), true
	case isWord && check():
		return "", true
	case isWord:
		return span + " is not so", true
	case strings.HasPrefix(span, "ollim-bot "), span == "ls", strings.HasPrefix(span, "ls "):
		return p.command(span), true
	case slices.Contains(agents, span):
		if !exists(filepath.Join(p.root, ".claude", "agents", span+".md")) {
			return "there is no subagent " + span, true
		}
		return p.lets(p.main, "Agent", `{"subagent_type":"`+span+`","prompt":"x","description":"x"}`), true
	case strings.HasSuffix(span, "/"), strings.HasSuffix(span, ".md"), strings.HasPrefix(span, "."):
		return p.file(span), true
	}
	return "", false
}

// TestWhatTheSystemPromptPromisesIsTrue tries every word in back quotes: the command runs, the tool is there, the file is open
// or closed, the tag is written, and the policy says what the text says.
func TestWhatTheSystemPromptPromisesIsTrue(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	p := newPromised(t)
	all := map[string]bool{}
	for _, in := range []prompt.SystemInput{{}, {Webhooks: true, Promises: true}, {Brief: true, Promises: true}} {
		for _, span := range spans(prompt.System(in)) {
			all[span] = true
		}
	}
	if len(all) < 80 {
		t.Errorf("only %d promises were found", len(all))
	}
	for span := range all {
		if why, known := p.try(span); !known {
			t.Errorf("nothing tries %q", span)
		} else if why != "" {
			t.Error(why)
		}
	}
	for _, tool := range p.offered {
		bare := strings.TrimPrefix(tool, toolset.Prefix)
		if !all[tool] && !all[bare] && tool != "Bash" { // "in each Bash call"
			t.Errorf("the model has %s, and nothing says what for", tool)
		}
	}
}

// TestWhatTheShippedFilesPromiseIsTrue runs the commands of subagents and bundled skills, which have the rights of the main
// session.
func TestWhatTheShippedFilesPromiseIsTrue(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	p := newPromised(t)
	files := []string{"skills/setup/SKILL.md", "skills/job-config/SKILL.md"}
	for _, name := range agents {
		files = append(files, ".claude/agents/"+name+".md")
	}
	commands := 0
	for _, file := range files {
		text := stored(p.root, file)
		for _, line := range append(spans(text), found(`Bash\((ollim-bot [^)]*)\)`, text)...) {
			if !strings.HasPrefix(line, "ollim-bot ") {
				continue
			}
			commands++
			if why := p.command(line); why != "" {
				t.Errorf("%s: %s", file, why)
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands were tried", commands)
	}
}

// TestThePreamblesListIsWhatARunMayUse: a background run whose prompt lists a tool gets a call of it through, and one that is
// not in the list is refused.
func TestThePreamblesListIsWhatARunMayUse(t *testing.T) {
	p := newPromised(t)
	now := time.Now()
	_, list, _ := strings.Cut(prompt.BackgroundPrompt(prompt.Background{
		Now: now, Task: routines.Task{ID: "x", Kind: routines.KindRoutine, AllowPing: true}, Budget: budget.Default(now),
		Allowed: policy.BackgroundTools(), Chain: &prompt.Chain{Max: 1},
	}), "Only these tools are available for this task:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	listed := found(`(?m)^  - (\w+)`, list)
	for _, tool := range listed {
		if why := p.lets(p.back, tool, sample[tool]); why != "" || !slices.Contains(p.offered, tool) {
			t.Errorf("%s is in the list. %s", tool, why)
		}
	}
	for _, tool := range []string{"Agent", "Edit", "Write", "Skill", "WebFetch", "WebSearch", "mcp__docs__search", toolset.Prefix + toolset.UpdateNames} {
		if slices.Contains(listed, tool) || p.lets(p.back, tool, sample[tool]) == "" {
			t.Errorf("a run may use %s", tool)
		}
	}
	for _, tool := range []string{"Bash", "Read", "Glob", "Grep", toolset.Prefix + toolset.PingUser, toolset.Prefix + toolset.FollowUpChain} {
		if !slices.Contains(listed, tool) {
			t.Errorf("%s is not in the list:\n%s", tool, list)
		}
	}
}

// unknownPart walks down the tree and says where a command line leaves it: the command, its flags, or what is behind it.
func unknownPart(root *kong.Node, words []string) string {
	for i, word := range words {
		x, word := follow(root, words[:i]), strings.Trim(word, "[]…")
		named := func(f *kong.Flag) bool { return "--"+f.Name == word || f.Short != 0 && "-"+string(f.Short) == word }
		switch below := follow(root, words[:i+1]).at; {
		case x.flag != nil, word == "--help", word == "*", word == "", below != x.at: // a value, or a command
		case strings.HasPrefix(word, "-"):
			if !slices.ContainsFunc(x.flags, named) {
				return x.at.FullPath() + " has no flag " + word
			}
		case x.at == root:
			return "there is no command " + word
		case len(x.at.Positional) == 0 && word != strings.ToUpper(word):
			return x.at.FullPath() + " takes no " + word
		}
	}
	return ""
}

// Every command line that a text names is in the tree of commands. TestWhatTheSystemPromptPromisesIsTrue, which has no Google,
// and TestWhatTheShippedFilesPromiseIsTrue run the others.
func TestEveryCommandInTheSystemPromptAndTheInstalledFilesExists(t *testing.T) {
	d := storetest.Dir(t)
	_, err := guide.Install(d, guide.Options{})
	testkit.Must(t, err)
	texts := map[string]string{"the system prompt": prompt.System(prompt.SystemInput{Google: true, Webhooks: true})}
	testkit.Must(t, filepath.WalkDir(d.Root(), func(name string, e fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			texts["the installed files"] += stored(name) + "\n"
		}
		return err
	}))
	app := commandTree(t).Model.Node
	for name, least := range map[string]int{"the system prompt": 16, "the installed files": 20} {
		lines := append(found("`ollim-bot ([^`\n]+)`", texts[name]), found(`"Bash\(ollim-bot ([^)]+)\)"`, texts[name])...)
		for _, line := range lines {
			if why := unknownPart(app, strings.Fields(line)); why != "" {
				t.Errorf("%s: ollim-bot %s: %s", name, line, why)
			}
		}
		if len(lines) < least {
			t.Errorf("only %d commands were seen in %s; the test looks in the wrong place", len(lines), name)
		}
	}
	for line, want := range map[string]string{ // what this test would find
		"reminder add --delay MINUTES -m TEXT": "",
		"reminder list":                        "",
		"routine *":                            "",
		"runs":                                 "",
		"forks":                                "", // its earlier name
		"frobnicate":                           "there is no command",
		"reminder frobnicate":                  "takes no frobnicate",
		"reminder add --color RED":             "has no flag --color",
		"reminder add -x 1":                    "has no flag -x",
	} {
		if got := unknownPart(app, strings.Fields(line)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// The settings that the setup skill asks people to type are real.
func TestTheSlashCommandsInTheSetupSkillExist(t *testing.T) {
	d := storetest.Dir(t)
	_, err := guide.Install(d, guide.Options{})
	testkit.Must(t, err)
	for _, line := range found("`/([a-z-]+[^`]*)`", stored(d.Root(), "skills/setup/SKILL.md")) {
		words := strings.Fields(line)
		if c, _ := command.Find(command.InSlash, words[0]); c.Name != words[0] {
			t.Errorf("there is no command /%s", words[0])
		}
		if words[0] == "config" && len(words) == 3 {
			if _, _, err := config.Set(d, words[1], words[2]); err != nil {
				t.Errorf("/%s: %v", line, err)
			}
		}
	}
}
