package dialog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
)

// Palette is the search for everything. It finds actions by name, ID, key or synonym,
// and tasks, runs, updates and settings with what can be done with them. Disabled
// items are listed too. Below the list is what enter does with the marked item, or
// why it is disabled.
type Palette struct {
	keys    action.Keys // that items names
	focus   action.Pane // when it opened
	off     func(action.Action) string
	items   []*item         // the actions, those of the focused pane first
	things  []*item         // tasks, runs, updates and settings
	runs    map[string]bool // the IDs of the runs in things
	verbs   []verb
	context pane.Context // of the last input
	shown   []*item
	query   widget.Query
	list    widget.List
	top     int // the first visible row
	rows    int // of the list in the last drawing
}

// item is an entry of the palette: an action, a verb with a task such as "fire tea", a run,
// an update or a setting.
type item struct {
	action action.Action // what the search matches; made up for items that are not actions
	name   string        // "Schedule: Fire the selected task now"
	kind   string        // "task"; empty for an action
	does   string        // shown for the marked one: "enter fires it now; its schedule is unchanged"
	fill   string        // what enter writes in the place of the query; empty carries the item out
	at     time.Time     // of a run
	is     []string      // the states of a run
	off    string        // why it is disabled; empty if it is not
	do     func(c pane.Context) pane.Answer
	match  action.Match
}

const (
	// paletteRows is how many items are visible at once, if the screen has room.
	paletteRows = 18
	// roomyPalette is the height from which the list's height does not depend on the marked
	// item.
	roomyPalette = 10
	// storedRuns is how many of the stored runs are searched.
	storedRuns = 20_000
)

// OpenPalette opens the palette with the actions, those of the focused pane first. off
// returns why an action is disabled, or "". found are the settings. The stored runs are
// added once they have been read.
func OpenPalette(c pane.Context, focus action.Pane, off func(action.Action) string, found []Found) pane.Answer {
	p := &Palette{focus: focus, off: off, runs: map[string]bool{}, verbs: verbs(found), context: c}
	p.query.Open()
	p.fillThings(c, found)
	p.fill(c.Keys)
	p.search()
	return pane.Answer{Open: p, Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
		page, _ := r.Runs(ctx, command.Mark{}, storedRuns) // as many as can be read
		return func(c pane.Context) pane.Answer {
			p.addRuns(c, page.Runs)
			p.refresh()
			return pane.Answer{}
		}
	}}
}

// fill lists the actions with the user's keys.
func (p *Palette) fill(keys action.Keys) {
	p.keys, p.items = keys, nil
	for _, where := range fromFocus(p.focus) {
		for _, a := range keys.Of(where) {
			if a.ID != action.Palette {
				do := func(pane.Context) pane.Answer { return pane.Answer{Run: &a} }
				p.items = append(p.items, &item{action: a, name: a.Name(), does: about(a), do: do})
			}
		}
	}
}

// about is what a title does not say, and the name for keys.yaml.
func about(a action.Action) string {
	if a.More == "" {
		return textIDIs + string(a.ID)
	}
	return textIDIs + string(a.ID) + " · " + a.More
}

// fromFocus are the panes in order: the focused one, what works everywhere, the others.
func fromFocus(focus action.Pane) []action.Pane {
	order := []action.Pane{focus, action.Everywhere}
	for _, p := range action.AllPanes {
		if p != focus {
			order = append(order, p)
		}
	}
	return order
}

// why is why an item is disabled; empty if it is not.
func (p *Palette) why(it *item) string {
	if it.kind == "" {
		return p.off(it.action)
	}
	return it.off
}

// refresh searches again and keeps the mark.
func (p *Palette) refresh() {
	at := p.list.At
	p.search()
	p.list.At = at
	p.list.Clamp(len(p.shown))
}

// Title implements pane.Dialog.
func (p *Palette) Title() string { return "Actions" }

