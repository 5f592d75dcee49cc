package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
	"ollimbot/routines/when"
)

// recorder is a run that writes down what reaches it, and has its reminders in memory.
type recorder struct {
	seen  []string
	list  []routines.Reminder
	zone  *time.Location
	fail  error
	panic bool
}

func (r *recorder) saw(format string, args ...any) agent.ToolResult {
	if r.panic {
		panic("out of paper")
	}
	r.seen = append(r.seen, fmt.Sprintf(format, args...))
	return Said("ok")
}

func (r *recorder) Ping(_ context.Context, m string, critical, quiet bool) agent.ToolResult {
	return r.saw("ping %q critical %v quiet %v", m, critical, quiet)
}

func (r *recorder) Embed(_ context.Context, e post.Embed, critical bool) agent.ToolResult {
	r.saw("embed %q %q %s critical %v", e.Title, e.Description, e.Color, critical)
	for _, f := range e.Fields {
		r.saw("  field %q %q inline %v", f.Name, f.Value, f.Inline)
	}
	for _, b := range e.Buttons {
		r.saw("  button %q %s %q", b.Label, b.Style, b.Action)
	}
	return Said("ok")
}

func (r *recorder) Report(_ context.Context, m string) agent.ToolResult { return r.saw("report %q", m) }

func (r *recorder) FollowUp(_ context.Context, n int) agent.ToolResult {
	return r.saw("follow up in %d", n)
}

func (r *recorder) Propose(_ context.Context, p Promise) agent.ToolResult {
	at, problem := p.Due(r.Times())
	return r.saw("%s", strings.TrimSpace(fmt.Sprintf("propose %q at %s %s", p.Words, at.Format(time.DateTime), problem)))
}

func (r *recorder) Stop(_ context.Context, s Stop) agent.ToolResult {
	return r.saw("stop %q until %s end %v", s.Reason, s.Until.Format(time.DateTime), s.End)
}

func (r *recorder) SaveContext(context.Context) agent.ToolResult { return r.saw("save the context") }

func (r *recorder) EnterFork(_ context.Context, topic string, minutes int) agent.ToolResult {
	return r.saw("enter a fork %q for %d", topic, minutes)
}

func (r *recorder) ExitFork(context.Context) agent.ToolResult { return r.saw("exit the fork") }

func (r *recorder) SendFile(_ context.Context, path, message string, critical bool) agent.ToolResult {
	return r.saw("send %q with %q critical %v", path, message, critical)
}

func (r *recorder) UpdateNames(_ context.Context, user, bot string) agent.ToolResult {
	return r.saw("name the user %q and the bot %q", user, bot)
}

func (r *recorder) Reminders() ReminderBook { return r }

func (r *recorder) Continue(ctx context.Context, _, next routines.Reminder) (routines.Reminder, error) {
	return r.Add(ctx, next)
}

func (r *recorder) Add(_ context.Context, m routines.Reminder) (routines.Reminder, error) {
	if r.fail != nil {
		return m, r.fail
	}
	m.ID = fmt.Sprintf("%08x", len(r.list)+1)
	m.Path = "reminders/" + m.ID + ".md"
	r.list = append(r.list, m)
	r.saw("%s", strings.ReplaceAll(strings.TrimSpace(string(routines.FormatReminder(m))), "\n", " | "))
	return m, nil
}

func (r *recorder) List() []routines.Reminder { return r.list }

func (r *recorder) Cancel(id string) (bool, error) {
	for i, m := range r.list {
		if m.ID == id {
			r.list = append(r.list[:i], r.list[i+1:]...)
			return true, r.fail
		}
	}
	return false, r.fail
}

func (r *recorder) Times() when.Reader { return when.Reader{Now: time.Now().In(r.zone)} }

// use calls a tool, or lets the running reminder, check D of M, follow up in some minutes.
func use(t *testing.T, r *recorder, chain *Chain, name, args string) agent.ToolResult {
	t.Helper()
	if name == "continue" {
		minutes, err := strconv.Atoi(args)
		testkit.Must(t, err)
		return chain.FollowUp(t.Context(), minutes)
	}
	for _, tool := range Tools(r) {
		if tool.Name == name {
			return tool.Call(t.Context(), approved(args))
		}
	}
	t.Fatalf("no tool %s", name)
	return agent.ToolResult{}
}

// approved is a call with these arguments.
func approved(args string) agent.Approved {
	u := agent.ToolUse{Input: json.RawMessage(args)}
	a, _ := agent.Approve(u, u.Allowed())
	return a
}

