package pane_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/tuitest"
)

// A story is a row of a table: a pane in a state, and its steps, a line each: what is done => what is seen and answered then.
// The pane is drawn after each line.
//
//	schedule.down tail.find   actions by their IDs
//	"words" enter ctrl+o      what is typed into a pane that takes text
//	{two\nlines}              what is pasted
//	>down >"9:00" >enter      what is typed into the dialog that the pane has opened; >{pasted}; >load reads what it wants
//	[is:error]                the first row of the schedule that a filter leaves is selected
//	(a run starts)            a change of the snapshot, of the row or of happenings
//	esc                       leaves a filter, a search, a tail
//	~1s @80x14                time that passes; the size that is drawn from now on, first 80×12
//	zoom blur readonly        from now on the pane is a page; does not have the focus; changes nothing
//	note                      the screen is remembered; as noted: it is that one again
//	load                      what the pane wants is read
//	<Remind>                  a click on that text, which carries out what it means; <<Remind> a click where its row begins
//	#tail.next=f9             other keys from now on, none where none follow, of one pane as forks/tail.next; # resets them
//
// What is seen are texts with " | " between them, in quotes where blanks at their ends count:
//
//	!14:05                it is not seen
//	does Say Text=hi      the last answer carries it out; nothing: it neither does, asks, edits nor opens anything
//	says, asks, opens, reads, copies, leads to, edits, sends … its toast, question, dialog, page, copy, place, file, command has the text
//	page: Due ⏎- Milk     it reads that and no more, where ⏎ ends a line
//	for c0ffee00          it reads that task
//	form: ▸ dontAsk       the dialog shows it
//	once: muted           it is seen once; twice: two times; in order: one, other
//	4: now                the line of that number has it, counted from 0
//	unseen: 1             so many failures are unseen; copied: 2 lines; unread: the page does not have it
//	wants MarkSeen …      the command that the pane wants by itself
//	title: failed         the title has it; above: the screen above its rule; with a ! before they do not
//	hints: tab complete   the help line has it; !hints: it does not
//	closes, stays open    what becomes of the dialog
//	state: following      the title says it, and no more; in one line: the pane in a line has it
type story struct {
	name, pane string
	on         change
	steps      string
	happen     map[string]change
}

// ender is a pane of which esc ends something.
type ender interface{ End(c pane.Context) bool }

type change = func(*core.Snapshot)

func tell(t *testing.T, stories []story) {
	t.Helper()
	for _, row := range stories {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(row.pane)
				if row.on != nil {
					s.next(row.on)
				}
				(&player{stage: s, t: t, w: 80, h: 12, own: row.happen}).plays(row.steps)
			})
		})
	}
}

// player is the stage of a story.
type player struct {
	*stage
	t      *testing.T
	w, h   int
	own    map[string]change
	blur   bool
	noted  string
	ledger *ledger         // the runs that load reads
	places []action.Change // of keys
	at     string          // the step
	answer pane.Answer
	dialog pane.Dialog
	opened pane.Answer // which has opened it
}

var actionID = regexp.MustCompile(`^[a-z]+\.[a-z-]+[0-9]?$`)

// keyOf is a key by its name: esc is what ends a pane's filter, and escape the key.
func keyOf(name string) (tea.KeyPressMsg, bool) {
	return tuitest.Key(map[bool]string{true: "esc", false: name}[name == "escape"])
}

func (p *player) plays(steps string) {
	p.t.Helper()
	p.screen(p.w, p.h)
	for s := range tuitest.Steps(steps) {
		p.at = s.Line
		for _, in := range s.Inputs {
			p.input(in)
		}
		screen := p.screen(p.w, p.h)
		for _, text := range s.Texts {
			p.expects(screen, text)
		}
	}
}

