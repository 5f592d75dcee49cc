package core

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// pen writes files like a session's Write: through its hooks and permissions, then to the
// directory and the schedule.
type pen struct {
	t testing.TB
	h home
	b *Bot
	s *policy.Session
}

func (p pen) call(name string, input map[string]any) agent.ToolUse {
	data, err := json.Marshal(input)
	testkit.Must(p.t, err)
	return agent.ToolUse{ID: fmt.Sprint(len(data), name), Name: name, Input: data}
}

// decide returns the decision of hooks and permissions on a call, as for an engine.
func (p pen) decide(u agent.ToolUse) agent.Decision {
	d := p.s.PreTool(p.t.Context(), u)
	if d.Allow {
		d = p.s.Permission(p.t.Context(), u)
	}
	return d
}

func (p pen) write(rel, text string) agent.Decision {
	u := p.call("Write", map[string]any{"file_path": rel, "content": text})
	d := p.decide(u)
	if d.Allow {
		p.h.write(rel, text)
		p.s.Hooks(nil).PostTool(p.t.Context(), u)
		p.b.schedule.Refresh(rel)
	}
	return d
}

func mainPen(t testing.TB, h home, b *Bot) pen {
	s, _ := b.chat.Guard(policy.Main)
	return pen{t, h, b, s}
}

// runPen returns a pen for a background run that may also write files.
func runPen(t testing.TB, h home, b *Bot, allowed ...string) pen {
	return pen{t, h, b, b.guard.Session(policy.Scope{
		Kind: policy.Background, Session: "11112222", Rules: policy.Rules{Allowed: policy.Merge(policy.BackgroundTools(), allowed)},
	})}
}

// userWrites saves a file like an editor.
func (h home) userWrites(b *Bot, rel, text string) {
	h.write(rel, text)
	b.schedule.Refresh(rel)
}

func everyMinute(id, extra, body string) string {
	return fmt.Sprintf("---\nid: %q\ncron: \"* * * * *\"\nbackground: true\ndescription: \"Task %s\"\n%s---\n%s\n", id, id, extra, body)
}

const bash = "allowed-tools:\n  - \"Bash\"\n"

func runsOf(s Snapshot, id string) (n int) {
	for _, f := range s.Forks {
		if f.TaskID == id {
			n++
		}
	}
	return n
}

func TestWhatTheAgentGrantsBeyondItsRightsWaitsForTheKey(t *testing.T) {
	running(t, func(home) {}, func(h home, b *Bot) {
		if d := mainPen(h.t, h, b).write("routines/evil.md", everyMinute("bbbb0001", bash, "Go.")); !d.Allow {
			t.Fatalf("it was not written: %+v", d)
		}
		time.Sleep(5 * time.Minute)
		s := b.Snapshot()
		if runsOf(s, "bbbb0001") != 0 {
			t.Fatal("it has fired")
		}
		if v := viewOf(t, b.Snapshot(), "bbbb0001"); !strings.Contains(v.Waits, "use Bash") || !v.Next.IsZero() {
			t.Errorf("the schedule shows %+v", v)
		}
		if e := s.Schedule.Entries; len(e) != 1 || !e[0].Held || e[0].Tag != schedule.TagWaits || !strings.Contains(e[0].Why, "use Bash") {
			t.Errorf("the window shows %+v", e)
		}
		told := 0
		for _, n := range s.Notices {
			if strings.Contains(n.Text, "routines/evil.md is on hold until you approve it") {
				told++
			}
		}
		if told != 1 || len(s.Updates) != 1 {
			t.Errorf("the user was told %d times, updates %+v", told, s.Updates)
		}
		if len(b.schedule.Forward(b.now(), "").Entries) != 0 {
			t.Error("agents plan with it")
		}
		refused(t, b, command.FireNow{ID: "bbbb0001"}, "needs your approval")
		refused(t, b, command.AllowTask{ID: "bbbb0001", Version: "another"}, "has changed since you saw it")
		out := do(t, b, command.AllowTask{ID: "bbbb0001", Version: viewOf(t, b.Snapshot(), "bbbb0001").Version})
		time.Sleep(90 * time.Second)
		s = b.Snapshot()
		if n := runsOf(s, "bbbb0001"); n < 1 || n > 2 {
			t.Errorf("it fired %d times after the key", n)
		}
		for _, u := range s.Updates {
			if strings.Contains(u.Message, "Missed") {
				t.Errorf("it owes what it passed over: %s", u.Message)
			}
		}
		do(t, b, out.Undo)
		if v := viewOf(t, b.Snapshot(), "bbbb0001"); v.Waits == "" {
			t.Error("undo lets it fire")
		}
	})
}

