package dialog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/tuitest"
)

// desk is a dashboard whose focus is in a pane, with a dialog over it.
type desk struct {
	pane.Context
	focus  action.Pane
	file   command.TaskFile // which the form edits
	edit   routines.Proposal
	due    command.DueTimes
	model  string // that is set
	dialog pane.Dialog
	gave   pane.Answer // to the last input
	w, h   int
}

// tuesday is when all stories begin.
var tuesday = time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)

func newDesk() *desk {
	d := &desk{focus: action.Forks, w: 78, h: 20}
	d.Context = pane.Context{Theme: tuitest.Colours, Snap: &core.Snapshot{At: tuesday, Zone: time.UTC}}
	d.Snap.Forks = []fork.View{{ID: "f1f1f1f1", State: fork.Running}}
	d.file = command.TaskFile{
		Task: routines.Task{
			Kind: routines.KindRoutine, ID: "aaaa0001", Path: "routines/tea.md", Description: "Tea", Body: "Make tea.",
			Background: true, Thinking: true, AllowPing: true, Mode: routines.OnPing, Digest: "v1",
		},
		Cron: "0 9 * * *",
	}
	return d
}

// openers are the dialogs that a story opens.
var openers = map[string]func(d *desk) pane.Dialog{
	"help": func(d *desk) pane.Dialog { return NewHelp(d.focus) },
	"new":  func(*desk) pane.Dialog { return NewTask() },
	"tea":  func(*desk) pane.Dialog { return newTask("daily 8:15", "Tea", "Make tea.") },
	"edit": func(d *desk) pane.Dialog { return editTask(d.file) },
	"mute": func(d *desk) pane.Dialog {
		return NewUntil(d.Context, "Mute until", time.Time{}, func(until time.Time) command.Value { return command.MuteUntil{Until: until} })
	},
	"snooze": func(d *desk) pane.Dialog {
		return OnTask(d.Context, schedule.TaskView{ID: "aaaa1111"}, action.ScheduleSnooze).Open
	},
	"review": func(d *desk) pane.Dialog { return NewReview("Water", "a", d.edit) },
	"welcome": func(d *desk) pane.Dialog {
		return NewWelcome(d.Context, "no Discord token", Offers{Demo: true, SetUp: true})
	},
	"login":   func(*desk) pane.Dialog { return &Login{} },
	"budget":  func(d *desk) pane.Dialog { return NewBudget(d.Context) },
	"leave":   func(d *desk) pane.Dialog { return Leaving(d.Context, true, pane.Quit) },
	"quit":    func(d *desk) pane.Dialog { return QuitClicked(d.Context) },
	"connect": func(d *desk) pane.Dialog { return Connect(d.Context, true) },
	"account": func(d *desk) pane.Dialog { return newAccount(d.Snap, "Due times", d.due) },
	"models": func(d *desk) pane.Dialog {
		set := func(value string) (command.Value, error) {
			if strings.Contains(value, "/") && value != "lab/x" {
				return nil, errors.New("no provider has that model")
			}
			return command.SetConfig{Key: "model", Value: value}, nil
		}
		a := PickModel("Model", "what the agent runs", d.model, []string{"opus", "sonnet"}, set)
		a.Load(context.Background(), models{})(d.Context)
		return a.Open
	},
	"deliveries": func(d *desk) pane.Dialog { return Deliveries(d.Snap) },
	"servers":    func(d *desk) pane.Dialog { return Servers(d.Snap) },
	"ending": func(d *desk) pane.Dialog {
		return NewUntil(d.Context, "Mute until", clockAt(16, 0), func(until time.Time) command.Value { return command.MuteUntil{Until: until} })
	},
	"starters": func(*desk) pane.Dialog { return newStarters() },
	"lines": func(*desk) pane.Dialog {
		var text []string
		for i := range 30 {
			text = append(text, fmt.Sprint("line ", i+1))
		}
		return NewPage("Lines", strings.Join(text, "\n"))
	},
	"staying": func(d *desk) pane.Dialog { return Leaving(d.Context, true, pane.Demo) },
	"engine":  func(d *desk) pane.Dialog { return Engine(d.Snap) },
	"page": func(*desk) pane.Dialog {
		p := NewPage("Update", "one\ntwo")
		p.LeadsTo(pane.Answer{Focus: action.Forks}, "open the run")
		return p
	},
	":": func(d *desk) pane.Dialog {
		return OpenPalette(d.Context, d.focus, d.off, []Found{{Key: "daily_cap", Name: "daily_cap: none"}, {Key: "quiet_hours", Name: "quiet_hours: off"}}).Open
	},
}

