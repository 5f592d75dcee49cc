package main

import "strings"

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
	words := c.Words[min(1, len(c.Words)):] // behind "--"
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

// completions are the scripts. Each asks this program, so that none grows old.
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
