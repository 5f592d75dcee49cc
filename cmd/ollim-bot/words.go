package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ollimbot/core/config"
)

// offer is a word that may follow, and what it does.
type offer struct{ word, help string }

// place is a command as shells complete it: "/budget/set", and what may follow there.
type place struct {
	path            string
	commands, flags []offer
}

// flagWords are a flag whose value is one of a few words.
type flagWords struct {
	flag  string
	words []string
}

// places are all commands of the tree, parents first.
func places(root *kong.Node) []place {
	var list []place
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		p := place{path: path}
		for _, child := range n.Children {
			p.commands = append(p.commands, offer{child.Name, child.Help})
		}
		for _, arg := range n.Positional {
			for _, word := range enumOf(arg) {
				p.commands = append(p.commands, offer{word, ""})
			}
		}
		switch path {
		case "/help":
			for _, child := range root.Children {
				p.commands = append(p.commands, offer{child.Name, child.Help})
			}
		case "/config":
			for _, l := range config.Show(config.Runtime{}) {
				p.commands = append(p.commands, offer{l.Key, ""})
			}
		}
		for _, f := range flagsOf(n) {
			p.flags = append(p.flags, offer{"--" + f.Name, f.Help})
		}
		list = append(list, p)
		for _, child := range n.Children {
			walk(child, path+"/"+child.Name)
		}
	}
	walk(root, "")
	return list
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
	if v.Enum == "" {
		return nil
	}
	return strings.FieldsFunc(v.Enum, func(r rune) bool { return r == ',' })
}

// choices are the flags with few values, each name once.
func choices(root *kong.Node) []flagWords {
	var list []flagWords
	_ = kong.Visit(root, func(n kong.Visitable, next kong.Next) error { // it fails where this does
		if f, ok := n.(*kong.Flag); ok && f.Enum != "" && !slices.ContainsFunc(list, func(c flagWords) bool { return c.flag == f.Name }) {
			list = append(list, flagWords{f.Name, enumOf(f.Value)})
		}
		return next(nil)
	})
	return list
}

// tree is the whole tree of commands: the one that was parsed holds the way to its
// command only.
func (p *process) tree() (*kong.Node, error) {
	parser, err := newParser(&cli{}, p)
	if err != nil {
		return nil, fmt.Errorf("build the command tree: %w", err)
	}
	return parser.Model.Node, nil
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script that completes the command line in a shell.
func (c *completionCmd) Run(p *process) error {
	root, err := p.tree()
	if err != nil {
		return err
	}
	script := map[string]func([]place, []flagWords) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	return p.Lines(strings.TrimSuffix(script(places(root), choices(root)), "\n"))
}

// quoted is a text as one word of bash or zsh.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// paths are those that a shell looks for while it reads the words before.
func paths(list []place) string {
	var out []string
	for _, p := range list[1:] {
		out = append(out, p.path)
	}
	return strings.Join(out, "|")
}

func wordsOf(list []offer) string {
	var out []string
	for _, e := range list {
		out = append(out, e.word)
	}
	return strings.Join(out, " ")
}

func bashScript(list []place, flags []flagWords) string {
	var b strings.Builder
	b.WriteString(`# bash completion for ollim-bot: source <(ollim-bot completion bash)
_ollim_bot() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= word commands= flags=
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$at/$word" in
        ` + paths(list) + `) at=$at/$word ;;
        esac
    done
    case "$prev" in
`)
	for _, f := range flags {
		fmt.Fprintf(&b, "    --%s) COMPREPLY=($(compgen -W %s -- \"$cur\")); return ;;\n", f.flag, quoted(strings.Join(f.words, " ")))
	}
	b.WriteString("    esac\n    case \"$at\" in\n")
	for _, p := range list {
		fmt.Fprintf(&b, "    %s) commands=%s flags=%s ;;\n", quoted(p.path), quoted(wordsOf(p.commands)), quoted(wordsOf(p.flags)))
	}
	b.WriteString(`    esac
    case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
    esac
}
complete -o default -F _ollim_bot ollim-bot
`)
	return b.String()
}

func zshScript(list []place, flags []flagWords) string {
	var b strings.Builder
	b.WriteString(`#compdef ollim-bot
# zsh completion for ollim-bot: source <(ollim-bot completion zsh), or as _ollim-bot in a folder of $fpath
_ollim-bot() {
    local at= word
    local -a commands flags values
    for word in ${words[2,CURRENT-1]}; do
        case $at/$word in
        (` + paths(list) + `) at=$at/$word ;;
        esac
    done
    case ${words[CURRENT-1]} in
`)
	for _, f := range flags {
		fmt.Fprintf(&b, "    (--%s) values=(%s); _describe value values; return ;;\n", f.flag, strings.Join(f.words, " "))
	}
	b.WriteString("    esac\n    case $at in\n")
	described := func(list []offer) string {
		var out []string
		for _, e := range list {
			out = append(out, quoted(e.word+":"+strings.ReplaceAll(e.help, ":", `\:`)))
		}
		return strings.Join(out, " ")
	}
	for _, p := range list {
		fmt.Fprintf(&b, "    (%s) commands=(%s)\n        flags=(%s) ;;\n", quoted(p.path), described(p.commands), described(p.flags))
	}
	b.WriteString(`    esac
    if [[ $PREFIX == -* ]]; then
        _describe flag flags
    elif (( $#commands )); then
        _describe command commands
    else
        _files
    fi
}
if [[ $funcstack[1] == _ollim-bot ]]; then
    _ollim-bot "$@"
else
    compdef _ollim-bot ollim-bot
fi
`)
	return b.String()
}

func fishScript(list []place, flags []flagWords) string {
	quoted := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
	}
	var b strings.Builder
	b.WriteString(`# fish completion for ollim-bot: ollim-bot completion fish | source
function __ollim_bot_at
    set -l at
    for word in (commandline -opc)[2..]
        switch "$at/$word"
            case ` + strings.ReplaceAll(paths(list), "|", " ") + `
                set at "$at/$word"
        end
    end
    test "$at" = "$argv[1]"
end
`)
	values := map[string]string{}
	for _, f := range flags {
		values["--"+f.flag] = strings.Join(f.words, " ")
	}
	for _, p := range list {
		when := quoted("__ollim_bot_at '" + p.path + "'")
		if len(p.commands) > 0 {
			fmt.Fprintf(&b, "complete -c ollim-bot -f -n %s\n", when)
		}
		for _, e := range p.commands {
			fmt.Fprintf(&b, "complete -c ollim-bot -n %s -a %s -d %s\n", when, quoted(e.word), quoted(e.help))
		}
		for _, e := range p.flags {
			line := fmt.Sprintf("complete -c ollim-bot -n %s -l %s -d %s", when, strings.TrimPrefix(e.word, "--"), quoted(e.help))
			if v := values[e.word]; v != "" {
				line += " -x -a " + quoted(v)
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