// Draw implements pane.Dialog.
func (p *Palette) Draw(c pane.Context, w, h int) []string {
	if p.keys != c.Keys {
		p.fill(c.Keys)
		p.refresh()
	}
	w = min(w-Air, 90)
	b, where := brush(c), textNoAction
	if _, runs := listed(strings.TrimSpace(p.query.Text())); runs {
		where = "no run matches"
	}
	var facts []string
	if len(p.shown) > 0 {
		facts = p.facts(b, w, h)
		where = strconv.Itoa(p.list.At+1) + textOf + strconv.Itoa(len(p.shown))
	}
	p.rows = max(1, min(paletteRows+2, h-1)-len(facts))
	p.top = p.list.Window(p.list.At, p.list.At, len(p.shown), p.rows)
	lines := []string{p.query.Line(b, w, where, nil)}
	for i := p.top; i < min(p.top+p.rows, len(p.shown)); i++ {
		lines = append(lines, p.row(c, w, i))
	}
	lines = append(widget.Fill(lines, w, p.rows+1), facts...)
	return lines[:min(len(lines), h)]
}

// facts are the lines below the list: why the marked item is disabled, in at most half of
// the screen, and its name in keys.yaml or what enter does.
func (p *Palette) facts(b widget.Brush, w, h int) []string {
	it := p.shown[p.list.At]
	var out []string
	if off := p.why(it); off != "" {
		for _, t := range widget.WrapN("off: "+off, w-2, max(1, h/2), b.Theme.Glyph(theme.Ellipsis)) {
			out = append(out, b.Line(w, widget.Span{Text: " "}, widget.Span{Role: theme.Warn, Text: t}))
		}
	} else if h >= roomyPalette {
		out = append(out, widget.Blank(w))
	}
	out = append(out, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + it.does}))
	return out[:min(len(out), max(0, h-2))] // the list takes precedence
}

// row is an item and its keys. A disabled one is labelled, because colours may not be
// visible.
func (p *Palette) row(c pane.Context, w, i int) string {
	it, b, mark := p.shown[i], brush(c), "  "
	if i == p.list.At {
		b.Back, mark = theme.Select, c.Theme.Glyph(theme.Pointer)+" "
	}
	role, right := theme.Text, []widget.Span{{}, {Role: theme.Key, Text: it.action.KeyNames(c.Theme.ASCII())}, {Role: theme.Dim, Text: it.kind + " "}}
	if p.why(it) != "" {
		role, right[0] = theme.Dim, widget.Span{Role: theme.Warn, Text: "off  "}
	}
	return b.Spread(w, append([]widget.Span{{Text: " " + mark}}, p.query.Mark(role, it.name)...), right)
}

// Update implements pane.Dialog.
func (p *Palette) Update(c pane.Context, msg tea.Msg) pane.Answer {
	p.context = c
	switch msg := msg.(type) {
	case pane.Click:
		// The first line is the query, the last ones are facts.
		if msg.Beside || msg.Y == 0 || msg.Y > p.rows {
			return pane.Answer{Close: msg.Beside}
		}
		return p.run(c, p.top+msg.Y-1)
	case pane.Wheel:
		p.list.Move(map[bool]string{true: "up", false: "down"}[msg.Up], len(p.shown), p.rows)
	case tea.PasteMsg:
		p.write(msg)
	case tea.KeyPressMsg:
		return p.key(c, msg)
	}
	return pane.Answer{}
}

func (p *Palette) key(c pane.Context, msg tea.KeyPressMsg) pane.Answer {
	switch {
	case closes(msg):
		return pane.Answer{Close: true}
	case key.Matches(msg, paletteKeys.run):
		return p.run(c, p.list.At)
	case key.Matches(msg, paletteKeys.up):
		p.move(-1)
	case msg.String() == "tab" && p.list.At < len(p.shown) && p.shown[p.list.At].kind == textACommand:
		p.complete(p.shown[p.list.At])
	case key.Matches(msg, paletteKeys.down):
		p.move(+1)
	default:
		p.write(msg)
	}
	return pane.Answer{}
}

// complete writes a command line into the query.
func (p *Palette) complete(it *item) {
	p.query.Set(cmp.Or(it.fill, it.name))
	p.search()
}

