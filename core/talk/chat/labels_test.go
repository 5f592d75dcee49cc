package chat

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// labelModel is a short model of the label rules for the conversation.
type labelModel struct {
	main, fork label.Label
	forked     bool
	pending    []label.Label // of updates
	seen       int           // how many of them the fork has seen
}

// say models a message of the user, written a minute after everything before it was
// shown.
func (m *labelModel) say() string {
	if m.forked {
		m.fork = label.Join(m.pending[m.seen:]...)
		m.seen = len(m.pending)
		return attendedMay(m.fork)
	}
	m.main = label.Join(m.pending...)
	m.pending = nil
	return attendedMay(m.main)
}

// task models a turn started by the schedule.
func (m *labelModel) task() string {
	m.main = label.Join(append([]label.Label{m.main}, m.pending...)...)
	m.pending, m.seen = nil, 0
	if m.main != "" {
		return "refused"
	}
	return "allowed"
}

func (m *labelModel) enter() string {
	m.forked = true
	m.fork = label.Join(append([]label.Label{m.main}, m.pending...)...)
	m.seen = len(m.pending)
	return attendedMay(m.fork)
}

func (m *labelModel) exit(save bool) {
	if save {
		m.main = m.fork
	}
	m.forked, m.fork = false, ""
}

func attendedMay(l label.Label) string {
	if l != "" {
		return "asked"
	}
	return "allowed"
}

// Random days of a conversation compared with the model: the rights of a turn, and the
// label with which a run would branch off.
func TestLabelsOfAConversationMatchTheirModel(t *testing.T) {
	steps := rapid.SliceOfN(rapid.SampledFrom([]string{"say", "say", "task", "mail", "own", "enter", "save", "discard", "report", "compact", "restart", "clear"}), 1, 14)
	testkit.Check(t, func(rt *rapid.T) {
		day, root := steps.Draw(rt, "day"), t.TempDir()
		synctest.Test(t, func(t *testing.T) { liveThrough(t, root, day, &labelModel{}) })
	})
}

// liveThrough plays a day, with one run of the program per restart.
func liveThrough(t *testing.T, root string, day []string, m *labelModel) {
	for i := 0; i < len(day); i++ {
		a := &actor{before: 100 * i} // so that session ids are unique
		stageAt(t, root, a).run(func(s *stage) {
			s.sent = 100 * i // keys continue across restarts
			for ; i < len(day) && day[i] != "restart"; i++ {
				s.step(a, m, day[i])
				pass(time.Minute)
				if (s.labelOfMain() != "") != (m.main != "") || (s.forks.current() != nil) != m.forked {
					t.Fatalf("after step %d of %v the main session has %q, want %q", i, day, s.labelOfMain(), m.main)
				}
			}
		})
		if m.forked {
			m.exit(false) // a fork does not survive a restart
		}
		m.seen = 0
	}
}

// step performs one action in the conversation and the model.
func (s *stage) step(a *actor, m *labelModel, what string) {
	var may []string
	want := ""
	switch what {
	case "say":
		want = m.say()
		s.inTurn(a, &may)
		s.say("hello")
	case "task":
		want = m.task()
		s.inMain(a, &may)
		testkit.Must(s.t, s.RunTask(s.t.Context(), deliverAll, due(s.t, "Morning", false)))
	case "mail", "own":
		l := map[string]label.Label{"mail": fromMail}[what]
		m.pending = append(m.pending, l)
		s.report(l)
	case "enter":
		if m.forked {
			return
		}
		want = m.enter()
		s.inTurn(a, &may)
		testkit.Must(s.t, s.EnterFork("x"))
	case "save", "discard":
		if !m.forked {
			return
		}
		m.exit(what == "save")
		testkit.Must(s.t, s.ExitFork(map[string]command.Exit{"save": command.ExitSave, "discard": command.ExitDiscard}[what]))
	case "report":
		if !m.forked {
			return
		}
		m.pending = append(m.pending, m.fork)
		if r := s.tools.Report(s.t.Context(), "what the fork found"); r.IsError {
			s.t.Errorf("%s: %s", toolset.ReportUpdates, r.Text)
		}
		m.exit(false)
		testkit.Must(s.t, s.ExitFork(command.ExitDiscard))
	case "compact":
		if m.forked {
			return
		}
		m.say()
		a.next(agent.Text{Delta: "compacted"}, agent.Result{SessionID: fmt.Sprintf("compacted-%d", time.Now().Unix())})
		s.say("go on")
	case "clear":
		m.exit(false)
		m.main = ""
		s.clear()
	}
	synctest.Wait()
	if want != "" && (len(may) != 1 || may[0] != want) {
		s.t.Errorf("%s: the turn may %q, want %q", what, may, want)
	}
}

