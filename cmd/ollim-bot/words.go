package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ollimbot/core/config"
)

// offers are the lines of what may stand in place of the last word behind the program's
// name: the word, a tab, what it does. None where it may be anything, such as a file.
func offers(root *kong.Node, words []string) []string {
	before, begun := words, ""
	if n := len(words) - 1; n >= 0 {
		before, begun = words[:n], words[n]
	}
	at := root
	for _, word := range before {
		if i := slices.IndexFunc(at.Children, func(c *kong.Node) bool { return c.Name == word }); i >= 0 {
			at = at.Children[i]
		}
	}
	flags := flagsOf(at)
	if n := len(before); n > 0 {
		i := slices.IndexFunc(flags, func(f *kong.Flag) bool { return "--"+f.Name == before[n-1] && !f.IsBool() })
		if i >= 0 {
			return enumOf(flags[i].Value)
		}
	}
	var lines []string
	if strings.HasPrefix(begun, "-") {
		for _, f := range flags {
			lines = append(lines, "--"+f.Name+"\t"+f.Help)
		}
		return lines
	}
	children := at.Children
	switch at.Path() {
	case "help":
		children = root.Children
		if len(before) == 1 {
			lines = topicOffers()
		}
	case "config":
		for _, l := range config.Show(config.Runtime{}) {
			lines = append(lines, l.Key)
		}
	}
	for _, child := range children {
		lines = append(lines, child.Name+"\t"+child.Help)
	}
	for _, arg := range at.Positional {
		lines = append(lines, enumOf(arg)...)
	}
	return lines
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

// enumOf are the words that a value may be; none where it may be anything.
func enumOf(v *kong.Value) []string {
	return strings.FieldsFunc(v.Enum, func(r rune) bool { return r == ',' })
}

type completionCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish,words" help:"bash, zsh or fish."`
	Words []string `arg:"" optional:"" passthrough:"" help:"For the scripts: behind words, what is to be completed."`
}

// Run prints the script that completes the command line in a shell, or, for such a
// script, what may stand in place of the last of some words.
func (c *completionCmd) Run(p *process) error {
	if c.Shell != "words" {
		return p.Lines(strings.TrimSpace(completions[c.Shell]))
	}
	parser, err := newParser(&cli{}, p, "") // what was parsed holds the way to its command only
	if err != nil {
		return err
	}
	for _, line := range offers(parser.Model.Node, c.Words[min(1, len(c.Words)):]) { // behind "--"
		p.Print("%s\n", line)
	}
	return p.Unwritten()
}

// completions are the scripts. Each asks this program, so that none grows old.
var completions = map[string]string{
	"bash": `
# bash completion for ollim-bot: source <(ollim-bot completion bash)
_ollim_bot() {
    local IFS=$'\n'
    COMPREPLY=($(compgen -W "$(ollim-bot completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ollim_bot ollim-bot
`,
	"zsh": `
#compdef ollim-bot
# zsh completion for ollim-bot: source <(ollim-bot completion zsh), or as _ollim-bot in a folder of $fpath
_ollim-bot() {
    local -a offers
    offers=(${(f)"$(ollim-bot completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    offers=(${offers/$'\t'/:})
    if (( $#offers )); then
        _describe command offers
    else
        _files
    fi
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
    if set -q offers[1]
        printf '%s\n' $offers
    else
        __fish_complete_path "$begun"
    end
end
complete -c ollim-bot -f -a '(__ollim_bot)'
`,
}