// move wraps around at the ends.
func (p *Palette) move(by int) {
	if n := len(p.shown); n > 0 {
		p.list.At = (p.list.At + by + n) % n
	}
}

// write passes a key or a paste to the query.
func (p *Palette) write(msg tea.Msg) {
	changed, verb := p.query.Type(msg)
	p.list.Move(verb, len(p.shown), p.rows)
	if changed {
		p.search()
	}
}

// run carries out the item in a row.
func (p *Palette) run(c pane.Context, i int) pane.Answer {
	if i < 0 || i >= len(p.shown) {
		return pane.Answer{}
	}
	it := p.shown[i]
	if it.off != "" && it.kind == textACommand { // the reason is below the list
		return pane.Answer{}
	}
	if it.fill != "" {
		p.complete(it)
		return pane.Answer{}
	}
	if it.off != "" {
		return pane.Answer{Close: true, Toast: it.name + ": " + it.off}
	}
	a := it.do(c)
	a.Close = true
	return a
}

// Hint implements pane.Dialog.
func (p *Palette) Hint() []key.Binding {
	return []key.Binding{paletteKeys.run, paletteKeys.down, paletteKeys.shut}
}

// verb is a command line of the palette: a word and its argument, such as "capacity 7".
type verb struct {
	name, usage, about string
	// choices are the possible arguments; nil if the argument is free.
	choices []string
	// reads means that it changes nothing.
	reads bool
	// make returns what the command does with an argument, or why it cannot.
	make func(c pane.Context, arg string) (pane.Answer, error)
}

// verbs are the commands with an argument that is no run.
func verbs(found []Found) []verb {
	budgetOf := func(wrong string, validate func(n *int) error, of func(n *int) command.Value) func(pane.Context, string) (pane.Answer, error) {
		return func(_ pane.Context, arg string) (pane.Answer, error) {
			n, err := number(arg, wrong, validate)
			return pane.Answer{Do: of(n)}, err
		}
	}
	look := func(name string) func(pane.Context, string) (pane.Answer, error) {
		return func(_ pane.Context, arg string) (pane.Answer, error) {
			return pane.Answer{Look: map[string]string{name: arg}}, nil
		}
	}
	var keys []string
	for _, f := range found {
		keys = append(keys, f.Key)
	}
	return []verb{
		{"capacity", "NUMBER", textSetsCapacity, nil, false, budgetOf(textNoCapacity, func(n *int) error { return budget.Validate(n, nil) },
			func(n *int) command.Value { return command.SetBudget{Capacity: n} })},
		{"refill", "MINUTES", textSetsRefill, nil, false, budgetOf(textNoMinutes, func(n *int) error { return budget.Validate(nil, n) },
			func(n *int) command.Value { return command.SetBudget{RefillMinutes: n} })},
		{"theme", "NAME", textSetsLook, settings.Choices["theme"], true, look("theme")},
		{"layout", "NAME", textSetsLook, settings.Choices["layout"], true, look("layout")},
		{"settings", "KEY", textOpensSetting, keys, true, func(_ pane.Context, arg string) (pane.Answer, error) {
			return pane.Answer{Focus: action.Settings, Item: arg}, nil
		}},
		{"account", "DAY", textShowsAccount, nil, true, OpenAccount},
	}
}

// lists are the commands whose argument is a filter of the runs.
var lists = []string{"runs", "day"}

// listed is the filter of a command that lists runs; ok is false if the text is none.
func listed(text string) (filter query.Query, ok bool) {
	name, arg, _ := strings.Cut(text, " ")
	return query.Parse(arg), slices.Contains(lists, name) && strings.TrimSpace(arg) != ""
}