// many is "(40 x)" in a story: forty of a character.
var many = regexp.MustCompile(`\((\d+) (.)\)`)

func long(text string) string {
	return many.ReplaceAllStringFunc(text, func(s string) string {
		m := many.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[1])
		return strings.Repeat(m[2], n)
	})
}

func short(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); {
		n := 1
		for i+n < len(runes) && runes[i+n] == runes[i] {
			n++
		}
		if n > 30 {
			fmt.Fprintf(&b, "(%d %c)", n, runes[i])
		} else {
			b.WriteString(string(runes[i : i+n]))
		}
		i += n
	}
	return b.String()
}

// Each call of a story is followed by what reaches the run, which a refused call never does, and by the tool's answer. The clock begins at
// midnight on Saturday 1 January 2000, in UTC.
func TestCallsReachTheRunOrAreRefusedWithTheFieldAndTheCure(t *testing.T) {
	goldentest.Stories(t, "stories/calls.txt", func(t *testing.T, story string) string {
		var out strings.Builder
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{zone: time.UTC}
			var chain *Chain
			for line := range strings.Lines(story) {
				line = strings.TrimRight(line, "\n")
				if strings.HasPrefix(line, "  ") || line == "" {
					continue
				}
				fmt.Fprintln(&out, line)
				verb, rest, _ := strings.Cut(line, " ")
				switch verb {
				case "now": // 2026-03-08T01:00:30-08:00 America/Los_Angeles
					at, zone, _ := strings.Cut(rest, " ")
					now, err := time.Parse(time.RFC3339, at)
					testkit.Must(t, err)
					r.zone, err = time.LoadLocation(zone)
					testkit.Must(t, err)
					time.Sleep(time.Until(now))
					continue
				case "file": // a file with this time is due
					m, problems := routines.ParseReminder("r.md", []byte("---\nid: a\nrun-at: "+rest+"\n---\nx"), r.zone)
					fmt.Fprintf(&out, "  %s %v\n", m.RunAt.Format(time.RFC3339), routines.HasErrors(problems))
					continue
				case "disk": // full
					r.fail = errors.New("disk full")
					continue
				case "broken":
					r.panic = true
					continue
				case "check": // 1 of 3
					m := routines.Reminder{Task: routines.Task{ID: "root0001", Description: "Tea", Body: "x", Background: true, Thinking: true, AllowPing: true}}
					_, err := fmt.Sscanf(rest, "%d of %d", &m.ChainDepth, &m.MaxChain)
					testkit.Must(t, err)
					m.ChainDepth, m.MaxChain = m.ChainDepth-1, m.MaxChain-1
					chain = NewChain(r, &m)
					continue
				}
				a := use(t, r, chain, verb, long(rest))
				for _, seen := range append(r.seen, strings.Split(a.Text, "\n")...) {
					if seen != "ok" {
						fmt.Fprintln(&out, "  "+short(seen))
					}
				}
				if a.IsError != strings.HasPrefix(a.Text, "Error") || a.IsError && len(r.seen) > 0 {
					t.Errorf("%s: an error: %v, and the run has seen %q", line, a.IsError, r.seen)
				}
				r.seen = nil
			}
		})
		return out.String()
	})
}

func TestEveryRunHasTheSameTools(t *testing.T) {
	a, b := Tools(&recorder{}), Tools(&recorder{})
	var names []string
	for i, tool := range a {
		names = append(names, tool.Name)
		if tool.Description == "" || string(tool.Schema) != string(b[i].Schema) || tool.Name != b[i].Name {
			t.Errorf("%s differs between runs or lacks a description", tool.Name)
		}
		var schema struct{ Type string }
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema.Type != "object" {
			t.Errorf("%s: schema of type %q, %v", tool.Name, schema.Type, err)
		}
	}
	want := []string{
		"ping_user", "discord_embed", "send_file", "report_updates", "follow_up_chain", "save_context", "enter_fork", "exit_fork",
		"update_names", "add_reminder", "list_reminders", "cancel_reminder", "propose_reminder", "stop_routine",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func TestPropertyACutTextFitsAndIsTheBeginning(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		n := rapid.IntRange(1, 30).Draw(t, "limit")
		got := cut(s, n)
		if units(got) > n {
			t.Fatalf("%q has %d units, more than %d", got, units(got), n)
		}
		if got == s {
			return
		}
		if units(s) <= n || !strings.HasSuffix(got, "…") || !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
			t.Fatalf("cut(%q, %d) = %q", s, n, got)
		}
	})
}