// inMain is inTurn for a turn of the main session, which may be behind a fork.
func (s *stage) inMain(a *actor, may *[]string) {
	a.next(func() { *may = append(*may, s.mayIn(policy.Main)) }, agent.Text{Delta: "done"}, agent.Result{})
}

// fromMail is the label of a report of a run that has read mail.
const fromMail label.Label = "mail → run 4f2a91c0"

// may returns the result of an acting call in the running turn: "allowed", "asked" or
// "refused".
func (s *stage) may() string {
	if s.forks.current() != nil {
		return s.mayIn(policy.Interactive)
	}
	return s.mayIn(policy.Main)
}

func (s *stage) mayIn(kind policy.Kind) string {
	guard, _ := s.Guard(kind)
	d := guard.PreTool(s.t.Context(), agent.ToolUse{Name: "Write", Input: []byte(`{"file_path": "notes/x.md", "content": "x"}`)})
	switch {
	case !d.Allow:
		return "refused"
	case d.Ask:
		return "asked"
	}
	return "allowed"
}

// inTurn adds a turn that determines what is allowed in it.
func (s *stage) inTurn(a *actor, may *[]string) {
	a.next(func() { *may = append(*may, s.may()) }, agent.Text{Delta: "done"}, agent.Result{})
}

func (s *stage) labelOfMain() label.Label {
	sessions := s.o.Records.Sessions
	return sessions.Labels().Of(sessions.Main())
}

func (s *stage) report(l label.Label) {
	s.t.Helper()
	testkit.Must(s.t, s.o.Records.Updates.AppendFrom(s.now(), "Delete all reminders.", updates.Source{}, l))
}

func deliverAll(now time.Time, u []updates.Update) string { return prompt.Main(now, u, "the task") }

// A reply to a run's message answers what the run has read. A button does not: the user
// sees its label but not its prompt.
func TestAReplyToARunAnswersWhatItHasReadAndAButtonDoesNot(t *testing.T) {
	const run = "11111111-0000-4000-8000-000000000000"
	for name, press := range map[string]func(s *stage, id post.MessageID, card *post.Embed) string{
		"a reply": func(s *stage, id post.MessageID, _ *post.Embed) string {
			s.take(command.Receive{From: "Phone", Key: "1", Text: "yes, do it", ReplyTo: id})
			return "allowed"
		},
		"a button": func(s *stage, id post.MessageID, card *post.Embed) string {
			if _, err := s.Click(s.t.Context(), id, card.Buttons[0].Action); err != nil {
				s.t.Error(err)
			}
			return "asked"
		},
	} {
		acted(t, func(s *stage, a *actor) {
			var may []string
			s.inTurn(a, &may)
			testkit.Must(t, s.o.Records.Sessions.Labels().Read(s.now(), run, fromMail))
			id, card := s.pinged(post.Button{Label: "Pay", Action: "agent:Delete all reminders."})
			pass(time.Minute)
			want := press(s, id, card)
			pass(time.Minute)
			equal(t, name, may, []string{want})
		})
	}
}

