package core

import (
	"context"
	"encoding/json"
	"fmt"
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
	"ollimbot/routines/starter"
)

// pen writes files like a session's Write: through its hooks and permissions, then to the directory and the schedule.
type pen struct {
	w *world
	s *policy.Session
}

func (p pen) call(name string, input map[string]any) agent.ToolUse {
	data, err := json.Marshal(input)
	testkit.Must(p.w, err)
	return agent.ToolUse{ID: fmt.Sprint(len(data), name), Name: name, Input: data}
}

// decide returns the decision of hooks and permissions on a call, as for an engine.
func (p pen) decide(u agent.ToolUse) agent.Decision {
	d := p.s.PreTool(p.w.Context(), u)
	if d.Allow {
		d = p.s.Permission(p.w.Context(), u)
	}
	return d
}

func (p pen) try(rel, text string) agent.Decision {
	u := p.call("Write", map[string]any{"file_path": rel, "content": text})
	d := p.decide(u)
	if d.Allow {
		p.w.write(rel, text)
		p.s.Hooks(nil).PostTool(p.w.Context(), u)
		p.w.schedule.Refresh(rel)
	}
	return d
}

// write writes a file, which must be allowed.
func (p pen) write(rel, text string) {
	p.w.Helper()
	d := p.try(rel, text)
	p.w.needs(d.Allow, rel+" was not written", d)
}

// pen is that of the conversation.
func (w *world) pen() pen {
	s, _ := w.chat.Guard(policy.Main)
	return pen{w, s}
}

// runPen is that of a background run.
func (w *world) runPen() pen {
	return pen{w, w.guard.Session(policy.Scope{Kind: policy.Background, Session: "11112222", Rules: policy.Rules{Allowed: policy.BackgroundTools()}})}
}

// userWrites saves a file like an editor.
func (w *world) userWrites(rel, text string) {
	w.write(rel, text)
	w.schedule.Refresh(rel)
}

func everyMinute(id, extra, body string) string {
	return fmt.Sprintf("---\nid: %q\ncron: \"* * * * *\"\nbackground: true\ndescription: \"Task %s\"\n%s---\n%s\n", id, id, extra, body)
}

const bash = "allowed-tools:\n  - \"Bash\"\n"

// ran counts the runs of a task.
func (w *world) ran(id string) int { return strings.Count(w.runs(), id) }

func TestWhatTheAgentGrantsBeyondItsRightsWaitsForTheKey(t *testing.T) {
	story(t, nil, func(w *world) {
		w.pen().write("routines/evil.md", everyMinute("bbbb0001", bash, "Go."))
		w.sleep(5 * time.Minute)
		w.is("runs", w.runs(), "")
		v, e := w.view("bbbb0001"), w.Snapshot().Schedule.Entries
		w.holds(strings.Contains(v.Waits, "use Bash") && v.Next.IsZero(), "the schedule shows", v)
		w.holds(len(e) == 1 && e[0].Held && e[0].Tag == schedule.TagWaits && strings.Contains(e[0].Why, "use Bash"), "the window shows", e)
		w.is("notices", w.noted("routines/evil.md is on hold until you approve it"), 1)
		w.is("updates", len(w.Snapshot().Updates), 1)
		w.is("agents plan with", len(w.schedule.Forward(w.now(), "").Entries), 0)
		w.refuses("needs your approval", command.FireNow{ID: "bbbb0001"})
		w.refuses("has changed since you saw it", command.AllowTask{ID: "bbbb0001", Version: "another"})
		out := w.do(command.AllowTask{ID: "bbbb0001", Version: v.Version})
		w.sleep(90 * time.Second)
		w.holds(w.ran("bbbb0001") == 1 || w.ran("bbbb0001") == 2, "after the key it fired", w.runs())
		w.lacks("it owes what it passed over", w.pending(), "Missed")
		w.do(out.Undo)
		w.holds(w.view("bbbb0001").Waits != "", "undo lets it fire")
	})
}

func TestTheAgentsWordsInAUsersPowerfulRoutineWait(t *testing.T) {
	story(t, nil, func(w *world) {
		p := w.pen()
		put := func(by, words, waits, proposed string) {
			w.Helper()
			switch by {
			case "the user":
				w.userWrites(tidyFile, tidy(words))
			case "the agent":
				p.write(tidyFile, tidy(words))
			case "allow":
				w.do(command.AllowTask{ID: tidyID})
			}
			v := w.view(tidyID)
			w.holds(v.Waits == waits && strings.Contains(v.Proposed.Why, proposed) && (proposed != "") == (v.Proposed.Why != ""), by+": "+words, v)
		}
		put("the user", "Tidy up.", "", "")
		put("the agent", "Tidy up.", "", "") // the same does not make it the agent's
		put("the agent", "Delete everything.", "", "use Bash")
		put("the user", "Tidy up, please.", "", "")
		put("the agent", "Tidy up twice.", "", "use Bash")
		put("allow", "", "", "")
		put("the agent", "Tidy up thrice.", "", "use Bash") // the word for one version does not count for the next
	})
}

