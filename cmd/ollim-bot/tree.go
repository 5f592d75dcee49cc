package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ollimbot/cmd/internal/console"
	"ollimbot/cmd/internal/doctor"
	"ollimbot/cmd/internal/google"
	"ollimbot/cmd/internal/setup"
	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/tui/plain"
	dashboard "ollimbot/tui/settings"
)

// The command tree is that of the rows of the command table: their order, names, other names and help. Completion, the
// manual page and docs/cli.md are made from the tree.

// commands are the commands with code of their own, each in its own file, by the names of their rows. A command without a
// row does not exist.
type commands struct {
	Run    runCmd `default:"withargs"`
	Attach attachCmd

	Init setup.Cmd
	Demo demoCmd

	Status   statusCmd
	Snapshot snapshotCmd
	Schedule scheduleCmd
	Account  accountCmd
	Preview  previewCmd
	Cron     cronCmd
	Check    doctor.CheckCmd
	Budget   budgetCmds
	Costs    costsCmd
	Week     weekCmd
	Updates  updatesCmd
	Runs     runsCmds
	History  historyCmds

	Audit auditCmd

	Lift     liftCmd
	Settings settingsCmd

	Routine  routineCmds
	Reminder reminderCmds

	Allow   allowCmd
	Deny    denyCmd
	Cancel  cancelCmd
	Restore restoreCmd

	Tasks google.TasksCmd
	Cal   google.CalendarCmd
	Gmail google.MailCmd

	Webhook webhookCmds
	MCP     mcpCmds

	Auth authCmds

	Service serviceCmds
	Update  updateCmd
	Restart restartCmd

	Completion completionCmd
	Man        manCmd

	Doctor  doctor.Cmd
	Version versionCmd
	Help    helpCmd
}

// branches returns the command that the first argument names, or all commands. Building
// the whole tree would take a third of a command's time.
func (t *cli) branches(first string) (all []kong.Option) {
	only := ""
	if c, ok := command.Find(command.InShell, first); ok && first != "help" {
		only = c.Name
	}
	own := map[string]bool{}
	for f, v := range reflect.ValueOf(&t.commands).Elem().Fields() {
		name := strings.ToLower(f.Name)
		if own[name] = true; only == "" || only == name {
			all = append(all, kong.DynamicCommand(name, "", "", v.Addr().Interface(), string(f.Tag)))
		}
	}
	for _, c := range command.List(command.InShell) {
		group, _, _ := strings.Cut(c.Name, " ")
		if (c.Make != nil || c.Plain) && !own[c.Name] && (only == "" || only == group) {
			all = append(all, kong.DynamicCommand(c.Name, "", "", arguments(c)))
		}
	}
	return all
}

// arrange makes the commands below a node those of the table.
func arrange(n *kong.Node, path string) {
	if path == "" { // a command of two words, which arguments has made, into its group
		n.Children = slices.DeleteFunc(n.Children, func(child *kong.Node) bool {
			name, last, below := strings.Cut(child.Name, " ")
			if group := slices.IndexFunc(n.Children, func(g *kong.Node) bool { return g.Name == name }); below && group >= 0 {
				child.Name, child.Parent = last, n.Children[group]
				child.Parent.Children = append(child.Parent.Children, child)
			}
			return below
		})
	}
	rows, place := command.List(command.InShell), map[*kong.Node]int{}
	n.Children = slices.DeleteFunc(n.Children, func(child *kong.Node) bool {
		name := strings.TrimSpace(path + " " + child.Name)
		i := slices.IndexFunc(rows, func(c command.Command) bool { return c.Name == name })
		if i < 0 {
			return true
		}
		child.Help, place[child] = rows[i].About, i
		if path == "" { // in a group, they are names of the whole command
			child.Aliases = rows[i].Aliases
		}
		arrange(child, name)
		return false
	})
	slices.SortStableFunc(n.Children, func(a, b *kong.Node) int { return cmp.Compare(place[a], place[b]) })
	if !slices.Contains(n.Children, n.DefaultCmd) {
		n.DefaultCmd = nil
	}
}

// arguments makes the arguments of a row, and the flag of commands that answer either way, for the parser. The last
// argument may have several words. A line of plain mode is all words.
func arguments(c command.Command) any {
	fields, args := []reflect.StructField{{Name: "Out", Type: reflect.TypeFor[console.AsJSON](), Tag: `embed:""`}}, c.Args
	if c.Plain {
		if fields = nil; c.Usage != "" {
			of := command.Words
			if len(args) > 0 { // for completion
				of = args[0].Kind
			}
			args = []command.Arg{{Kind: of, Name: "words", About: "As in plain mode: " + c.Usage + ".", Optional: true}}
		}
	}
	for i, a := range args {
		of, tag := reflect.TypeFor[string](), fmt.Sprintf(`arg:"" name:%q help:%q complete:%q`, a.Name, a.About, a.Kind.Thing())
		switch {
		case a.Kind == command.Choice && a.Optional:
			tag += fmt.Sprintf(` optional:"" enum:%q default:""`, strings.Join(a.Choices, ",")+",")
		case a.Kind == command.Choice:
			tag += fmt.Sprintf(` enum:%q`, strings.Join(a.Choices, ","))
		case a.Optional:
			tag += ` optional:""`
		}
		if i == len(args)-1 && a.Kind != command.Choice {
			of = reflect.TypeFor[[]string]()
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("Arg%d", i), Type: of, Tag: reflect.StructTag(tag)})
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// act carries out a command whose row makes its value, or that is a line of plain mode.
func (p *process) act(c command.Command, n *kong.Node) error {
	at, err := p.Open()
	if err != nil {
		return err
	}
	bot, err := p.Bot(at)
	if err != nil {
		return err
	}
	var words []string
	for _, v := range n.Positional {
		if list, several := v.Target.Interface().([]string); several {
			words = append(words, list...)
			continue
		}
		words = append(words, v.Target.String())
	}
	if c.Plain {
		return p.line(bot, c, strings.Join(words, " "))
	}
	to, note, err := c.Read(strings.Join(words, " "), command.Reading{Times: at.Times(), Find: func(k command.Kind, text string) (string, error) {
		return p.find(bot, k, text)
	}})
	if wrong := new(command.ArgumentError); errors.As(err, &wrong) {
		return console.Usagef("%v", err)
	}
	if err != nil {
		return err
	}
	if note != "" {
		console.Tell(p.Err, "%s", note)
	}
	asJSON := slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "json" && f.Target.Bool() })
	return p.doing(bot, console.AsJSON{JSON: asJSON}, c.Make(to))
}

// line carries out a line of plain mode.
func (p *process) line(bot *core.Bot, c command.Command, rest string) error {
	ctx, cancel := p.Context()
	defer cancel()
	viewer := bot.Viewer(!c.Writes)
	defer viewer.Close()
	a, err := plain.Line(p.asking(ctx), viewer, c, rest, dashboard.Dir(p.Environ()))
	if wrong := new(plain.MisreadError); errors.As(err, &wrong) {
		return &console.UsageError{Text: clean.Line(wrong.Why), Help: c.Name}
	}
	if err != nil {
		return err
	}
	if p.Live != nil {
		p.Live.Undo = a.Undo
	}
	p.Print("%s", a.Text)
	return p.Unwritten()
}

// find returns the ID of the task, run or update that a text names. A text that names none is returned as it is: the bot
// knows best why it is none.
func (p *process) find(bot *core.Bot, k command.Kind, text string) (string, error) {
	s := bot.SnapshotAt(p.Now())
	found, err := command.PickOrText(k.Thing(), s.Things(k), text, k == command.Run)
	return found.ID, err
}