func (p *player) input(in string) {
	p.t.Helper()
	key, isKey := keyOf(strings.TrimPrefix(in, ">"))
	inner := strings.Trim(in, `>"()[]`)
	switch happens := p.own[inner]; {
	case in == "esc":
		p.Pane.(ender).End(p.c)
	case in == "zoom":
		p.c.Zoomed = true
		p.Sync(p.c)
	case in == "blur":
		p.blur = true
	case in == "note":
		p.noted = p.screen(p.w, p.h)
	case in == "readonly":
		p.c.ReadOnly = true
	case in == "load":
		p.settle(p.t, p.ledger)
	case in[0] == '<':
		p.click(strings.TrimLeft(strings.TrimSuffix(in, ">"), "<"), in[1] == '<')
	case in[0] == '#':
		p.rekey(in[1:])
	case in[0] == '>':
		if p.dialog == nil {
			p.t.Fatalf("%s: no dialog is open: %#v", p.at, p.answer)
		}
		switch {
		case isKey:
			p.answers(p.dialog.Update(p.c, key))
			return
		case in == ">load":
			p.answers(p.opened.Load(p.t.Context(), servers{})(p.c))
			return
		case in[1] == '{':
			p.answers(p.dialog.Update(p.c, tea.PasteMsg{Content: in[2 : len(in)-1]}))
			return
		}
		tuitest.Type(inner, func(key tea.KeyPressMsg) { p.answers(p.dialog.Update(p.c, key)) })
	case actionID.MatchString(in):
		p.answers(p.do(action.ID(in)))
	case isKey:
		if !p.Capture() {
			p.t.Fatalf("%s: the pane takes no text", p.at)
		}
		p.answers(p.Type(p.c, key))
	case in[0] == '"':
		p.answers(p.keys(p.t, inner))
	case in[0] == '{':
		text, err := strconv.Unquote(`"` + in[1:len(in)-1] + `"`)
		testkit.Must(p.t, err)
		p.answers(p.paste(text))
	case in[0] == '[':
		p.find(p.t, in[1:len(in)-1])
	case in[0] == '~':
		d, err := time.ParseDuration(in[1:])
		testkit.Must(p.t, err)
		time.Sleep(d)
	case in[0] == '@':
		_, err := fmt.Sscanf(in, "@%dx%d", &p.w, &p.h)
		testkit.Must(p.t, err)
	case happens != nil, happenings[inner] != nil:
		if happens == nil {
			happens = happenings[inner]
		}
		p.next(happens)
	default:
		p.t.Fatalf("%s: no input %q", p.at, in)
	}
}

// click presses the first place where a text is, or where its row begins.
func (p *player) click(text string, beside bool) {
	p.t.Helper()
	for _, row := range p.Draw(p.c, p.w, p.h, !p.blur) {
		before, _, found := strings.Cut(ansi.Strip(row.Text), text)
		if !found {
			continue
		}
		x := ansi.StringWidth(before)
		if beside {
			x = 0
		}
		p.answer = pane.Answer{}
		if id := p.Press(p.c, row.At(x), !p.blur); id != "" {
			p.answers(p.do(id))
		}
		return
	}
	p.t.Fatalf("%s: no %q in\n%s", p.at, text, p.screen(p.w, p.h))
}

// rekey gives an action other keys.
func (p *player) rekey(to string) {
	p.t.Helper()
	name, keys, _ := strings.Cut(to, "=")
	if p.places = append(p.places, action.Change{ID: action.ID(name), Keys: strings.Fields(keys)}); to == "" {
		p.places = nil
	}
	if of, id, both := strings.Cut(name, "/"); both {
		p.places[len(p.places)-1].Pane, p.places[len(p.places)-1].ID = action.Pane(of), action.ID(id)
	}
	var refused []action.Refusal
	if p.c.Keys, refused = (action.Keys{}).Change(p.places); len(refused) > 0 {
		p.t.Fatalf("%s: refused %+v", p.at, refused)
	}
}

func (p *player) screen(w, h int) string {
	return strings.Join(drawn(p, p.c, w, h, !p.blur), "\n")
}

func (p *player) answers(a pane.Answer) {
	p.answer = a
	if a.Open != nil {
		p.dialog, p.opened = a.Open, a
	}
}