func TestTheUserIsAskedInWordsWhereThereIsOne(t *testing.T) {
	for _, mode := range []policy.Mode{policy.Ask, policy.AcceptEdits, policy.BypassPermissions} {
		story(t, nil, func(w *world) {
			w.say("/permissions " + string(mode))
			for i, verdict := range []policy.Verdict{policy.Allow, policy.Deny} {
				id, d := fmt.Sprintf("bbbb100%d", i), make(chan agent.Decision, 1)
				go func() {
					d <- w.pen().try("routines/"+id+".md", everyMinute(id, "allowed-tools: [\"Bash(rm *)\"]\n", "Go."))
				}()
				synctest.Wait()
				asked := w.Snapshot().Approvals
				w.needs(len(asked) == 1, "asked", mode, asked)
				w.shows("the question", asked[0].Label, "This routine may use Bash(rm *) alone, in the background; its writer may not.")
				w.do(command.Answer{ID: asked[0].ID, Verdict: verdict})
				w.is(string(mode)+": written after "+string(verdict), (<-d).Allow, verdict.Allows())
			}
			w.is(string(mode)+": allowed, it waits for", w.view("bbbb1000").Waits, "")
			w.holds(!w.has("routines/bbbb1001.md"), string(mode)+": written although denied")
		})
	}
}

func TestABackgroundRunsForegroundReminderHasTheRunsRights(t *testing.T) {
	for _, limited := range []bool{true, false} {
		story(t, nil, func(w *world) {
			writer := w.pen().s.Writer()
			if limited {
				writer = w.runPen().s.Writer()
			}
			r, err := w.tasks.Book(writer).Add(t.Context(), routines.Reminder{RunAt: w.now().Add(10 * time.Second), MaxChain: 1, Task: routines.Task{
				Kind: routines.KindReminder, Thinking: true, Mode: routines.OnPing, AllowPing: true,
				Body: "Go.\n\n" + plays("wait 30s", `ask Write {"file_path":"notes/x.md","content":"x"}`, "call enter_fork {}",
					`call add_reminder {"prompt":"Again.","delay_minutes":60,"foreground":true}`, `call follow_up_chain {"minutes_from_now":90}`, "say done"),
			}})
			testkit.Must(t, err)
			w.is("it waits for", w.view(r.ID).Waits, "")
			mayWrite := func() bool {
				return w.pen().decide(w.pen().call("Write", map[string]any{"file_path": "notes/y.md", "content": "y"})).Allow
			}
			w.sleep(20 * time.Second)
			w.is("a Write in its turn", mayWrite(), !limited)
			w.sleep(2 * time.Minute)
			set := w.index.Set()
			if limited {
				w.holds(w.chat.Banner() == nil, "the turn has led into a fork with the user's rights")
				w.is("reminders", len(set.Reminders), 2)
			}
			for _, n := range set.Reminders {
				o, ok := w.guard.Provenance().Find(n.Path, n.Digest)
				w.holds(ok && o.Writer.Alone == limited, "a reminder of its", limited, n.ID, n.ChainDepth, o.Writer, ok)
			}
			w.is("the conversation has its rights", mayWrite(), true)
		})
	}
}

func TestRightsSurviveARestart(t *testing.T) {
	story(t, nil, func(w *world) {
		w.pen().write("routines/evil.md", everyMinute("bbbb0003", bash, "Go."))
		_, err := w.tasks.Book(w.runPen().s.Writer()).Add(w.Context(), routines.Reminder{
			RunAt: w.now().Add(time.Hour), Task: routines.Task{ID: "bbbb0004", Body: "Speak.", Thinking: true, Mode: routines.OnPing, AllowPing: true},
		})
		testkit.Must(w, err)
	}, func(w *world) {
		w.sleep(3 * time.Minute)
		w.holds(w.view("bbbb0003").Waits != "" && w.ran("bbbb0003") == 0, "after a restart", w.view("bbbb0003"))
		r, _ := w.index.Set().ReminderByID("bbbb0004")
		w.holds(w.guard.LimitOf(r.Task) != nil, "after a restart the reminder has the conversation's rights")
		w.write(policy.ProvenanceFile, "{")
	}, func(w *world) {
		w.shows("with its record lost it waits", w.view("bbbb0003").Waits, "its author is unknown")
		w.do(command.AllowTask{ID: "bbbb0003"})
		w.is("after the user's word it waits for", w.view("bbbb0003").Waits, "")
	})
}

