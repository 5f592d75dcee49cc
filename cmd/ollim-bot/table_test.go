package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store/storetest"
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
	for _, c := range []struct {
		name  string
		table []command.Command
		there bool
	}{
		{"poke", append([]command.Command{poke}, was...), true},
		{"status", was, true}, // each surface has code of its own for it
		{"status", without("status"), false},
		{"snooze", without("snooze"), false}, // in no list of Discord's, and the only one of them with a key
	} {
		command.Table = c.table
		where := strings.Join(placesOf(t, c.name), ", ")
		want := ""
		if c.there {
			want = "tree, page of the command line, manual, completion, help of the shell, palette, Discord, card of /help, plain mode, /, a shell beside the bot"
		}
		if where != want {
			t.Errorf("%s is in %q, want %q", c.name, where, want)
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
	out, _ := w.shell("help")
	found("help of the shell", strings.Contains(out, "\n  "+name+" "))
	c := pane.Context{Theme: theme.New(theme.Options{Plain: true}), Snap: &core.Snapshot{}}
	p := dialog.OpenPalette(c, action.Budget, func(action.Action) string { return "" }, nil).Open
	p.Update(c, tea.PasteMsg{Content: name[:4]})
	found("palette", strings.Contains(strings.Join(p.Draw(c, 100, 40), "\n"), " "+name+" "))

	w.start()
	found("Discord", slices.ContainsFunc(w.fake.State().Commands, func(c discordtest.Command) bool { return c.Name == name }))
	w.fake.User().Slash("help")
	state := w.fake.Wait(t, "the card of /help", func(s discordtest.State) bool { return strings.Contains(said(s), "`/help`") })
	found("card of /help", strings.Contains(said(state), "`/"+name+"`"))
	w.types("help all")
	found("plain mode", strings.Contains(w.out.String(), "\n"+name+": ") || strings.Contains(w.out.String(), "\n"+name+" TASK: "))
	line := name
	if name == poke.Name {
		line += " email"
	}
	before := len(w.out.String())
	w.types("/" + line)
	answer := w.out.String()[before:]
	found("/", !strings.Contains(answer, "there is no command /"+name))
	_, status := w.shell(strings.Fields(line)...)
	found("a shell beside the bot", status == exitDone)
	if name == poke.Name && slices.Contains(places, "Discord") {
		w.pokes()
	}
	w.stop()
	return places
}

// said is all that the bot has said in Discord.
func said(s discordtest.State) (text string) {
	for _, m := range s.Messages {
		text += m.Content + "\n"
		for _, e := range m.Embeds {
			text += e.Title + "\n" + e.Description + "\n"
			for _, f := range e.Fields {
				text += f.Value + "\n"
			}
		}
	}
	return text
}

// tableWorld is the program in this process, because its table is exchanged: a bot in plain mode with Discord.
type tableWorld struct {
	program // without a process of its own
	t       *testing.T
	fake    *discordtest.Server
	env     map[string]string
	ended   chan int
}

func newTableWorld(t *testing.T) *tableWorld {
	t.Helper()
	w := &tableWorld{program: program{tb: t}, t: t, ended: make(chan int, 1)}
	dir := storetest.At(t, filepath.Join(t.TempDir(), "data"))
	storetest.Put(t, dir, "routines/email.md", "---\nid: \"aaaa1111\"\ncron: \"0 9 * * *\"\ndescription: \"Email sweep\"\n---\nLook.\n")
	storetest.Put(t, dir, "routines/plants.md", "---\nid: \"bbbb2222\"\ncron: \"0 9 * * *\"\ndescription: \"Plants\"\n---\nLook.\n")
	w.fake = discordtest.Start(t, discordtest.Options{Token: fakeToken})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the program said:\n%s", w.out.String())
		}
	})
	w.env = map[string]string{
		"OLLIM_DATA_DIR": dir.Root(), "OLLIM_TIMEZONE": "UTC", "HOME": t.TempDir(), "PATH": os.Getenv("PATH"), "TMPDIR": t.TempDir(), "DISCORD_TOKEN": fakeToken,
		"OLLIM_DISCORD_API": w.fake.URL() + "/api/v10", "OLLIM_USER_NAME": "Sam", "OLLIM_BOT_NAME": "Ollie",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull,
	}
	return w
}

// shell runs a command line.
func (w *tableWorld) shell(args ...string) (out string, status int) {
	var text bytes.Buffer
	status = run(args, inProcess(w.env, "", &text, &text))
	return text.String(), status
}

func (w *tableWorld) start() {
	w.t.Helper()
	in, keys := io.Pipe()
	w.in = keys
	p := inProcess(w.env, "", &w.out, &w.out)
	p.In = in
	go func() { w.ended <- run([]string{"run", "--plain", "--engine", "script", "--pace", "0"}, p) }()
	w.fake.Wait(w.t, "the bot is there", func(s discordtest.State) bool {
		return len(s.Commands) >= len(command.List(command.InDiscord)) && len(s.Messages) > 0
	})
}

// types types a line, and waits until what follows it is answered too.
func (w *tableWorld) types(line string) {
	w.t.Helper()
	before := strings.Count(w.out.String(), "prefix takes")
	_, err := io.WriteString(w.in, line+"\nmore all\nprefix\n")
	testkit.Must(w.t, err)
	w.until(line, func() bool { return strings.Count(w.out.String(), "prefix takes") > before })
}

// pokes pokes a task from everywhere.
func (w *tableWorld) pokes() {
	w.t.Helper()
	for from, do := range map[string]func(){
		"plain mode": func() { w.types("poke plants") },
		"/":          func() { w.types("/poke plants") },
		"Discord":    func() { w.fake.User().Slash("poke", discordtest.Option{Name: "task", Value: "Plants"}) },
		"a shell":    func() { w.shell("poke", "bbbb") },
	} {
		_, status := w.shell("resume", "plants")
		do()
		w.until("a task poked from "+from, func() bool {
			out, _ := w.shell("routine", "list")
			return status == exitDone && strings.Contains(out, "Plants  (paused")
		})
	}
	w.fake.User().Type("poke", "task", "pla")
	w.fake.Wait(w.t, "a suggestion", func(s discordtest.State) bool {
		return slices.ContainsFunc(s.Interactions, func(i discordtest.Interaction) bool { return len(i.Choices) == 1 && i.Choices[0] == "Plants" })
	})
}

func (w *tableWorld) stop() {
	w.t.Helper()
	_, err := io.WriteString(w.in, "quit\n")
	testkit.Must(w.t, err)
	testkit.Must(w.t, w.in.Close())
	if status := <-w.ended; status != exitDone {
		w.t.Errorf("the program ended with %d:\n%s", status, w.out.String())
	}
}