func (p *player) expects(screen, text string) {
	p.t.Helper()
	fails := func(got any) { p.t.Errorf("%s: %s: it is %v in\n%s", p.at, text, got, screen) }
	hasIt := func(got, want string) {
		if !strings.Contains(got, want) || got == "" {
			fails(got)
		}
	}
	kind, rest, _ := strings.Cut(text, " ")
	a := p.answer
	switch kind {
	case "does":
		if tuitest.Words(a.Do) != rest {
			fails(tuitest.Words(a.Do))
		}
	case "sends":
		if tuitest.Words(a.Send) != rest {
			fails(tuitest.Words(a.Send))
		}
	case "nothing":
		if a.Do != nil || a.Ask != nil || a.Open != nil || a.Edit != nil || a.Send != nil {
			fails(fmt.Sprintf("%+v", a))
		}
	case "says":
		hasIt(a.Toast, rest)
	case "asks":
		if a.Ask == nil {
			fails("no question")
		} else {
			hasIt(strings.Join([]string{a.Ask.Text, a.Ask.Yes, a.Ask.No, tuitest.Words(a.Ask.Do)}, " / "), rest)
		}
	case "opens":
		if a.Open == nil {
			fails("no dialog")
		} else {
			hasIt(a.Open.Title(), rest)
		}
	case "reads":
		hasIt(read(a), strings.ReplaceAll(rest, "⏎", "\n"))
	case "page:":
		if got := read(a); got != strings.ReplaceAll(rest, "⏎", "\n") {
			fails(got)
		}
	case "copies":
		hasIt(a.Copy, rest)
	case "for":
		if got := readFor(p.t, a); got != rest {
			fails(got)
		}
	case "leads":
		if got := strings.TrimSpace("to " + string(a.Focus) + " " + a.Item); got != rest {
			fails(got)
		}
	case "edits":
		if a.Edit == nil || fmt.Sprintf("%s:%d:%d", a.Edit.File, a.Edit.Line, a.Edit.Column) != rest {
			fails(a.Edit)
		}
	case "form:":
		hasIt(strings.Join(p.dialog.Draw(p.c, 100, 20), "\n"), rest)
	case "state:":
		if got := p.State(p.c); got != rest {
			fails(got)
		}
	case "0:", "2:", "4:", "9:", "14:", "18:", "25:":
		n, _ := strconv.Atoi(strings.TrimSuffix(kind, ":"))
		hasIt(strings.Split(screen, "\n")[n], rest)
	case "once:", "twice:":
		if n := strings.Count(screen, rest); n != map[string]int{"once:": 1, "twice:": 2}[kind] {
			fails(n)
		}
	case "unseen:":
		if n := len(p.Pane.(interface{ Unseen(*core.Snapshot) []string }).Unseen(p.c.Snap)); fmt.Sprint(n) != rest {
			fails(n)
		}
	case "wants":
		if got := tuitest.Words(p.Pane.(pane.Loader).Wants(p.c).Do); got != rest {
			fails(got)
		}
	case "copied:":
		if n := strings.Count(a.Copy, "\n"); fmt.Sprint(n, " lines") != rest {
			fails(n)
		}
	case "unread:":
		if page := a.Open.Title() + read(a); strings.Contains(page, rest) {
			fails(page)
		}
	case "as":
		if rest == "noted" {
			if screen != p.noted {
				fails("not " + p.noted)
			}
			break
		}
		_, rows, _ := strings.Cut(screen, "newest ")
		if rows, _, _ = strings.Cut(rows, " of 9 "); rows != fmt.Sprint(strings.Count(screen, "not answered")) {
			fails(rows)
		}
	case "title:", "!title:", "above:", "!above:":
		got := p.State(p.c)
		if strings.HasSuffix(kind, "above:") {
			got, _, _ = strings.Cut(screen, "\n──")
		}
		if strings.Contains(got, rest) == (kind[0] == '!') {
			fails(got)
		}
	case "hints:", "!hints:":
		if strings.Contains(p.hints(), rest) != (kind == "hints:") {
			fails(p.hints())
		}
	case "in":
		left := screen
		for _, one := range strings.Split(strings.TrimPrefix(rest, "order: "), ", ") {
			_, after, found := strings.Cut(left, one)
			if !found {
				fails(one)
			}
			left = after
		}
	case "closes", "stays":
		if a.Close != (kind == "closes") {
			fails(a.Close)
		}
	case "line:":
		hasIt(p.Line(p.c, 60), rest)
	default:
		gone := strings.HasPrefix(text, "!")
		text = strings.TrimPrefix(text, "!")
		if len(text) > 1 && text[0] == '"' {
			text = strings.Trim(text, `"`)
		}
		if strings.Contains(screen, text) == gone {
			p.t.Errorf("%s: %q is seen: %t\n%s", p.at, text, !gone, screen)
		}
	}
}

// happenings are changes that stories of more than one table need.
var happenings = map[string]change{
	"a run starts":       start("99999999", noon.Add(time.Second)),
	"another run starts": start("aaaaaaaa", noon.Add(2*time.Second)),
	"a third run starts": start("bbbbbbbb", noon.Add(3*time.Second)),
	"nothing happens":    func(*core.Snapshot) {},
	"the first is answered": func(c *core.Snapshot) {
		c.Approvals = c.Approvals[1:]
	},
	"all are answered": func(c *core.Snapshot) { c.Approvals = nil },
	"the fork ends":    func(c *core.Snapshot) { c.Fork = nil },
	"the bot answers":  func(c *core.Snapshot) { c.Busy = true },
}