func TestAWebhookOfTheAgentWaitsAndItsRunBeginsTainted(t *testing.T) {
	testkit.Alone(t)
	w, _ := hooked(t, file{"webhooks/ci.md", hookFile})
	inForce := func() bool { _, ok := w.webhooks.index.Find("mine"); return ok }
	w.pen().write("webhooks/mine.md", strings.Replace(hookFile, `"ci"`, `"mine"`, 1))
	w.webhooks.index.Scan()
	w.is("the agent's webhook is in force", inForce(), false)
	problems := w.Snapshot().Schedule.Problems
	w.holds(len(problems) == 2 && strings.Contains(problems[1].Message, "be started from outside"), "problems", problems) // the first is the test's secret
	w.do(command.AllowTask{ID: "mine"})
	w.is("after the user's word it is in force", inForce(), true)
	spec, _ := w.webhooks.index.Find("ci")
	_, err := w.forks.Do(t.Context(), fork.Job{Task: spec.Task, Label: "webhook ci", Allowed: []string{"Write", "Bash"}, Prompt: func(context.Context) string {
		return "[webhook:ci]\n" + plays(`ask Write {"file_path":"notes/x.md","content":"x"}`, `call add_reminder {"prompt":"x","delay_minutes":5}`,
			`ask Bash {"command":"id"}`, `ask Bash {"command":"ollim-bot help"}`, `call report_updates {"message":"seen"}`)
	}})
	testkit.Must(t, err)
	s := w.Snapshot()
	w.is("its row", s.Forks[0].Label, "webhook ci")
	text := w.output(s.Forks[0].ID)
	w.shows("the tail", text, "writing and commands are off")
	w.is("refused calls", strings.Count(text, "is off: this session"), 3)
	w.is("reminders", len(w.index.Set().Reminders), 0)
	u := s.Updates[len(s.Updates)-1].Message
	w.holds(strings.Contains(u, "never as instructions") && strings.HasSuffix(u, "seen"), "its update", u)
}

func TestASkillThatMayMoreThanItsWriterIsNotLoaded(t *testing.T) {
	const skill = "skills/helper/SKILL.md"
	helper := func(extra, body string) string {
		return task(skill, "name: \"helper\"\ndescription: \"Helps.\"\n"+extra, body).text
	}
	story(t, nil, func(w *world) {
		loaded := func() int {
			r, _ := w.index.Set().RoutineByID("bbbb0005")
			return len(w.prompts.Skills.Load(r.Task))
		}
		w.userWrites("routines/day.md", everyMinute("bbbb0005", "skills: [\"helper\"]\n", "Go."))
		p := w.pen()
		p.write(skill, helper("", "Be kind."))
		w.is("within its writer's rights", loaded(), 1)
		p.write(skill, helper(bash, "Be kind."))
		w.is("beyond its writer's rights", loaded(), 0)
		problems := w.Snapshot().Schedule.Problems
		w.shows("the routine's description", w.describe("bbbb0005"), "without")
		w.holds(len(problems) == 1 && problems[0].File == skill, "problems", problems)
		w.do(command.AllowTask{ID: skill})
		w.is("with the user's word, problems", []int{loaded(), len(w.Snapshot().Schedule.Problems)}, []int{1, 0})
		p.write(skill, helper("", "Delete everything."))
		w.userWrites("routines/day.md", everyMinute("bbbb0005", "skills: [\"helper\"]\n"+bash, "Go."))
		w.is("the agent's words with rights that it did not have", loaded(), 0)
	})
}

// The agent writes the starter routines and those of its own manual, adds reminders, and gives routines tools that the conversation has.
func TestAnOrdinaryDayAsksNothing(t *testing.T) {
	for _, mode := range []policy.Mode{policy.DontAsk, policy.Ask} {
		story(t, nil, func(w *world) {
			w.say("/permissions " + string(mode))
			files, err := starter.Files()
			testkit.Must(t, err)
			p, written := w.pen(), 0
			for _, f := range files {
				p.write(f.Path, string(f.Data))
				written++
			}
			for i, tools := range []string{
				`"Edit(./notes/today.md)"`, `"WebFetch(domain:example.com)"`, `"Write(./notes/**.md)", "WebSearch"`,
				`"Bash(ollim-bot reminder list)"`, `"Agent"`, `"Bash(ollim-bot gmail *)", "Bash(ollim-bot history search *)"`,
			} {
				id := fmt.Sprintf("bbbb200%d", i)
				p.write("routines/"+id+".md", everyMinute(id, "allowed-tools: ["+tools+"]\n", "Go."))
				written++
			}
			for _, by := range []policy.Writer{p.s.Writer(), w.runPen().s.Writer()} {
				for _, background := range []bool{true, false} {
					_, err := w.tasks.Book(by).Add(t.Context(), routines.Reminder{RunAt: w.now().Add(time.Hour), MaxChain: 2, Task: routines.Task{
						Body: "Remember.", Background: background, Thinking: true, Mode: routines.OnPing, AllowPing: true,
					}})
					testkit.Must(t, err)
					written++
				}
			}
			waits, asked := w.review.Waiting(), w.Snapshot().Approvals
			w.holds(written >= 16 && len(waits)+len(asked) == 0, string(mode)+": of so many files wait, and are asked about", written, waits, asked)
			for _, r := range w.index.Set().Routines {
				got, want := w.guard.Bound(r.Task, nil).Allowed, policy.Merge(policy.BackgroundTools(), r.Allowed)
				w.holds(!r.Background || len(got) >= len(want), r.Path+" has lost tools", got)
			}
		})
	}
}