// models is what the providers offer.
type models struct{ pane.Reader }

func (models) Models(context.Context) ([]command.ModelChoice, error) {
	return []command.ModelChoice{{Name: "lab/x", About: "fast", Means: "it runs on lab"}}, nil
}

func (d *desk) off(a action.Action) string {
	switch {
	case a.Writes && d.ReadOnly:
		return "the dashboard is read-only; start it without --read-only to change things"
	case a.Off != nil:
		return a.Off(*d.Snap)
	}
	return ""
}

// A story is a row of a table: a desk, and its steps, a line each: what is done => what is seen and given then.
//
//	edit : help …    opens a dialog in the place of what was open
//	"words" enter    what is typed; {words} is pasted
//	<Text>           a click on it
//	~1s @40x10       time that passes; the size from now on, first 78×20
//	wheelup          a notch of the wheel
//	readonly         from now on the dashboard changes nothing
//	(refused)        what happens, of the row
//
// What is seen are texts with " | " between them, each all the words of a line, or of several lines:
//
//	!text            these words are not seen
//	first: text      the row below the query, behind its pointer; none: there is no row
//	top: text        it is in the first five lines
//	painted: text    a line with its roles
//	gives X, Y       what the last input gave
//	hints: a, b      the help line; !hints: it has no such words
type story struct {
	name   string
	on     func(d *desk)
	steps  string
	happen map[string]func(d *desk)
}

func tell(t *testing.T, stories []story) {
	t.Helper()
	for _, row := range stories {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				if row.on != nil {
					row.on(d)
				}
				for s := range tuitest.Steps(row.steps) {
					for _, in := range s.Inputs {
						if happens := row.happen[strings.Trim(in, "()")]; happens != nil {
							happens(d)
							continue
						}
						d.input(t, in)
					}
					lines := d.lines(t, s.Line)
					for _, text := range s.Texts {
						d.expects(t, s.Line, lines, text)
					}
				}
			})
		})
	}
}

func (d *desk) input(t *testing.T, in string) {
	t.Helper()
	key, named := tuitest.Key(in)
	inner := in[1 : max(2, len(in))-1]
	switch opens := openers[in]; {
	case opens != nil:
		d.dialog, d.gave = opens(d), pane.Answer{}
		d.lines(t, in)
	case in == "wheelup", in == "wheeldown":
		d.gives(pane.Wheel{Up: in == "wheelup"})
	case in == "readonly":
		d.ReadOnly = true
	case in[0] == '"':
		tuitest.Type(inner, func(key tea.KeyPressMsg) { d.gives(key) })
	case in[0] == '{':
		d.gives(tea.PasteMsg{Content: inner})
	case in[0] == '<':
		for y, line := range d.lines(t, in) {
			if before, _, found := strings.Cut(line, inner); found {
				d.gives(pane.Click{X: ansi.StringWidth(before), Y: y})
				return
			}
		}
		t.Fatalf("%s is not seen", in)
	case in[0] == '~':
		span, err := time.ParseDuration(in[1:])
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(span)
	case in[0] == '@':
		if _, err := fmt.Sscanf(in, "@%dx%d", &d.w, &d.h); err != nil {
			t.Fatal(err)
		}
	case named, len(in) == 1:
		d.gives(key)
	default:
		t.Fatalf("no input %q", in)
	}
}

func (d *desk) gives(msg tea.Msg) { d.gave = d.dialog.Update(d.Context, msg) }