func TestTheAgentsWordsInAUsersPowerfulRoutineWait(t *testing.T) {
	running(t, func(home) {}, func(h home, b *Bot) {
		h.userWrites(b, "routines/tidy.md", everyMinute("bbbb0002", bash, "Tidy up."))
		if v := viewOf(t, b.Snapshot(), "bbbb0002"); v.Waits != "" {
			t.Fatalf("the user's own task waits: %s", v.Waits)
		}
		p := mainPen(h.t, h, b)
		if d := p.write("routines/tidy.md", everyMinute("bbbb0002", bash, "Tidy up.")); !d.Allow || viewOf(t, b.Snapshot(), "bbbb0002").Waits != "" {
			t.Error("writing the same over it makes it the agent's")
		}
		p.write("routines/tidy.md", everyMinute("bbbb0002", bash, "Delete everything."))
		if v := viewOf(t, b.Snapshot(), "bbbb0002"); !strings.Contains(v.Proposed.Why, "use Bash") {
			t.Errorf("the agent's words fire with the user's rights: %+v", v)
		}
		h.userWrites(b, "routines/tidy.md", everyMinute("bbbb0002", bash, "Tidy up, please."))
		if v := viewOf(t, b.Snapshot(), "bbbb0002"); v.Waits != "" {
			t.Errorf("what the user writes does not count: %s", v.Waits)
		}
		p.write("routines/tidy.md", everyMinute("bbbb0002", bash, "Tidy up twice."))
		do(t, b, command.AllowTask{ID: "bbbb0002"})
		p.write("routines/tidy.md", everyMinute("bbbb0002", bash, "Tidy up thrice."))
		if v := viewOf(t, b.Snapshot(), "bbbb0002"); v.Proposed.Why == "" {
			t.Error("the word for one version counts for the next")
		}
	})
}

func TestTheUserIsAskedInWordsWhereThereIsOne(t *testing.T) {
	for _, mode := range []policy.Mode{policy.Ask, policy.AcceptEdits, policy.BypassPermissions} {
		running(t, func(home) {}, func(h home, b *Bot) {
			type_(t, b, "/permissions "+string(mode))
			for i, verdict := range []policy.Verdict{policy.Allow, policy.Deny} {
				id, d := fmt.Sprintf("bbbb100%d", i), make(chan agent.Decision, 1)
				go func() {
					d <- mainPen(h.t, h, b).write("routines/"+id+".md", everyMinute(id, "allowed-tools: [\"Bash(rm *)\"]\n", "Go."))
				}()
				synctest.Wait()
				asked := b.Snapshot().Approvals
				if len(asked) != 1 || !strings.Contains(asked[0].Label, "This routine may use Bash(rm *) alone, in the background; its writer may not.") {
					t.Fatalf("%s: asked %+v", mode, asked)
				}
				do(t, b, command.Answer{ID: asked[0].ID, Verdict: verdict})
				if got := <-d; got.Allow != verdict.Allows() {
					t.Errorf("%s: %s gave %+v", mode, verdict, got)
				}
			}
			if v := viewOf(t, b.Snapshot(), "bbbb1000"); v.Waits != "" {
				t.Errorf("%s: allowed and still waiting: %s", mode, v.Waits)
			}
			if h.has("routines/bbbb1001.md") {
				t.Errorf("%s: written although denied", mode)
			}
		})
	}
}

