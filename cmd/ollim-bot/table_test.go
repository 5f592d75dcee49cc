package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

// poke is a command that no program has: it pauses a task.
var poke = command.Command{
	Name: "poke", Group: "overview", About: "Poke a task.", Short: "poke a task", Example: "poke email", Writes: true,
	In:   command.InShell | command.InPlain | command.InBot | command.InSlash | command.InDiscord,
	Args: []command.Arg{{Kind: command.Task, Name: "task", About: "the task"}},
	Make: func(s command.Subject) command.Value { return command.Pause{ID: s.ID, Paused: true} },
}

// A row of the table is a command everywhere, and without its row there is no command anywhere.
func TestARowIsACommandEverywhereAndNoRowIsNone(t *testing.T) {
	testkit.Alone(t)
	was := command.Table
	defer func() { command.Table = was }()
	without := func(name string) []command.Command {
		return slices.DeleteFunc(slices.Clone(was), func(c command.Command) bool { return c.Name == name })
	}
	const everywhere = "tree, page of the command line, manual, completion, help of the shell, palette, Discord, card of /help, plain mode, /, " +
		"a shell beside the bot"
	for _, c := range []struct {
		name  string
		table []command.Command
		where string
	}{
		{"poke", append([]command.Command{poke}, was...), everywhere},
		{"status", was, everywhere}, // each surface has code of its own for it
		{"status", without("status"), ""},
		{"snooze", without("snooze"), ""}, // in no list of Discord's, and the only one of them with a key
	} {
		command.Table = c.table
		if where := strings.Join(placesOf(t, c.name), ", "); where != c.where {
			t.Errorf("%s is in %q, want %q", c.name, where, c.where)
		}
	}
}

// placesOf looks for a command in the running program and around it.
func placesOf(t *testing.T, name string) (places []string) {
	t.Helper()
	found := func(place string, is bool) {
		if is {
			places = append(places, place)
		}
	}
	root := commandTree(t).Model.Node
	found("tree", slices.Contains(commandNames(root), name))
	found("page of the command line", strings.Contains(commandTable(t), "\n| `"+name))
	found("manual", strings.Contains(manPage(root), "\n.SS ollim\\-bot "+name))
	found("completion", slices.ContainsFunc(completer{}.offers(root, []string{""}), func(l string) bool { return strings.HasPrefix(l, name+"\t") }))
	found("keys of the dashboard", slices.ContainsFunc(action.Of(command.Table), func(a action.Action) bool { return a.Act == name }))
	w := newTableWorld(t)
	out, _ := w.do("help")
	found("help of the shell", strings.Contains(out, "\n  "+name+" "))
	c := pane.Context{Theme: theme.New(theme.Options{Plain: true}), Snap: &core.Snapshot{}}
	p := dialog.OpenPalette(c, action.Budget, func(action.Action) string { return "" }, nil).Open
	p.Update(c, tea.PasteMsg{Content: name[:4]})
	found("palette", strings.Contains(strings.Join(p.Draw(c, 100, 40), "\n"), " "+name+" "))

	w.start()
	found("Discord", slices.ContainsFunc(w.fake.State().Commands, func(c discordtest.Command) bool { return c.Name == name }))
	w.fake.User().Slash("help")
	w.until("the card of /help", func() bool { return strings.Contains(w.card(), "`/help`") })
	found("card of /help", strings.Contains(w.card(), "`/"+name+"`"))
	said := w.types("help all")
	found("plain mode", strings.Contains(said, "\n"+name+": ") || strings.Contains(said, "\n"+name+" TASK: "))
	line := name
	if name == poke.Name {
		line += " email"
	}
	found("/", !strings.Contains(w.types("/"+line), "there is no command /"+name))
	_, status := w.do(line)
	found("a shell beside the bot", status == exitDone)
	if name == poke.Name && slices.Contains(places, "Discord") {
		w.pokes()
	}
	w.stop()
	return places
}

// tableWorld is the program in this process, because its table is exchanged: a bot in plain mode with Discord.
type tableWorld struct {
	*discordWorld
	status chan int
}

func newTableWorld(t *testing.T) *tableWorld {
	t.Helper()
	w := &tableWorld{newDiscordWorld(t), make(chan int, 1)}
	w.program = &program{tb: t}
	for id, title := range map[string]string{"aaaa1111": "Email sweep", "bbbb2222": "Plants"} {
		w.file("routines/"+id+".md", fmt.Sprintf("---\nid: %q\ncron: \"0 9 * * *\"\ndescription: %q\n---\nLook.\n", id, title))
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the program said:\n%s", w.out.String())
		}
	})
	return w
}

// do carries out a command line.
func (w *tableWorld) do(line string) (out string, status int) {
	var text bytes.Buffer
	status = run(strings.Fields(line), inProcess(w.env, "", &text, &text))
	return text.String(), status
}

func (w *tableWorld) start() {
	w.t.Helper()
	in, keys := io.Pipe()
	w.in = keys
	p := inProcess(w.env, "", &w.out, &w.out)
	p.In = in
	go func() { w.status <- run([]string{"run", "--plain", "--engine", "script", "--pace", "0"}, p) }()
	w.until("the bot is there", func() bool {
		s := w.fake.State()
		return len(s.Commands) >= len(command.List(command.InDiscord)) && len(s.Messages) > 0
	})
}

// types types a line, and gives what is said until what follows it is answered too.
func (w *tableWorld) types(line string) string {
	w.t.Helper()
	before := len(w.out.String())
	w.program.types(line + "\nmore all\nprefix")
	w.until(line, func() bool { return strings.Contains(w.out.String()[before:], "prefix takes") })
	return w.out.String()[before:]
}

// card is what the embeds of the bot's messages in Discord say.
func (w *tableWorld) card() (text string) {
	for _, m := range w.fake.State().Messages {
		for _, e := range m.Embeds {
			text += fmt.Sprintf("%+v", e)
			for _, f := range e.Fields {
				text += f.Value
			}
		}
	}
	return text
}

// pokes pokes a task from everywhere.
func (w *tableWorld) pokes() {
	w.t.Helper()
	for from, do := range map[string]func(){
		"plain mode": func() { w.types("poke plants") },
		"/":          func() { w.types("/poke plants") },
		"Discord":    func() { w.fake.User().Slash("poke", discordtest.Option{Name: "task", Value: "Plants"}) },
		"a shell":    func() { w.do("poke bbbb") },
	} {
		_, status := w.do("resume plants")
		do()
		w.until("a task poked from "+from, func() bool {
			out, _ := w.do("routine list")
			return status == exitDone && strings.Contains(out, "Plants  (paused")
		})
	}
	w.fake.User().Type("poke", "task", "pla")
	w.until("a suggestion", func() bool {
		return slices.ContainsFunc(w.fake.State().Interactions, func(i discordtest.Interaction) bool {
			return slices.Equal(i.Choices, []string{"Plants"})
		})
	})
}

func (w *tableWorld) stop() {
	w.t.Helper()
	w.program.types("quit")
	testkit.Must(w.t, w.in.Close())
	if status := <-w.status; status != exitDone {
		w.t.Errorf("the program ended with %d", status)
	}
}
