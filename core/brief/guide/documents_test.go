package guide

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/docs"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
)

// text returns a built-in file.
func text(t testing.TB, name string) string {
	t.Helper()
	list, err := items()
	testkit.Must(t, err)
	for _, it := range list {
		if it.path == name {
			return it.text
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

var (
	fence   = regexp.MustCompile("(?ms)^```markdown\n(.*?)^```$")
	span    = regexp.MustCompile("`([^`\n]+)`")
	keyRow  = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|(?: (both|routines|reminders) \\|)?")
	toolish = regexp.MustCompile(`^(mcp__\w+|[a-z]+(?:_[a-z]+)+)\b`)
)

// examples returns the example files in a document.
func examples(t testing.TB, name string) []string {
	t.Helper()
	var list []string
	for _, m := range fence.FindAllStringSubmatch(text(t, name), -1) {
		list = append(list, m[1])
	}
	if len(list) == 0 {
		t.Fatalf("%s shows no example", name)
	}
	return list
}

// spans returns the words in back quotes, outside code blocks.
func spans(text string) []string {
	var list []string
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			for _, m := range span.FindAllStringSubmatch(line, -1) {
				list = append(list, m[1])
			}
		}
	}
	return list
}

// keys returns the keys of the table under "## Keys", with the kind of file if the table
// gives it.
func keys(t testing.TB, name string) map[string]string {
	t.Helper()
	_, part, _ := strings.Cut(text(t, name), "\n## Keys\n")
	part, _, _ = strings.Cut(part, "\n## ")
	all := map[string]string{}
	for _, m := range keyRow.FindAllStringSubmatch(part, -1) {
		all[m[1]] = m[2]
	}
	return all
}

func kindOf(example string) string {
	if strings.Contains(example, "\nrun-at:") {
		return "reminders"
	}
	return "routines"
}

func TestTheExamplesOfRoutinesAndRemindersAreWithoutFault(t *testing.T) {
	kinds, ids := map[string]int{}, map[string]bool{}
	for _, example := range examples(t, "routine-reminder-spec.md") {
		kind := kindOf(example)
		task, problems := parsed(kind, example)
		if len(problems) > 0 {
			t.Errorf("%s\n%+v", example, problems)
		}
		kinds[kind]++
		ids[taskOf(task).ID] = true
	}
	if kinds["routines"] < 2 || kinds["reminders"] < 1 || len(ids) < 4 {
		t.Errorf("there are examples of %v with the ids %v", kinds, ids)
	}
}

// taskOf returns the task of a parsed file.
func taskOf(parsed any) routines.Task {
	switch one := parsed.(type) {
	case routines.Routine:
		return one.Task
	case routines.Reminder:
		return one.Task
	}
	return parsed.([]any)[0].(routines.Task) //nolint:forcetypeassert // of a webhook
}

// known asks the parser about a key. If the parser reads it, a mapping is an error; an
// unknown key is ignored in a task, and named in a webhook.
func known(kind, key string) bool {
	_, problems := parsed(kind, file(kind, key+":\n  a: b"))
	if kind == "webhooks" {
		return !slices.ContainsFunc(problems, func(p routines.Problem) bool { return strings.Contains(p.Message, "have no key") })
	}
	return slices.ContainsFunc(problems, func(p routines.Problem) bool {
		return p.Severity == routines.Error && strings.HasPrefix(p.Message, key+" must be ")
	})
}

func TestEveryKeyThatADocumentNamesIsReadThereAndNowhereElse(t *testing.T) {
	for _, kind := range []string{"routines", "reminders", "webhooks"} {
		if known(kind, "colour") || !known(kind, "id") {
			t.Fatalf("the question to the parser of %s does not work", kind)
		}
	}
	for key, in := range keys(t, "routine-reminder-spec.md") {
		if in == "" {
			t.Errorf("the document does not say where %s belongs", key)
		}
		for _, kind := range []string{"routines", "reminders"} {
			if want := in == "both" || in == kind; known(kind, key) != want {
				t.Errorf("%s in %s: the parser reads it is %v, the document says %v", key, kind, !want, want)
			}
		}
	}
	for key := range keys(t, "webhook-spec.md") {
		if !known("webhooks", key) || key == "background" { // which does nothing there
			t.Errorf("%s is explained and not read in webhooks", key)
		}
	}
}

// fieldKeys are the keys of the parsed values' fields. Empty ones are not keys, and one
// field can have two. A field missing here is new, and so are its key and its row.
var fieldKeys = map[string]string{
	"Kind": "", "Path": "", "Body": "", "Task": "", "Raw": "", "Digest": "", "Waits": "", "Proposed": "", "Script": "",
	"TrustInput": "trust-input", "Critical": "critical", "Name": "name", "Tools": "allowed-tools", "Fields": "fields",
	"Verify": "verify", "SecretEnv": "secret-env", "SignatureHeader": "signature-header", "DeliveryHeader": "delivery-header",
	"ID": "id", "Description": "description", "Background": "background", "Model": "model", "Thinking": "thinking",
	"Isolated": "isolated", "Mode": "update-main-session", "UpdateMainSession": "update-main-session", "AllowPing": "allow-ping",
	"Allowed": "allowed-tools", "Disallowed": "disallowed-tools", "AllowedTools": "allowed-tools", "DisallowedTools": "disallowed-tools",
	"Skills": "skills", "Subagent": "subagent", "Cron": "cron", "RunMissed": "missed", "RunAt": "run-at",
	"ChainDepth": "chain-depth", "MaxChain": "max-chain", "ChainParent": "chain-parent",
	"UntilDone": "until", "Again": "again", "FirstAt": "first-at", "LastWord": "last-word",
	"Check": "check", "Says": "say", "Essential": "essential", "Leeway": "window jitter", "Schedule": "every days from until times skip zone", "Late": "late", "Ahead": "ahead",
}

// complete compares a document's table with the types its files are parsed to. not are keys of their fields that it leaves out.
func complete(t *testing.T, name, not string, values ...any) {
	t.Helper()
	table, seen := keys(t, name), map[string]bool{}
	for _, v := range values {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			list, ok := fieldKeys[f.Name]
			if !ok && f.IsExported() {
				t.Errorf("the field %s is new: say in %s what its key does", f.Name, name)
			}
			for key := range strings.FieldsSeq(list) {
				seen[key] = true
				if _, ok := table[key]; !ok && !slices.Contains(strings.Fields(not), key) {
					t.Errorf("%s does not explain %s", name, key)
				}
			}
		}
	}
	for key := range table {
		if !seen[key] {
			t.Errorf("%s explains %s, which no file has", name, key)
		}
	}
}

