package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/history"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/zones"
	dashboard "ollimbot/tui/settings"
)

type completionCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish,words" complete:"shell" help:"bash, zsh or fish."`
	Words []string `arg:"" optional:"" passthrough:"" help:"For the scripts: with words as the shell, the words to complete."`
}

// Run prints the completion script of a shell or, for such a script, the candidates for
// the last of some words.
func (c *completionCmd) Run(p *process) error {
	if c.Shell != "words" {
		return p.Lines(strings.TrimSpace(completions[c.Shell]))
	}
	parser, err := newParser(&cli{}, p, "") // the parsed tree holds only the path to its command
	if err != nil {
		return err
	}
	words := c.Words[min(1, len(c.Words)):] // after "--"
	for i, word := range words[:max(0, len(words)-1)] {
		if i+2 < len(words) && word == "--data-dir" {
			p.Flags.DataDir = words[i+1]
		}
	}
	for _, line := range (completer{p}).offers(parser.Model.Node, words) {
		p.Print("%s\n", line)
	}
	return p.Unwritten()
}

// completions are the scripts. Each asks this program, so none becomes outdated.
var completions = map[string]string{
	"bash": `
# bash completion for ollim-bot: source <(ollim-bot completion bash)
_ollim_bot() {
    local IFS=$'\n' offers
    offers=$(ollim-bot completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
    COMPREPLY=()
    if [[ $offers == :files ]]; then
        compopt -o default 2>/dev/null
    else
        COMPREPLY=($(compgen -W "$offers" -- "${COMP_WORDS[COMP_CWORD]}"))
    fi
}
complete -F _ollim_bot ollim-bot
`,
	"zsh": `
#compdef ollim-bot
# zsh completion for ollim-bot: source <(ollim-bot completion zsh), or as _ollim-bot in a folder of $fpath
_ollim-bot() {
    local -a offers
    offers=(${(f)"$(ollim-bot completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if [[ $offers[1] == :files ]]; then
        _files
        return
    fi
    offers=(${offers//:/\\:})
    offers=(${offers/$'\t'/:})
    _describe command offers
}
if [[ $funcstack[1] == _ollim-bot ]]; then
    _ollim-bot "$@"
else
    compdef _ollim-bot ollim-bot
fi
`,
	"fish": `
# fish completion for ollim-bot: ollim-bot completion fish | source
function __ollim_bot
    set -l begun (commandline -ct)
    set -l offers (ollim-bot completion words -- (commandline -opc)[2..] "$begun" 2>/dev/null)
    if test "$offers[1]" = :files
        __fish_complete_path "$begun"
    else
        printf '%s\n' $offers
    end
end
complete -c ollim-bot -f -a '(__ollim_bot)'
`,
}

// filesOffered asks the shell to complete file names.
const filesOffered = ":files"

// position is the command and argument that the word to complete belongs to.
type position struct {
	at     *kong.Node
	flags  []*kong.Flag
	values []string // arguments so far, without flags
	flag   *kong.Flag
}

// follow reads the words before the one to complete.
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

// completer finds the candidates for a word.
type completer struct{ *process }

// offers returns the candidates for the last word, one per line: the word, a tab, its
// description. There are none if the word may be anything.
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
	for _, child := range children { // a page may have the name of a command
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, child.Name+"\t") })
		lines = append(lines, child.Name+"\t"+child.Help)
	}
	if n, args := len(x.values), x.at.Positional; len(args) > 0 && (n < len(args) || args[len(args)-1].IsCumulative()) {
		lines = append(lines, p.offered(args[min(n, len(args)-1)], x)...)
	}
	return lines
}

// offered returns the candidates for the value of a flag or an argument.
func (p completer) offered(v *kong.Value, x position) []string {
	kind := v.Tag.Get("complete")
	switch {
	case kind == "" && (slices.Contains([]string{"FILE", "DIR", "PLACE"}, v.Tag.PlaceHolder) || strings.HasPrefix(v.Name, "file")):
		return []string{filesOffered}
	case kind == "":
		return strings.FieldsFunc(v.Enum, func(r rune) bool { return r == ',' })
	case kind == "shell": // without words, which is for the scripts
		return []string{"bash", "zsh", "fish"}
	case kind == "theme":
		return dashboard.Themes
	case kind == "zone":
		return zones.Names()
	case kind == "setting":
		return console.Each(config.Show(config.Runtime{}), func(l config.Line) string { return l.Key + "\t" + l.About.About })
	}
	at, err := p.Open()
	if err != nil {
		return nil
	}
	var lines []string
	for _, line := range p.known(at, kind, x) {
		// An id may come from anyone: it must contain nothing that a shell would run.
		if word, about, _ := strings.Cut(line, "\t"); console.Word(word) == word {
			lines = append(lines, word+"\t"+clean.Cut(clean.Line(about), 80))
		}
	}
	return lines
}

// known returns the items of a kind in the data directory.
func (p completer) known(at console.DataDir, kind string, x position) (lines []string) {
	switch kind {
	case "task", string(routines.KindRoutine), string(routines.KindReminder), "waiting":
		for _, t := range (taskFiles{p.process, at}).read().Tasks() {
			if kind == "task" || kind == string(t.Kind) || kind == "waiting" && (t.Waits != "" || t.Proposed.Version != "") {
				lines = append(lines, t.ID+"\t"+t.Title())
			}
		}
	case "removed":
		for _, t := range routines.RemovedTasks(at.Dir, at.Now) {
			lines = append(lines, t.ID+"\t"+t.Title())
		}
	case "run":
		views, _ := ledger(at) // an unreadable ledger offers nothing
		for _, v := range views {
			lines = append(lines, v.ID+"\t"+v.Title)
		}
	case "update":
		list := updates.NewQueue(at.Dir, at.Env.Zone, p.Log()).Peek()
		lines = console.Each(list, func(u updates.Update) string { return u.Key + "\t" + u.Message })
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

// flagsOf returns the flags of a command: its own, those of its default subcommand, and
// the global ones.
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