func TestABackgroundRunsForegroundReminderHasTheRunsRights(t *testing.T) {
	story := func(limited bool) {
		running(t, func(home) {}, func(h home, b *Bot) {
			writer := runPen(t, h, b).s.Writer()
			if !limited {
				writer = mainPen(t, h, b).s.Writer()
			}
			at := b.now().Add(10 * time.Second)
			r, err := b.tasks.Book(writer).Add(t.Context(), routines.Reminder{RunAt: at, MaxChain: 1, Task: routines.Task{
				Kind: routines.KindReminder, Thinking: true, Mode: routines.OnPing, AllowPing: true,
				Body: "Go.\n\n```script\nwait 30s\nask Write {\"file_path\":\"notes/x.md\",\"content\":\"x\"}\ncall enter_fork {}\n" +
					"call add_reminder {\"prompt\":\"Again.\",\"delay_minutes\":60,\"foreground\":true}\ncall follow_up_chain {\"minutes_from_now\":90}\nsay done\n```",
			}})
			testkit.Must(t, err)
			if v := viewOf(t, b.Snapshot(), r.ID); v.Waits != "" {
				t.Errorf("it waits: %s", v.Waits)
			}
			time.Sleep(20 * time.Second)
			d := mainPen(t, h, b).decide(mainPen(t, h, b).call("Write", map[string]any{"file_path": "notes/y.md", "content": "y"}))
			if d.Allow == limited {
				t.Errorf("limited %v: a Write in its turn: %+v", limited, d)
			}
			time.Sleep(2 * time.Minute)
			if limited && b.chat.Banner() != nil {
				t.Error("the turn has led into a fork with the user's rights")
			}
			set := b.index.Set()
			if limited && len(set.Reminders) != 2 {
				t.Fatalf("reminders: %d", len(set.Reminders))
			}
			for _, n := range set.Reminders {
				if o, ok := b.guard.Provenance().Find(n.Path, n.Digest); !ok || o.Writer.Alone != limited {
					t.Errorf("limited %v: %s (depth %d) is of %+v, known %v", limited, n.ID, n.ChainDepth, o.Writer, ok)
				}
			}
			if d := mainPen(t, h, b).decide(mainPen(t, h, b).call("Write", map[string]any{"file_path": "notes/z.md", "content": "z"})); !d.Allow {
				t.Errorf("the conversation has lost its rights: %+v", d)
			}
		})
	}
	story(true)
	story(false)
}

func TestRightsSurviveARestart(t *testing.T) {
	lives(t, 0, func(home) {}, func(h home, b *Bot) {
		mainPen(h.t, h, b).write("routines/evil.md", everyMinute("bbbb0003", bash, "Go."))
		if _, err := b.tasks.Book(runPen(h.t, h, b).s.Writer()).Add(h.t.Context(), routines.Reminder{
			RunAt: b.now().Add(time.Hour), Task: routines.Task{ID: "bbbb0004", Body: "Speak.", Thinking: true, Mode: routines.OnPing, AllowPing: true},
		}); err != nil {
			t.Fatal(err)
		}
	}, func(h home, b *Bot) {
		time.Sleep(3 * time.Minute)
		if v := viewOf(h.t, b.Snapshot(), "bbbb0003"); v.Waits == "" || runsOf(b.Snapshot(), "bbbb0003") != 0 {
			t.Errorf("after a restart: %+v", v)
		}
		r, _ := b.index.Set().ReminderByID("bbbb0004")
		if b.guard.LimitOf(r.Task) == nil {
			t.Error("after a restart the reminder has the conversation's rights")
		}
		testkit.Must(t, os.WriteFile(filepath.Join(h.root, policy.ProvenanceFile), []byte("{"), 0o600))
	}, func(h home, b *Bot) {
		if v := viewOf(h.t, b.Snapshot(), "bbbb0003"); !strings.Contains(v.Waits, "its author is unknown") {
			t.Errorf("with its record lost: %+v", v)
		}
		do(h.t, b, command.AllowTask{ID: "bbbb0003"})
		if v := viewOf(h.t, b.Snapshot(), "bbbb0003"); v.Waits != "" {
			t.Errorf("the user's word does not count: %+v", v)
		}
	})
}