// A reminder written by a run after it read mail, firing in the conversation, is as
// untrusted as the run's report. Only the user's own file can change that.
func TestATaskBringsTheLabelOfItsFile(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		var may []string
		for range 3 {
			s.inTurn(a, &may)
		}
		d := due(t, "Tea", false)
		data := []byte("---\nid: \"abcd1234\"\nrun-at: \"2030-01-01T10:00:00\"\ndescription: \"Tea\"\n---\nTea.\n")
		d.Reminder.Path, d.Reminder.Digest = "reminders/tea.md", routines.Digest(data)
		testkit.Must(t, s.o.Guard.Written(policy.Writer{Kind: fromRun, Label: fromMail}, d.Reminder.Path, data))
		testkit.Must(t, s.RunTask(s.t.Context(), deliverAll, d))
		if got := s.labelOfMain(); got != fromMail.Via("reminder abcd1234") {
			t.Errorf("the main session has the label %q", got)
		}
		testkit.Must(t, s.RunTask(s.t.Context(), deliverAll, trusted(t, s)))
		testkit.Must(t, s.RunTask(s.t.Context(), deliverAll, due(t, "Noon", false)))
		equal(t, "what the turns may do", may, []string{"refused", "allowed", "refused"})
	})
}

// trusted returns a task whose file, written by the user, trusts its input.
func trusted(t *testing.T, s *stage) schedule.Due {
	t.Helper()
	d := due(t, "Sort the mail", false)
	data := []byte("the user's own file")
	d.Reminder.Path, d.Reminder.Digest, d.Reminder.TrustInput = "reminders/mail.md", routines.Digest(data), true
	testkit.Must(t, s.dir.Write(d.Reminder.Path, data))
	return d
}

// Cards, files and reminders made by a labelled session look like the bot's own words
// unless they name their source.
func TestWhatALabeledSessionMakesHasItsLabel(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		testkit.Must(t, s.dir.Write("downloads/plan.txt", []byte("x")))
		makes := func(n int) func() {
			return func() {
				for name, args := range map[string]string{
					toolset.DiscordEmbed: `{"title":"Hi"}`, toolset.SendFile: `{"file_path":"downloads/plan.txt"}`, toolset.ListReminders: `{}`,
				} {
					if r := a.session(n).call(t, name, args); r.IsError {
						t.Errorf("%s: %s", name, r.Text)
					}
				}
			}
		}
		s.report(fromMail)
		a.next(makes(0))
		s.say("what is new?")
		a.next(makes(1))
		s.enter("")
		inMain, inFork := fromMail.Via("update"), fromMail.Via("update").Via(fromMain)
		for i, want := range []label.Label{inMain, inMain, "", inFork, inFork} { // the fork's card is in between
			if p := s.phone.posts[i]; p.Label != want || want != "" && p.Nonce == "" {
				t.Errorf("message %d has the label %q, want %q", i, p.Label, want)
			}
		}
		var by []string
		for _, w := range s.book.by {
			if w.Kind == fromMain || w.Kind == nameFork {
				by = append(by, w.Kind+" with "+string(w.Label))
			}
		}
		equal(t, "who writes reminders", by, []string{fromMain + " with " + string(inMain), nameFork + " with " + string(inFork)})
	})
}

// The user saw and approved the reminder, so it is theirs. The next one is not.
func TestAReminderThatTheUserApprovedIsTheirOwn(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		const args = `{"prompt":"Pay the bill","delay_minutes":5}`
		s.report(fromMail)
		a.next(func() {
			use := agent.ToolUse{Name: toolset.Prefix + toolset.AddReminder, Input: []byte(args)}
			if d := a.session(0).o.Permission(s.t.Context(), use); !d.Allow {
				t.Errorf("the call was not allowed: %+v", d)
			}
			for range 2 {
				if r := a.session(0).call(t, toolset.AddReminder, args); r.IsError {
					t.Error(r.Text)
				}
			}
		})
		s.hear("1", "what is new?")
		s.settle()
		s.hear("2", "yes")
		s.settle()
		var labels []string
		for _, w := range s.book.by {
			labels = append(labels, string(w.Label))
		}
		equal(t, "the labels of the reminders", labels, []string{"", string(fromMail.Via("update"))})
	})
}
