package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/history"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	dashboard "ollimbot/tui/settings"
)

// filesOffered has the shell complete the name of a file.
const filesOffered = ":files"

// position is where the word that is to be completed stands.
type position struct {
	at     *kong.Node
	flags  []*kong.Flag
	values []string // what stands behind the command that is no flag
	flag   *kong.Flag
}

// follow reads the words before the one that is to be completed.
func follow(root *kong.Node, before []string) position {
	x := position{at: root, flags: flagsOf(root)}
	for _, word := range before {
		switch i := slices.IndexFunc(x.at.Children, func(c *kong.Node) bool { return c.Name == word || slices.Contains(c.Aliases, word) }); {
		case x.flag != nil:
			x.flag = nil
		case strings.HasPrefix(word, "-"):
			named := func(f *kong.Flag) bool { return "--"+f.Name == word || f.Short != 0 && "-"+string(f.Short) == word }
			if f := slices.IndexFunc(x.flags, named); f >= 0 && !x.flags[f].IsBool() {
				x.flag = x.flags[f]
			}
		case i >= 0 && len(x.values) == 0:
			x.at = x.at.Children[i]
			x.flags = flagsOf(x.at)
		default:
			x.values = append(x.values, word)
		}
	}
	return x
}

// completer knows what a shell may offer in the place of a word.
type completer struct{ *process }

// offers are the lines of what may stand in place of the last word behind the program's
// name: the word, a tab, what it is. None where it may be anything.
func (p completer) offers(root *kong.Node, words []string) []string {
	before, begun := words, ""
	if n := len(words) - 1; n >= 0 {
		before, begun = words[:n], words[n]
	}
	x := follow(root, before)
	if x.flag != nil {
		return p.offered(x.flag.Value, x)
	}
	var lines []string
	if strings.HasPrefix(begun, "-") {
		for _, f := range x.flags {
			lines = append(lines, "--"+f.Name+"\t"+f.Help)
		}
		return lines
	}
	children := x.at.Children
	if nameOf(x.at) == "help" {
		children = root.Children
		if len(x.values) == 0 {
			lines = topicOffers()
		}
	}
	for _, child := range children {
		lines = append(lines, child.Name+"\t"+child.Help)
	}
	if n, args := len(x.values), x.at.Positional; len(args) > 0 && (n < len(args) || args[len(args)-1].IsCumulative()) {
		lines = append(lines, p.offered(args[min(n, len(args)-1)], x)...)
	}
	return lines
}

// offered are what the value of a flag or an argument may be.
func (p completer) offered(v *kong.Value, x position) []string {
	kind := v.Tag.Get("complete")
	switch {
	case kind == "" && (slices.Contains([]string{"FILE", "DIR", "PLACE"}, v.Tag.PlaceHolder) || strings.HasPrefix(v.Name, "file")):
		return []string{filesOffered}
	case kind == "":
		return strings.FieldsFunc(v.Enum, func(r rune) bool { return r == ',' })
	case kind == "theme":
		return dashboard.Themes
	case kind == "zone":
		return zones(p.Getenv("ZONEINFO"))
	case kind == "setting":
		return console.Each(config.Show(config.Runtime{}), func(l config.Line) string { return l.Key + "\t" + l.About })
	}
	at, err := p.Open()
	if err != nil {
		return nil
	}
	var lines []string
	for _, line := range p.known(at, kind, x) {
		// An id is text of somebody's: a shell must not find anything in it to carry out.
		if word, about, _ := strings.Cut(line, "\t"); console.Word(word) == word {
			lines = append(lines, word+"\t"+clean.Cut(clean.Line(about), 80))
		}
	}
	return lines
}

// known is what the data directory has of a kind.
func (p completer) known(at console.DataDir, kind string, x position) (lines []string) {
	switch kind {
	case "task", string(routines.KindRoutine), string(routines.KindReminder), "waiting":
		for _, t := range p.tasks(at).Tasks() {
			if kind == "task" || kind == string(t.Kind) || kind == "waiting" && t.Waits != "" {
				lines = append(lines, t.ID+"\t"+t.Title())
			}
		}
	case "removed":
		for _, t := range routines.RemovedTasks(at.Dir, at.Now) {
			lines = append(lines, t.ID+"\t"+t.Title())
		}
	case "run":
		views, _ := ledger(at) // what cannot be read is not offered
		for _, v := range views {
			lines = append(lines, v.ID+"\t"+v.Title)
		}
	case "session":
		if past, _, err := p.history(0); err == nil {
			list, _, _ := past.List(history.Query{Limit: forksShown})
			lines = console.Each(list, func(s history.Session) string { return short(s.ID) + "\t" + s.Title })
		}
	case "webhook":
		index := webhook.NewIndex(at.Dir)
		index.Scan()
		lines = console.Each(index.Specs(false), func(s *webhook.Spec) string { return s.ID + "\t" + s.Title() })
	case "model":
		lines = append(slices.Clone(command.Models), p.Providers(at).Names()...)
	case "value":
		if len(x.values) != 1 {
			return nil
		}
		l, err := config.ShowOne(config.Runtime{}, x.values[0])
		if lines = l.Choices; err == nil && strings.HasPrefix(l.Key, "model_") {
			lines = append(p.known(at, "model", x), "default")
		}
	}
	return lines
}

// zones are the names of all time zones that this machine has.
func zones(own string) []string {
	for _, dir := range []string{own, "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"} {
		var names []string
		if dir == "" {
			continue
		}
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			name, relErr := filepath.Rel(dir, path)
			switch {
			case err != nil || relErr != nil:
				return nil //nolint:nilerr // it is not offered
			case d.IsDir() && (name == "posix" || name == "right"):
				return filepath.SkipDir
			case !d.IsDir() && name[0] >= 'A' && name[0] <= 'Z' && isZone(path):
				names = append(names, name)
			}
			return nil
		})
		if len(names) > 0 {
			return names
		}
	}
	return []string{"UTC"}
}

// isZone reports whether a file has the rules of a time zone in it.
func isZone(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 4)
	_, err = f.Read(head)
	return err == nil && string(head) == "TZif"
}

// flagsOf are the flags that a command takes: its own, those of the command that it
// stands for, and those of all.
func flagsOf(n *kong.Node) []*kong.Flag {
	own := slices.Clone(n.Flags)
	if n.DefaultCmd != nil {
		own = append(own, n.DefaultCmd.Flags...)
	}
	for up := n.Parent; up != nil; up = up.Parent {
		own = append(own, up.Flags...)
	}
	return slices.DeleteFunc(own, func(f *kong.Flag) bool { return f.Hidden })
}