// commands are the command lines that a text is, or that it begins.
func (p *Palette) commands(text string) (out []*item) {
	name, arg, typed := strings.Cut(strings.ToLower(text), " ")
	arg = strings.TrimSpace(arg)
	for _, v := range p.verbs {
		switch {
		case !typed && (name == "" || !strings.HasPrefix(v.name, name)), typed && v.name != name:
		case arg == "" && v.choices == nil:
			out = append(out, p.line(v, v.usage, v.name+" ", ""))
		case v.choices == nil:
			_, err := v.make(p.context, arg)
			out = append(out, p.line(v, arg, "", reason(err)))
		default:
			was := len(out)
			for _, choice := range v.choices {
				if typed && strings.Contains(choice, arg) {
					out = append(out, p.line(v, choice, "", ""))
				}
			}
			if len(out) == was {
				why := ""
				if typed {
					why = fmt.Sprintf("%q is none of %s", arg, strings.Join(v.choices, ", "))
				}
				out = append(out, p.line(v, cmp.Or(arg, v.usage), v.name+" ", why))
			}
		}
	}
	if name != "" && !slices.Contains(lists, name) && !slices.ContainsFunc(p.verbs, func(v verb) bool { return v.name == name }) {
		out = append(out, p.shellLines(text)...)
	}
	for _, list := range lists {
		v := verb{name: list, about: textListsRuns, reads: true, make: func(_ pane.Context, arg string) (pane.Answer, error) {
			return pane.Answer{Focus: action.Forks, Zoom: true, Query: arg}, nil
		}}
		switch {
		case !typed && name != "" && strings.HasPrefix(list, name):
			out = append(out, p.line(v, textListUsage, list+" ", ""))
		case typed && name == list && arg != "" && len(p.shown) > 0: // some run matches
			out = append(out, p.line(v, arg, "", ""))
		}
	}
	return out
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// line is the entry of a command with an argument. fill is what enter writes instead of
// carrying it out.
func (p *Palette) line(v verb, arg, fill, off string) *item {
	it := &item{name: v.name + " " + arg, kind: textACommand, does: textEnter + v.about, fill: fill, off: off}
	if p.context.ReadOnly && !v.reads && fill == "" {
		it.off = cmp.Or(off, textReadOnlyHere)
	}
	it.do = func(c pane.Context) pane.Answer {
		a, _ := v.make(c, arg) // it was tried when it was listed
		return a
	}
	return it
}

// shellLines is the command line that a text is, if it is one.
func (p *Palette) shellLines(text string) []*item {
	line := command.Line{Text: strings.TrimLeft(text, " ")}
	row, args, err := line.Row()
	if err != nil || row.Takes(command.Task) && len(p.shown) > 0 { // the list names the tasks
		return nil
	}
	it := &item{name: strings.TrimSpace(text), kind: textACommand, does: row.About}
	var do command.Value = line
	if row.Make != nil {
		to, _, err := row.Read(strings.Join(args[len(strings.Fields(row.Name)):], " "), command.Reading{Times: p.context.Snap.Times(), Find: p.context.Snap.Find})
		if it.off = reason(err); !row.Asks { // the bot asks about a line
			do = row.Make(to)
		}
	}
	if p.context.ReadOnly && row.Writes {
		it.off = textReadOnlyHere
	}
	it.do = func(pane.Context) pane.Answer { return pane.Answer{Do: do} }
	return []*item{it}
}

// sentence sends words to the agent, if the palette has nothing else to do with them.
func (p *Palette) sentence(text string) []*item {
	_, runs := listed(strings.TrimSpace(text))
	if runs || !strings.Contains(text, " ") || slices.ContainsFunc(p.shown, func(it *item) bool { return p.why(it) == "" }) {
		return nil
	}
	it := &item{name: fmt.Sprintf(textSend, text), kind: textACommand, does: textSends}
	if p.context.ReadOnly {
		it.off = textReadOnlyHere
	}
	it.do = func(pane.Context) pane.Answer { return pane.Answer{Do: command.Say{Text: text}} }
	return []*item{it}
}

// shellNames are the names of commands that a text begins.
func (p *Palette) shellNames(text string) (out []*item) {
	for _, row := range command.List(command.InShell) {
		if row.In&command.InPlain != 0 && len(row.Name) > len(text) && strings.HasPrefix(row.Name, strings.ToLower(text)) &&
			!slices.ContainsFunc(p.verbs, func(v verb) bool { return v.name == row.Name }) {
			out = append(out, &item{name: row.Name, kind: textACommand, does: row.About, fill: row.Name + " "})
		}
	}
	return out
}
