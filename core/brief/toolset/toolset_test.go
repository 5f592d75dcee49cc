package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/routines/when"
)

// recorder is a run that records its requests.
type recorder struct {
	calls []string
	embed post.Embed
	book  *shelf
	panic bool
}

func (r *recorder) Ping(_ context.Context, m string, critical, quiet bool) agent.ToolResult {
	if r.panic {
		panic("out of paper")
	}
	call := fmt.Sprintf("ping %q %v", m, critical)
	if quiet {
		call += " quiet"
	}
	r.calls = append(r.calls, call)
	return Said(TextSent)
}

func (r *recorder) Embed(_ context.Context, e post.Embed, critical bool) agent.ToolResult {
	r.calls = append(r.calls, fmt.Sprintf("embed %q %v", e.Title, critical))
	r.embed = e
	return Said(TextEmbedSent)
}

func (r *recorder) Report(_ context.Context, m string) agent.ToolResult {
	r.calls = append(r.calls, fmt.Sprintf("report %q", m))
	return Said("ok")
}

func (r *recorder) FollowUp(_ context.Context, n int) agent.ToolResult {
	r.calls = append(r.calls, fmt.Sprintf("follow %d", n))
	return Said("ok")
}

func (r *recorder) Reminders() ReminderBook { return r.book }

func (r *recorder) Propose(_ context.Context, p Promise) agent.ToolResult {
	at, problem := p.Due(when.Reader{Now: time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)})
	r.calls = append(r.calls, fmt.Sprintf("propose %q %s %q", p.Words, at.Format(time.DateTime), problem))
	return Said("ok")
}

func (r *recorder) Stop(_ context.Context, s Stop) agent.ToolResult {
	r.calls = append(r.calls, fmt.Sprintf("stop %q %s %v", s.Reason, s.Until.Format(time.DateTime), s.End))
	return Said("ok")
}

func (r *recorder) SaveContext(context.Context) agent.ToolResult {
	r.calls = append(r.calls, "save")
	return Said("ok")
}

func (r *recorder) EnterFork(_ context.Context, topic string, minutes int) agent.ToolResult {
	r.calls = append(r.calls, fmt.Sprintf("enter %q %d", topic, minutes))
	return Said("ok")
}

func (r *recorder) ExitFork(context.Context) agent.ToolResult {
	r.calls = append(r.calls, "exit")
	return Said("ok")
}

func (r *recorder) SendFile(_ context.Context, path, message string, critical bool) agent.ToolResult {
	r.calls = append(r.calls, fmt.Sprintf("file %q %q %v", path, message, critical))
	return Said("ok")
}

func (r *recorder) UpdateNames(_ context.Context, user, bot string) agent.ToolResult {
	r.calls = append(r.calls, fmt.Sprintf("names %q %q", user, bot))
	return Said("ok")
}