func TestTheDocumentsExplainEveryKey(t *testing.T) {
	complete(t, "routine-reminder-spec.md", "", routines.Routine{}, routines.Reminder{})
	complete(t, "skill-spec.md", "", skill.Skill{})
	complete(t, "webhook-spec.md", "background check say essential window jitter", webhook.Spec{}) // it always runs in the background, at once
}

// Compares the tables' values and defaults with the parsers.
func TestTheDefaultsOfTheDocumentsAreTheParsers(t *testing.T) {
	of := func(kind string) routines.Task {
		one, _ := parsed(kind, file(kind))
		return taskOf(one)
	}
	routine, reminder, hook := of("routines"), of("reminders"), of("webhooks")
	word := map[bool]string{true: "`true`", false: "`false`"}
	const flags, modes = "`true`, `false` | ", "`always`, `on_ping`, `freely`, `blocked` | `"
	for name, rows := range map[string][]string{
		"routine-reminder-spec.md": {
			"| `background` | both | " + flags + word[routine.Background] + " for routines, " + word[reminder.Background] + " for reminders |",
			"| `thinking` | both | " + flags + word[routine.Thinking] + " |", "| `allow-ping` | both | " + flags + word[routine.AllowPing] + " |",
			"| `update-main-session` | both | " + modes + string(routine.Mode) + "` |",
		},
		"webhook-spec.md": {
			"| `thinking` | " + flags + word[hook.Thinking] + " |", "| `allow-ping` | " + flags + word[hook.AllowPing] + " |",
			"| `update-main-session` | " + modes + string(hook.Mode) + "` |", "the conversation | " + word[hook.Isolated] + " |",
		},
	} {
		for _, row := range rows {
			if !strings.Contains(text(t, name), row) {
				t.Errorf("the table of %s lacks\n%s", name, row)
			}
		}
	}
	doc := text(t, "routine-reminder-spec.md")
	for key, values := range map[string]string{"model": "opus sonnet haiku", "update-main-session": "always on_ping freely blocked", "missed": "note run"} {
		for value := range strings.FieldsSeq(values) {
			if _, problems := parsed("routines", file("routines", key+": "+value)); len(problems) > 0 || !strings.Contains(doc, "`"+value+"`") {
				t.Errorf("%s: %s is refused, or not in the document: %+v", key, value, problems)
			}
		}
	}
	for _, pattern := range policy.BackgroundTools() {
		if !strings.HasPrefix(pattern, toolset.Prefix) && !strings.Contains(doc, "`"+pattern+"`") {
			t.Errorf("the document does not name %s, which every run has", pattern)
		}
	}
}

func TestTheSkillExampleAndTheBundledSkillsAreWithoutFault(t *testing.T) {
	d := installed(t)
	storetest.Put(t, d, "skills/email-triage/SKILL.md", examples(t, "skill-spec.md")[0])
	skills, problems := skill.List(d)
	if len(problems) > 0 || len(skills) != 3 {
		t.Errorf("%d skills, %+v", len(skills), problems)
	}
	for _, s := range skills {
		if s.Description == "" || len(s.Body) < 50 {
			t.Errorf("%s says %q", s.Name, s.Description)
		}
	}
	if !strings.Contains(text(t, "skills/setup/SKILL.md"), "\ndisable-model-invocation: true\n") {
		t.Error("setup must not start by itself")
	}
}

