package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/storage/logs"
)

// choosy is an engine with a model that ignores every thinking setting.
type choosy struct{ agent.Engine }

func (choosy) Status() agent.Status {
	return agent.Status{Models: func() []agent.Model {
		return []agent.Model{
			{Names: []string{"opus", ""}, AlwaysThinks: true, OwnMeasure: true}, {Names: []string{"sonnet"}, OwnMeasure: true}, {Names: []string{"haiku"}},
		}
	}}
}
func (choosy) OnChange(func()) {}

// warning is a working engine of an untested version.
type warning struct {
	agent.Engine
	changed func()
}

func (*warning) Status() agent.Status      { return agent.Status{Version: "9.0.0", Warning: "it is newer"} }
func (w *warning) OnChange(changed func()) { w.changed = changed }

func TestWhatTheEngineWarnsOfIsSaidOnceAndKeepsNothingUp(t *testing.T) {
	e := &warning{Engine: offline()}
	setting{engine: e}.tell(t, func(w *world) {
		for range 3 {
			e.changed()
		}
		s := w.Snapshot().Engine
		w.is("said", w.noted("it is newer"), 1)
		w.holds(s.OK && s.State == "ready" && s.Warning == "it is newer", "the engine", s)
	})
}

func TestASettingOfThinkingThatTheModelDoesNotObeyIsSaid(t *testing.T) {
	setting{engine: choosy{offline()}}.tell(t, func(w *world) {
		for _, c := range []struct{ line, says string }{
			{"/thinking off", "(default) still thinks"},
			{"/thinking", "(default) still thinks"},
			{"/thinking 8000", "(default) decides how much it thinks"},
			{"/model sonnet", "sonnet decides how much it thinks"},
			{"/thinking off", ""},
			{"/model opus", "opus still thinks"},
			{"/thinking adaptive", ""},
			{"/config thinking_fork off", "opus still thinks"},
			{"/model haiku", ""},
			{"/thinking 8000", ""},
		} {
			got := w.say(c.line).Message
			w.holds(strings.Contains(got, c.says) && (c.says != "" || !strings.Contains(got, "thinks")), c.line+" answers", got)
		}
	})
}

// leaky panics during a login, and includes a secret in its errors.
type leaky struct {
	*script.Engine
	fault bool
}

func (e leaky) Login(context.Context) (string, error) {
	if e.fault {
		panic("the seam")
	}
	return "", fmt.Errorf("dial https://x/?key=hunter2-hunter2: %w", context.DeadlineExceeded)
}
func (leaky) Finish(context.Context, string) error { return errors.New("hunter2-hunter2") }

// A fault is a sentence for the user and a place in the log; secrets reach neither the user nor any notice.
func TestFaultsAndSecretsOfALoginStayInTheLog(t *testing.T) {
	for _, fault := range []bool{true, false} {
		log, book := logs.New(logs.Options{})
		book.Hide("hunter2-hunter2")
		e := leaky{script.New(script.Options{}), fault}
		setting{engine: e, change: func(o *Options) { o.Log, o.Book = log, book }}.tell(t, func(w *world) {
			_, err := w.Do(w.Context(), command.Login{})
			if fault {
				fails(w, "the login", err, "internal fault in command.Login: the seam")
				var all strings.Builder
				for _, l := range book.Tail(0).Lines {
					all.WriteString(l.Text + "\n")
				}
				w.shows("the log", all.String(), "core.leaky.Login (engine_test.go:")
				return
			}
			w.holds(errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "hunter2"), "the login", err)
			w.log.Error("a key of hunter2-hunter2 was refused", "error", errors.New("hunter2-hunter2 is wrong"))
			w.chat.Aside("see hunter2-hunter2")
			s := w.Snapshot()
			text := fmt.Sprintf("%+v %+v", s.Notices, s.Chat)
			w.lacks("shown", text, "hunter2")
			w.shows("shown", text, "[hidden] is wrong")
		})
	}
}