func use(t *testing.T, r Caller, name, args string) agent.ToolResult {
	t.Helper()
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

func TestGoodCallsReachTheRun(t *testing.T) {
	tests := []struct{ tool, args, want string }{
		{PingUser, `{"message":"hello"}`, `ping "hello" false`},
		{PingUser, `{"message":"  hello\u001b[31m\n","critical":true,"unknown":1}`, `ping "hello" true`},
		{DiscordEmbed, `{"title":"Hi"}`, `embed "Hi" false`},
		{ReportUpdates, `{"message":"two\nlines"}`, `report "two\nlines"`},
		{FollowUpChain, `{"minutes_from_now":30}`, `follow 30`},
		{StopRoutine, `{"reason":" the parcel\nis here "}`, `stop "the parcel is here" 0001-01-01 00:00:00 false`},
		{StopRoutine, `{"reason":"the parcel is here","end":true}`, `stop "the parcel is here" 0001-01-01 00:00:00 true`},
		{ProposeReminder, `{"words":" \"I'll call\n Ada.\" "}`, `propose "I'll call Ada" 0001-01-01 00:00:00 ""`},
		{ProposeReminder, `{"words":"I'll call Ada","run_at":""}`, `propose "I'll call Ada" 0001-01-01 00:00:00 ""`},
		{ProposeReminder, `{"words":"I'll call Ada","delay_minutes":30}`, `propose "I'll call Ada" 2026-11-27 09:30:00 ""`},
		{ProposeReminder, `{"words":"I'll call Ada","run_at":"2026-11-28T09:00"}`, `propose "I'll call Ada" 2026-11-28 09:00:00 ""`},
		{
			ProposeReminder, `{"words":"I'll call Ada","run_at":"soon"}`,
			`propose "I'll call Ada" 0001-01-01 00:00:00 "Error: run_at \"soon\": I do not understand \"soon\"; say a time such as 18:30, tomorrow 9:00, in 2 hours or 24 dec 9am (or write it like 2026-03-01T15:00:00)"`,
		},
		{FollowUpChain, `{"minutes_from_now":3e1}`, `follow 30`},
		{SaveContext, ``, `save`},
		{SaveContext, `{"sure":true}`, `save`},
		{ExitFork, `{}`, `exit`},
		{EnterFork, `null`, `enter "" 0`},
		{EnterFork, `{"topic":" plan\nthe \u001b[1mweek ","idle_timeout":25.0}`, `enter "plan\nthe week" 25`},
		{SendFile, `{"file_path":"~/a b.pdf"}`, `file "~/a b.pdf" "" false`},
		{SendFile, `{"file_path":"x","message":" hi\u202e ","critical":true}`, `file "x" "hi" true`},
		{UpdateNames, `{"user_name":" Sam\n","bot_name":"Ollim \u001b[2JX"}`, `names "Sam" "Ollim X"`},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" "+tt.args, func(t *testing.T) {
			r := &recorder{}
			if a := use(t, r, tt.tool, tt.args); a.IsError {
				t.Fatal(a.Text)
			}
			if diff := cmp.Diff([]string{tt.want}, r.calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestABadCallIsToldTheFieldAndTheCure(t *testing.T) {
	tests := []struct {
		tool, args string
		want       []string
	}{
		{PingUser, ``, []string{`"message" is missing`, "add it"}},
		{PingUser, `null`, []string{`"message" is missing`}},
		{PingUser, `{`, []string{"cannot be read", "one JSON object"}},
		{PingUser, `[]`, []string{"must be one JSON object"}},
		{PingUser, `{"message":5}`, []string{"message must be of type string, not number"}},
		{PingUser, `{"message":""}`, []string{"message must not be empty"}},
		{PingUser, `{"message":"\u001b[2J  "}`, []string{"message is empty"}},
		{PingUser, `{"message":"x","critical":"yes"}`, []string{"critical must be of type boolean, not string"}},
		{PingUser, `{"message":"` + strings.Repeat("x", maxArgs) + `"}`, []string{"larger than 256 KiB", "Shorten"}},
		{DiscordEmbed, `{"title":"x","fields":[{"name":"a"}]}`, []string{`"value" is missing in fields[0]`}},
		{DiscordEmbed, `{"title":"x","fields":"a"}`, []string{"fields must be of type array"}},
		{DiscordEmbed, `{"title":"x","buttons":[{"label":"1","action":"a"},{"label":"2","action":"a"},{"label":"3","action":"a"},{"label":"4","action":"a"},{"label":"5","action":"a"},{"label":"6","action":"a"}]}`, []string{"buttons may hold at most 5, not 6"}},
		{FollowUpChain, `{"minutes_from_now":0}`, []string{"minutes_from_now must be at least 1"}},
		{FollowUpChain, `{"minutes_from_now":10081}`, []string{"minutes_from_now must be at most 10080"}},
		{FollowUpChain, `{"minutes_from_now":2.5}`, []string{"minutes_from_now must be of type integer, not number"}},
		{FollowUpChain, `{"minutes_from_now":1e999}`, []string{"minutes_from_now is out of bounds, write it smaller"}},
		{FollowUpChain, `{"minutes_from_now":"5"}`, []string{"minutes_from_now must be of type integer, not string"}},
		{AddReminder, `{"prompt":"x"}`, []string{"give delay_minutes or run_at"}},
		{AddReminder, `{"prompt":"x","delay_minutes":5,"run_at":"2000-01-01T10:00:00"}`, []string{"not both"}},
		{AddReminder, `{"prompt":"x","run_at":"tomorow"}`, []string{`run_at "tomorow"`, "2026-03-01T15:00:00", "did you mean tomorrow?"}},
		{AddReminder, `{"prompt":"x","run_at":"15"}`, []string{`run_at "15"`}}, // F2: it is ambiguous
		{AddReminder, `{"prompt":"x","run_at":"1999-12-31T23:00:00"}`, []string{"31 Dec 1999 23:00 has passed"}},
		{AddReminder, `{"prompt":"x","run_at":"2099-12-31T23:00:00"}`, []string{"ten years"}},
		{AddReminder, `{"prompt":"x","delay_minutes":-5}`, []string{"delay_minutes must be at least 1"}},
		{AddReminder, `{"delay_minutes":5}`, []string{`"prompt" is missing`}},
		{ProposeReminder, `{}`, []string{`"words" is missing`}},
		{ProposeReminder, `{"words":" \u001b[0m. "}`, []string{"words is empty"}},
		{CancelReminder, `{}`, []string{`"reminder_id" is missing`}},
		{EnterFork, `{"idle_timeout":0}`, []string{"idle_timeout must be at least 1"}},
		{EnterFork, `{"idle_timeout":1441}`, []string{"idle_timeout must be at most 1440"}},
		{EnterFork, `{"topic":["a"]}`, []string{"topic must be of type string, not array"}},
		{SendFile, `{"message":"x"}`, []string{`"file_path" is missing`, "add it"}},
		{SendFile, `{"file_path":" \u001b[0m"}`, []string{"file_path is empty"}},
		{SendFile, `{"file_path":"x","critical":1}`, []string{"critical must be of type boolean"}},
		{UpdateNames, `{"user_name":"Sam"}`, []string{`"bot_name" is missing`}},
		{UpdateNames, `{"user_name":"Sam","bot_name":"\u200b"}`, []string{"bot_name is empty"}},
		{UpdateNames, `{"user_name":"` + strings.Repeat("é", 81) + `","bot_name":"x"}`, []string{"user_name is longer than 80 characters"}},
		{SaveContext, `[]`, []string{"must be one JSON object"}},
		{CancelReminder, `{"reminder_id":"ffffffff"}`, []string{"Error: no reminder found with ID ffffffff."}},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" "+tt.args[:min(len(tt.args), 40)], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{book: &shelf{zone: time.UTC}}
				a := use(t, r, tt.tool, tt.args)
				if !a.IsError || !strings.HasPrefix(a.Text, "Error") || len(r.calls) > 0 || len(r.book.list) > 0 {
					t.Fatalf("answer %+v, calls %v", a, r.calls)
				}
				for _, w := range tt.want {
					if !strings.Contains(a.Text, w) {
						t.Errorf("answer %q lacks %q", a.Text, w)
					}
				}
			})
		})
	}
}

func TestAPanicBecomesAnAnswer(t *testing.T) {
	a := use(t, &recorder{panic: true}, PingUser, `{"message":"x"}`)
	if !a.IsError || !strings.Contains(a.Text, "out of paper") {
		t.Errorf("answer %+v", a)
	}
}

func TestAButtonThatIsNotTheAgentsToGiveIsRefusedWithTheChoice(t *testing.T) {
	for action, says := range map[string]string{
		"fork_save:_":                           "buttons[1].action",
		"Open the page":                         "task_done:<task_id>",
		"task_done:" + strings.Repeat("x", 100): "too long",
		"task_done:a\x1b[31m":                   "",
		"agent:" + strings.Repeat("x", 3000):    "",
	} {
		args, err := json.Marshal(map[string]any{"title": "x", "buttons": []map[string]string{
			{"label": "Hide", "action": "dismiss:"}, {"label": "Go", "action": action},
		}})
		testkit.Must(t, err)
		r := &recorder{}
		a := use(t, r, DiscordEmbed, string(args))
		if a.IsError != (says != "") || !strings.Contains(a.Text, says) || a.IsError == (r.embed.Title == "x") {
			t.Errorf("%.20q: %+v, sent %+v", action, a, r.embed)
		}
	}
}

func TestAnEmbedIsCleanAndWhole(t *testing.T) {
	long := strings.Repeat("𝔘", 5000) // two units each
	fields := make([]map[string]any, 40)
	for i := range fields {
		fields[i] = map[string]any{"name": "n\x1b[1m", "value": `a\nb`}
	}
	fields[0]["inline"], fields[1]["name"], fields[2]["value"] = false, long, ""
	args, err := json.Marshal(map[string]any{
		"title": long, "description": `first\nsecond` + "\u202e", "color": "PINK", "fields": fields,
		"buttons": []map[string]string{{"label": long, "style": "Danger", "action": "agent:go"}, {"label": "", "action": "dismiss:"}},
	})
	testkit.Must(t, err)
	r := &recorder{}
	if a := use(t, r, DiscordEmbed, string(args)); a.IsError {
		t.Fatal(a.Text)
	}
	e := r.embed
	if e.Title != long || e.Description != "first\nsecond" || e.Color != "blue" {
		t.Errorf("title of %d bytes, description %q, colour %q", len(e.Title), e.Description, e.Color)
	}
	// The view leaves out what does not fit on a screen, and says so.
	if len(e.Fields) != 40 || e.Fields[0].Inline || !e.Fields[1].Inline || e.Fields[2].Value != "–" || e.Fields[3].Value != "a\nb" || e.Fields[3].Name != "n" {
		t.Errorf("%d fields: %+v", len(e.Fields), e.Fields[:4])
	}
	if e.Buttons[0].Style != "danger" || e.Buttons[1].Style != "secondary" || e.Buttons[1].Label != "–" {
		t.Errorf("buttons: %+v", e.Buttons)
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
		r := &recorder{book: &shelf{zone: time.UTC}}
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

func TestLabels(t *testing.T) {
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

func BenchmarkTools(b *testing.B) {
	r := &recorder{}
	for b.Loop() {
		Tools(r)
	}
}