func TestTheCommandOfTheSkillDocumentRunsAsItSays(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	_, part, _ := strings.Cut(text(t, "skill-spec.md"), "```\nToday is ")
	command, _, _ := strings.Cut(part, "\n```")
	if got := skill.Expand(t.Context(), d, skill.How{}, command); !strings.HasSuffix(got, "day.") {
		t.Errorf("%s becomes %q", command, got)
	}
	if got := skill.Expand(t.Context(), d, skill.How{}, "!`false`"); !strings.HasPrefix(got, "[command failed (exit 1): ") {
		t.Errorf("a failing command leaves %q", got)
	}
}

// Examples that the guard rejects when the agent writes them would be bad advice.
func TestTheAgentMayWriteWhatTheDocumentsShow(t *testing.T) {
	d := prepared(t)
	guard := policy.New(policy.Options{Dir: d, Zone: time.UTC})
	pre := guard.Session(policy.Scope{Rules: policy.Rules{Allowed: policy.MainTools()}}).Hooks(func(string, string) {}).PreTool
	write := func(file, content string) agent.Decision {
		return pre(t.Context(), agent.ToolUse{Name: "Write", Input: jsonOf(t, map[string]string{"file_path": d.Path(file), "content": content})})
	}
	for _, example := range examples(t, "routine-reminder-spec.md") {
		if got := write(kindOf(example)+"/x.md", example); !got.Allow {
			t.Errorf("%s\n%s", example, got.Reason)
		}
	}
	if got := write("skills/email-triage/SKILL.md", examples(t, "skill-spec.md")[0]); !got.Allow {
		t.Errorf("the skill: %s", got.Reason)
	}
	if got := write("routines/x.md", "---\nid: a\n---\nx"); got.Allow {
		t.Error("the guard does not look")
	}
}

func TestEveryToolThatTheFilesNameExists(t *testing.T) {
	exists := map[string]bool{
		"mcp__docs__" + docs.ToolList: true, "mcp__docs__" + docs.ToolSearch: true, "mcp__docs__" + docs.ToolRead: true,
		"on_ping": true, "newer_than": true, "mcp__discord__": true, // not tools
	}
	for _, tool := range toolset.Tools(nil) {
		exists[tool.Name], exists[toolset.Prefix+tool.Name] = true, true
	}
	list, err := items()
	testkit.Must(t, err)
	seen := 0
	for _, it := range list {
		for _, s := range spans(it.text) {
			if m := toolish.FindString(s); m != "" && m != "quiet_hours" {
				seen++
				if !exists[m] {
					t.Errorf("%s names %s, which does not exist", it.path, s)
				}
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d names of tools were seen; the test looks in the wrong place", seen)
	}
}

// Files in the top folder that the texts name are installed, belong to the user's
// profile, or are examples.
func TestEveryFileThatTheFilesNameIsThere(t *testing.T) {
	known := map[string]bool{
		"USER.md": true, "IDENTITY.md": true, "CLAUDE.md": true, "SKILL.md": true, "tool-policy.yaml": true,
		"routines/NAME.md": true, "reminders/NAME.md": true,
	}
	list, err := items()
	testkit.Must(t, err)
	for _, it := range list {
		known[it.path] = true
	}
	all := prompt.System(prompt.SystemInput{Google: true, Webhooks: true})
	for _, it := range list {
		all += "\n" + it.text
	}
	seen := map[string]bool{}
	for _, s := range spans(all) {
		if strings.HasSuffix(s, ".md") && !strings.ContainsAny(s, "*( ") {
			seen[s] = true
			if !known[s] {
				t.Errorf("%s is named and does not exist", s)
			}
		}
	}
	for _, name := range []string{"routine-reminder-spec.md", "webhook-spec.md", "skill-spec.md"} {
		if !seen[name] {
			t.Errorf("nothing leads to %s", name)
		}
	}
}

func TestNamesAreFilledInWhereTheyCannotBreakAnything(t *testing.T) {
	list, err := items()
	testkit.Must(t, err)
	for _, it := range list {
		if it.rule == follow && strings.Contains(it.text, "{USER_NAME}") {
			t.Errorf("%s follows the program and must be the same for everybody", it.path)
		}
		if doc, err := frontmatter.Parse([]byte(it.text)); err == nil && !strings.HasSuffix(it.path, "-spec.md") {
			head, _, _ := strings.Cut(it.text, doc.Body)
			if strings.Contains(head, "{") {
				t.Errorf("%s fills a name into its front matter", it.path)
			}
		}
	}
}

func jsonOf(t testing.TB, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	testkit.Must(t, err)
	return data
}
