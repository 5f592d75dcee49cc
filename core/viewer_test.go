package core

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/command"
)

func TestEachViewerHasWakeUpsOfItsOwn(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		one, two, gone := b.Viewer(false), b.Viewer(true), b.Viewer(false)
		gone.Close()
		gone.Close()
		b.viewers.notify()
		b.viewers.notify()
		for _, v := range []*Viewer{one, two} {
			<-v.Changed()
			select {
			case <-v.Changed():
				t.Error("a viewer is woken twice for what it has not looked at")
			default:
			}
			v.Close()
		}
		select {
		case <-gone.Changed():
			t.Error("a viewer that is closed is woken")
		default:
		}
		if n := len(b.viewers.open); n != 0 {
			t.Errorf("%d viewers are left", n)
		}
	})
}

func TestAReadOnlyViewerChangesNothing(t *testing.T) {
	prepare := func(h home) {
		h.write("skills/loud/SKILL.md", "---\nname: loud\ndescription: Loud.\n---\nHear !`touch ran; echo it`.\n")
		h.write("routines/r.md", "---\nid: \"bbbb0002\"\ncron: \"0 3 1 1 *\"\nskills: [loud]\n---\nGood morning.\n")
	}
	running(t, prepare, func(h home, b *Bot) {
		v := b.Viewer(true)
		defer v.Close()
		six := 6
		for _, c := range []command.Value{
			command.SetBudget{Capacity: &six},
			command.Say{Text: "hello"},
			command.FireNow{ID: "bbbb0002"},
			command.Pause{ID: "bbbb0002", Paused: true},
			command.EditTask{ID: "bbbb0002"},
			command.DeleteTask{ID: "bbbb0002"},
			command.Answer{},
			command.UserActive{},
			command.MarkSeen{},
			command.SetConfig{Key: "quiet_hours", Value: "off"},
			command.Login{},
			command.Slash{Line: "/restart"},
			command.Interrupt{},
			nil,
		} {
			if _, err := v.Do(t.Context(), c); err == nil || !strings.Contains(err.Error(), "read-only") {
				t.Errorf("%T gives %v", c, err)
			}
		}
		if n := b.Snapshot().Budget.State.Capacity; n == six {
			t.Error("the budget was changed")
		}
		_, describe := v.Describe(t.Context(), "bbbb0002")
		_, costs := v.Costs(t.Context(), 1)
		_, runs := v.Runs(t.Context(), command.Mark{}, 5)
		_, past := v.Past(t.Context(), "bbbb0002")
		_, away := v.Away(t.Context())
		if err := errors.Join(describe, costs, runs, past, away); err != nil {
			t.Errorf("it does not read: %v", err)
		}
		text, err := v.Preview(t.Context(), "bbbb0002")
		if err != nil || !strings.Contains(text, "Hear !`touch ran; echo it`.") {
			t.Errorf("a preview runs the commands of a skill, or shows nothing: %v\n%s", err, text)
		}
		if h.has("ran") {
			t.Error("the command of a skill ran")
		}
	})
}

// A read-only viewer may have every line of the command line carried out that changes nothing, and no other.
func TestAReadOnlyViewerRunsOnlyLinesThatChangeNothing(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		ran := ""
		b.o.UserCommands = func(_ context.Context, args []string) (agent.CommandResult, command.Value) {
			ran = strings.Join(args, " ")
			return agent.CommandResult{Stdout: "done\n"}, nil
		}
		for readOnly, v := range map[bool]*Viewer{true: b.Viewer(true), false: b.Viewer(false)} {
			lines, refused := 0, 0
			for _, c := range command.List(command.InShell) {
				ran = ""
				line := c.Name + " 0123abcd"
				if c.Takes(command.Task) && c.Takes(command.Moment) {
					line += " 2h"
				}
				_, err := v.Do(t.Context(), command.Line{Text: line, Sure: true})
				here, may := c.In&command.InPlain != 0, !readOnly || !c.Writes
				switch {
				case here && may && (err != nil || ran != line):
					t.Errorf("read-only %v: %s ran %q, %v", readOnly, c.Name, ran, err)
				case (!here || !may) && (err == nil || ran != ""):
					t.Errorf("read-only %v: %s was carried out", readOnly, c.Name)
				case here && may:
					lines++
				default:
					refused++
				}
			}
			if lines < 20 || refused < 15 {
				t.Errorf("read-only %v: %d lines carried out, %d refused", readOnly, lines, refused)
			}
			v.Close()
		}
	})
}