// lines draws the dialog, which has to fit and to be a rectangle.
func (d *desk) lines(t interface{ Fatalf(string, ...any) }, step string) []string {
	lines := d.dialog.Draw(d.Context, d.w, d.h)
	for i, line := range lines {
		lines[i] = ansi.Strip(line)
		if n := ansi.StringWidth(line); n != ansi.StringWidth(lines[0]) || n > max(d.w, 0) || len(lines) > d.h {
			t.Fatalf("%s: line %d of %d has %d cells, of %d×%d:\n%s", step, i, len(lines), n, d.w, d.h, strings.Join(lines, "\n"))
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s: nothing is drawn", step)
	}
	return lines
}

func (d *desk) expects(t *testing.T, step string, lines []string, text string) {
	t.Helper()
	kind, want, _ := strings.Cut(text, " ")
	seen := strings.TrimRight(strings.Join(lines, "\n"), " \n")
	var got string
	switch kind {
	case "gives":
		got = given(d.gave)
	case "hints:", "!hints:":
		var words []string
		for _, b := range d.dialog.Hint() {
			words = append(words, b.Help().Key+" "+b.Help().Desc)
		}
		if got = strings.Join(words, ", "); kind == "!hints:" && !strings.Contains(got, want) {
			return
		}
	case "painted:":
		got = "nothing"
		for _, line := range d.dialog.Draw(d.Context, d.w, d.h) {
			if line = strings.TrimSpace(blanks.ReplaceAllString(tuitest.Painted(line), "  ")); strings.Contains(unpainted(line), unpainted(want)) {
				got = line
				break
			}
		}
	case "first:":
		got = cmp.Or(strings.Join(strings.Fields(strings.TrimLeft(lines[1], " ▸")), " "), "none")
	case "top:":
		got = whole(lines[:min(5, len(lines))], want)
	default:
		if words, not := strings.CutPrefix(text, "!"); not && words[0] != ' ' {
			if strings.Contains(strings.Join(strings.Fields(seen), " "), words) {
				t.Errorf("%s: %q is seen\n%s", step, words, seen)
			}
			return
		}
		got, want, kind = whole(lines, text), text, ""
	}
	if got != want {
		t.Errorf("%s: %s %s\nwant %s\n%s", step, kind, got, want, seen)
	}
}

// unpainted takes the roles out of a painted line.
func unpainted(line string) string {
	return strings.Join(strings.Fields(roleMark.ReplaceAllString(line, "")), " ")
}

var roleMark, blanks = regexp.MustCompile(`‹\w+ |›`), regexp.MustCompile(` {3,}`)

// whole are the lines, from their first words to their last ones, that a text is on; all of them if it is on none.
func whole(lines []string, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for n := 1; n <= len(lines); n++ {
		for i := 0; i+n <= len(lines); i++ {
			if part := strings.Join(strings.Fields(strings.Join(lines[i:i+n], " ")), " "); strings.Contains(part, text) {
				return part
			}
		}
	}
	return strings.Join(lines, "\n")
}

// given is all that an answer asks of the frame.
func given(a pane.Answer) string {
	var all []string
	say := func(is bool, format string, args ...any) {
		if is {
			all = append(all, strings.TrimSpace(fmt.Sprintf(format, args...)))
		}
	}
	say(a.Close, "closes")
	say(a.Do != nil, "does %s", tuitest.Words(a.Do))
	say(a.Send != nil, "sends %s", tuitest.Words(a.Send))
	if a.Open != nil {
		say(true, "opens %s", a.Open.Title())
	}
	if a.Run != nil {
		say(true, "runs %s", a.Run.ID)
	}
	if a.Edit != nil {
		say(true, "edits %s", a.Edit.File)
	}
	say(a.Focus != "", "goes to %s %s", a.Focus, a.Item)
	say(a.Query != "", "finds %s", a.Query)
	say(a.Zoom, "zooms")
	for name, value := range maps.All(a.Look) {
		say(true, "looks %s=%s", name, value)
	}
	say(a.Toast != "", "says %s", a.Toast)
	say(a.Copy != "", "copies %s", strings.ReplaceAll(a.Copy, "\n", `\n`))
	say(a.Seen, "seen")
	say(a.Leave != pane.Stay, "leaves %d", a.Leave)
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}
