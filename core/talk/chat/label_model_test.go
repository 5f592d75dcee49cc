package chat

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
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
		stageAt(t, root, nil, func(o *Options) { o.Engine = a }).run(func(s *stage) {
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
		if _, err := s.Clear(s.t.Context()); err != nil {
			s.t.Error(err)
		}
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