func TestAWebhookOfTheAgentWaitsAndItsRunBeginsTainted(t *testing.T) {
	testkit.Alone(t)
	h := newHome(t)
	h.write("webhooks/ci.md", hookFile)
	b, _ := hooked(t, h)
	if d := mainPen(t, h, b).write("webhooks/mine.md", strings.Replace(hookFile, `"ci"`, `"mine"`, 1)); !d.Allow {
		t.Fatal(d.Reason)
	}
	b.webhooks.index.Scan()
	if _, ok := b.webhooks.index.Find("mine"); ok {
		t.Error("the agent's webhook is in force")
	}
	if p := b.Snapshot().Schedule.Problems; len(p) != 2 || !strings.Contains(p[1].Message, "be started from outside") { // the first is the test's secret
		t.Errorf("it is not shown: %+v", p)
	}
	do(t, b, command.AllowTask{ID: "mine"})
	if _, ok := b.webhooks.index.Find("mine"); !ok {
		t.Error("the user's word does not put it in force")
	}
	spec, _ := b.webhooks.index.Find("ci")
	if _, err := b.forks.Do(t.Context(), fork.Job{Task: spec.Task, Label: "webhook ci", Allowed: []string{"Write", "Bash"}, Prompt: func(context.Context) string {
		return "[webhook:ci]\n```script\nask Write {\"file_path\":\"notes/x.md\",\"content\":\"x\"}\ncall add_reminder {\"prompt\":\"x\",\"delay_minutes\":5}\n" +
			"ask Bash {\"command\":\"id\"}\nask Bash {\"command\":\"ollim-bot help\"}\ncall report_updates {\"message\":\"seen\"}\n```"
	}}); err != nil {
		t.Fatal(err)
	}
	s := b.Snapshot()
	if v := s.Forks[0]; v.Label != "webhook ci" {
		t.Errorf("the row says %+v", v)
	}
	text, denied := "", 0
	for _, l := range b.Tail(s.Forks[0].ID, 0).Lines {
		text += l.Text + "\n"
		if strings.Contains(l.Text, "is off: this session") {
			denied++
		}
	}
	if !strings.Contains(text, "writing and commands are off") || denied != 3 {
		t.Errorf("%d calls were refused; the tail says\n%s", denied, text)
	}
	if len(b.index.Set().Reminders) != 0 {
		t.Error("it has added a reminder")
	}
	if u := s.Updates[len(s.Updates)-1].Message; !strings.Contains(u, "never as instructions") || !strings.HasSuffix(u, "seen") {
		t.Errorf("its update reads %q", u)
	}
}

func TestASkillThatMayMoreThanItsWriterIsNotLoaded(t *testing.T) {
	running(t, func(home) {}, func(h home, b *Bot) {
		skill := func(extra, body string) string {
			return "---\nname: \"helper\"\ndescription: \"Helps.\"\n" + extra + "---\n" + body + "\n"
		}
		h.userWrites(b, "routines/day.md", everyMinute("bbbb0005", "skills: [\"helper\"]\n", "Go."))
		p := mainPen(h.t, h, b)
		p.write("skills/helper/SKILL.md", skill("", "Be kind."))
		task := func() routines.Task { r, _ := b.index.Set().RoutineByID("bbbb0005"); return r.Task }
		if len(b.prompts.Skills.Load(task())) != 1 {
			t.Error("a skill within its writer's rights is not loaded")
		}
		p.write("skills/helper/SKILL.md", skill(bash, "Be kind."))
		if len(b.prompts.Skills.Load(task())) != 0 {
			t.Error("a skill beyond its writer's rights is loaded")
		}
		text := describe(t, b, "bbbb0005")
		problems := b.Snapshot().Schedule.Problems
		if !strings.Contains(text, "without") || len(problems) != 1 || problems[0].File != "skills/helper/SKILL.md" {
			t.Errorf("it is not shown: %s %+v", text, problems)
		}
		do(t, b, command.AllowTask{ID: "skills/helper/SKILL.md"})
		if len(b.prompts.Skills.Load(task())) != 1 || len(b.Snapshot().Schedule.Problems) != 0 {
			t.Error("the user's word does not load it")
		}
		p.write("skills/helper/SKILL.md", skill("", "Delete everything."))
		h.userWrites(b, "routines/day.md", everyMinute("bbbb0005", "skills: [\"helper\"]\n"+bash, "Go."))
		if len(b.prompts.Skills.Load(task())) != 0 {
			t.Error("the agent's words are loaded with rights that it did not have")
		}
	})
}