func TestPropertyNoArgumentsMakeAToolPanicOrStaySilent(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		r := &recorder{zone: time.UTC}
		tools := Tools(r)
		tool := tools[rapid.IntRange(0, len(tools)-1).Draw(rt, "tool")]
		keys := rapid.SampledFrom([]string{"message", "title", "critical", "fields", "minutes_from_now", "prompt", "run_at", "delay_minutes", "reminder_id", "max_chain", "topic", "idle_timeout", "file_path", "user_name", "bot_name"})
		values := rapid.SampledFrom([]string{`1`, `-1`, `1e9`, `1e400`, `2.5`, `""`, `"x"`, `"\ud800"`, `null`, `[]`, `{}`, `[{"name":1}]`, `true`, `"2000-01-01T00:00"`})
		var parts []string
		for range rapid.IntRange(0, 4).Draw(rt, "n") {
			parts = append(parts, fmt.Sprintf("%q:%s", keys.Draw(rt, "key"), values.Draw(rt, "value")))
		}
		a := tool.Call(context.Background(), approved("{"+strings.Join(parts, ",")+"}"))
		if a.Text == "" || strings.Contains(a.Text, "internal fault") {
			rt.Fatalf("%s answered %+v", tool.Name, a)
		}
	})
}

func TestALabelNamesTheCallAndWhatItIsAbout(t *testing.T) {
	tests := []struct{ name, input, want string }{
		{"Read", `{"file_path":"/home/x/.ollim-bot/user/notes.md"}`, "Read(user/notes.md)"},
		{"Write", `{"file_path":"reminders/foo.md"}`, "Write(reminders/foo.md)"},
		{"Edit", `{"file_path":"foo.md"}`, "Edit(foo.md)"},
		{"mcp__discord__ping_user", `{"message":"x"}`, "ping_user"},
		{"mcp__docs__search__deep", `{}`, "search__deep"},
		{"Bash", `{"command":"ollim-bot tasks list --all --with-a-very-long-option-behind-it --and-more\nsecond"}`, "Bash(ollim-bot tasks list --all --with-a-very-long-opt…)"},
		{"Bash", `{"command":"ls\r\nrm x"}`, "Bash(ls…)"},
		{"Grep", `{"pattern":"todo","path":"notes"}`, "Grep(todo, notes)"},
		{"Grep", `{"pattern":"todo","path":""}`, "Grep(todo)"},
		{"Glob", `{"pattern":"**/*.md"}`, "Glob(**/*.md)"},
		{"WebFetch", `{"url":"https://example.com"}`, "WebFetch(https://example.com)"},
		{"Task", `{"description":"look it up"}`, "Task(look it up)"},
		{"Agent", `{"description":"` + strings.Repeat("a", 101) + `"}`, "Agent(" + strings.Repeat("a", 99) + "…)"},
		{"WebSearch", `{"query":"tea"}`, "WebSearch(tea)"},
		{"Something", `{"x":1}`, "Something"},
		{"Bash", `not json`, "Bash"},
		{"Bash", `{"command":5}`, "Bash"},
		{"Bash", `{"command":"echo \u001b[31mred"}`, `Bash(echo ⟦\x1b⟧[31mred)`},
	}
	for _, tt := range tests {
		if got := Label(tt.name, json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("Label(%s, %s) = %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
}

// S36: a ping without ink made a sound and cost a token.
func TestATextWithoutInkIsBlank(t *testing.T) {
	for _, s := range []string{"", "** **", "\u2800", "\u3164", "# ", "> ", "-# ", "||\u200b||", "```\n```", "---", "\u00a0"} {
		if !Blank(Message(s)) {
			t.Errorf("%q is no blank", s)
		}
	}
	for _, s := range []string{"a", "?", "…", "👍", "**a**", "# 1", "日"} {
		if Blank(Message(s)) {
			t.Errorf("%q is a blank", s)
		}
	}
}

func TestAFieldOfACardIsInlineUnlessTheAgentSaysOtherwise(t *testing.T) {
	for said, want := range map[any]bool{nil: true, true: true, false: false} {
		field := map[string]any{"name": "n", "value": "v"}
		if said != nil {
			field["inline"] = said
		}
		card := cardOf(arguments{"fields": []any{field}})
		if len(card.Fields) != 1 || card.Fields[0].Inline != want {
			t.Errorf("inline %v: %+v", said, card.Fields)
		}
	}
}

func TestOnlyAReminderOfAChainThatCanBeWrittenHasOne(t *testing.T) {
	chain := &routines.Reminder{MaxChain: 1}
	for what, c := range map[string]struct {
		book     ReminderBook
		reminder *routines.Reminder
		has      bool
	}{
		"a chain": {&recorder{}, chain, true}, "no reminder": {&recorder{}, nil, false}, "a single one": {&recorder{}, &routines.Reminder{}, false},
		"a session that writes no reminders": {nil, chain, false},
	} {
		if has := NewChain(c.book, c.reminder) != nil; has != c.has {
			t.Errorf("%s: has a chain: %v", what, has)
		}
	}
}

func TestASearchFindsToolsByTheirWordsTheBestFirst(t *testing.T) {
	tools := [][2]string{
		{"mcp__mail__listMessages", "Lists the messages of a mailbox."},
		{"mcp__mail__send_message", "Sends a mail."},
		{"mcp__weather__forecast", "The weather of the next days."},
		{"mcp__notes__search", "Finds notes, also in the mail archive."},
	}
	var known Splits
	for range 2 { // the second time from what is known
		for query, want := range map[string]string{
			"": "", "nothing": "", "mcp": "", "s": "", "forecasts": "2", "FORE": "2", "message": "01", "messages list": "01", "mail": "013", "send mail": "103",
			" mcp__notes__search ": "3", "notes forecast": "32", "in": "3", strings.Repeat("zz ", maxWanted-1) + "notes": "3", strings.Repeat("zz ", maxWanted) + "notes": "",
		} {
			got := ""
			for _, found := range Search(&known, tools, func(t [2]string) (string, string) { return t[0], t[1] }, query) {
				got += strconv.Itoa(slices.Index(tools, found))
			}
			if got != want {
				t.Errorf("%.40q finds %q, want %q", query, got, want)
			}
		}
		tools[2][1] = "What tomorrow is like."
	}
	if got := Search(&known, tools, func(t [2]string) (string, string) { return t[0], t[1] }, "next"); len(got) > 0 {
		t.Errorf("words of an earlier description find %v", got)
	}
}

func TestACallThroughTheSearchIsOneOfAToolOfAnotherServer(t *testing.T) {
	for args, want := range map[string]string{
		`{"tool":"mcp__a__b__c","arguments":{"x":1}}`: `mcp__a__b__c {"x":1}`, `{"tool":"mcp__a__b"}`: "mcp__a__b {}", `{"tool":"mcp__a__b","arguments":[1]}`: "mcp__a__b {}",
		`{"tool":"mcp__a__b","arguments":null}`: "mcp__a__b {}", `{"tool":"mcp__discord__ping_user"}`: "", `{"tool":"mcp__docs__x"}`: "", `{"tool":"mcp__servers__call"}`: "",
		`{"tool":"Bash","arguments":{}}`: "", `{"tool":"x__a__b"}`: "", `{"tool":"mcp__a"}`: "", `{"tool":""}`: "", `{}`: "", `[]`: "", `x`: "",
	} {
		used := Unwrap(agent.ToolUse{Name: Call, Input: json.RawMessage(args)})
		tool, inner, ok := Inner(json.RawMessage(args))
		if got := strings.TrimSpace(tool + " " + string(inner)); got != want || ok != (want != "") || ok && used.Name != tool || !ok && (used.Name != Call || string(used.Input) != args) {
			t.Errorf("%s calls %q, want %q; it is unwrapped as %s %s", args, got, want, used.Name, used.Input)
		}
		if other := Unwrap(agent.ToolUse{Name: Find, Input: json.RawMessage(args)}); other.Name != Find {
			t.Errorf("a search is unwrapped as %s", other.Name)
		}
	}
}

func TestATextThatDoesNotFitBesideARemarkIsShorter(t *testing.T) {
	for n, want := range map[int]int{maxMessage - 10: maxMessage - 10, maxMessage - 9: maxMessage - 10} {
		text, shorter := Fit(" "+strings.Repeat("x", n)+"\x1b[1m", 10)
		if units(text) != want || shorter != (n != want) {
			t.Errorf("%d letters become %d, shorter %v", n, units(text), shorter)
		}
	}
}

func TestWithoutASessionEveryCallIsRefused(t *testing.T) {
	for _, tool := range Tools(nil) {
		if a := tool.Call(t.Context(), approved("{}")); !a.IsError || a.Text != textNobody {
			t.Errorf("%s answers %+v", tool.Name, a)
		}
	}
}
