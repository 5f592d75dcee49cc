package post

import (
	"regexp"
	"sync"
)

// Phone returns a text of the program as it is said on the phone: without command lines, paths and names of files, which
// cannot be used there. The dashboard shows the text as it is. The words of the user and of models are never passed to it.
func Phone(text string) string {
	for _, r := range phoneRules() {
		text = r.find.ReplaceAllString(text, r.with)
	}
	return text
}

type phoneRule struct {
	find *regexp.Regexp
	with string
}

// phoneRules are applied in order; the last ones are for what no rule before knows.
var phoneRules = sync.OnceValue(func() []phoneRule {
	const (
		name  = `[\w.@/%-]+` // an argument
		tick  = "`?"
		named = `([\w.-]+)`
		path  = `(?:[\w.@~%+-]*/)*` // before the name of a file
		allow = ` on it in the schedule,? or (?:run |by )?` + tick + `ollim-bot allow(?: mcp__` + name + `)?` + tick
	)
	var list []phoneRule
	for _, r := range [][2]string{
		// What is decided on a card.
		{`until you decide: press y` + allow, `until you decide on its card`},
		{`Press y` + allow, `Decide on its card`},
		{`press y` + allow, `decide on its card`},
		{`in the schedule,? or (?:run |by )?` + tick + `ollim-bot allow` + tick, `on its card`},
		{`; ` + tick + `ollim-bot allow` + tick + ` lists what is`, ``},
		{`: (?:see )?` + tick + `ollim-bot allow` + tick + `(?: shows it, ollim-bot allow ` + name + ` allows it)?`, `: decide on its card`},
		{`: ollim-bot mcp allow ` + name + ` allows it after all`, ``},
		// What the phone has a command or a button for.
		{`press L in the dashboard, or Log in on the phone`, `press Log in`},
		{`(?:run )?` + tick + `ollim-bot mcp login ` + named + tick + `(?:, or write /mcp login ` + named + ` to the bot)?`, `send /mcp login $1`},
		{`pass its file to ollim-bot auth google --client FILE`, `connect it on the bot's machine`},
		{`(?:run )?ollim-bot auth google --mail`, `send /google-auth mail`},
		{`(log in again|log in|start again|start one) with ollim-bot auth google`, `$1 with /google-auth`},
		{`(?:run )?ollim-bot auth google`, `send /google-auth`},
		{`, or ollim-bot restart`, ``},
		{`ollim-bot restart`, `/restart`},
		{`: ollim-bot schedule and ollim-bot routine list show the IDs`, `; /status lists them`},
		{"; see `ollim-bot routine list` and `ollim-bot reminder list`", `; /status lists them`},
		// What it can do without.
		{`: (?:ollim-bot mcp (?:tools|log) ` + name + `|ollim-bot help ` + name + `|ollim-bot webhook list shows the ids)`, ``},
		{` \((?:see )?ollim-bot help ` + name + `\)`, ``},
		{`,? as ollim-bot help google explains`, ``},
		{`(and (?:\d+|%d) more): ` + tick + `ollim-bot check` + tick + ` lists them`, `$1`},
		{`; ollim-bot history has it word for word`, `; it is kept word for word`},
		{`\. ollim-bot history has all of them`, `. All of them are kept`},
		{`, and ollim-bot history lists the sessions`, ``},
		{`: ollim-bot history show ` + name + ` shows them, and a reply`, `; a reply`},
		{`, or use ollim-bot routine cancel or reminder cancel`, ``},
		{` To take that back: ollim-bot [^\n]+`, ``},
		{`, installed as \S+\.`, `.`},
		// What is done on the machine.
		{` ?\(apt install [^)]*\)`, ` on the bot's machine`},
		{`install it with npm install -g @anthropic-ai/claude-code(?:@` + name + `)?(?:, or set OLLIM_CLAUDE)?`, `install it on the bot's machine`},
		{`npm install -g @anthropic-ai/claude-code(?:@` + name + `)?`, `install Claude Code again on the bot's machine`},
		{`run chmod (?:[^,:;]+ on it|[^,:;]+)`, `change that on the bot's machine`},
		{`end them with kill -9`, `end them on the bot's machine`},
		{`create one with +head -c 24 /dev/urandom \| base64`, `create a longer one`},
		{`sudo apt install \./FILE\.deb or sudo dnf install \./FILE\.rpm`, `install it on the bot's machine`},
		{`, and unpack ollim-bot to [^\n]+\.`, ` on the bot's machine.`},
		{`git pull in your clone of the repository, then go (?:install|build -o \S+) \./cmd/ollim-bot`, `build it again on the bot's machine`},
		// Files, by what they are.
		{path + `(routine|reminder|webhook)s/` + named + `\.md:(\d+)(?::\d+)?`, `the $1 "$2", line $3`},
		{path + `(routine|reminder|webhook)s/` + named + `\.md\b`, `the $1 "$2"`},
		{path + `skills/([\w. %-]+?)/SKILL\.md:(\d+)(?::\d+)?`, `the skill "$1", line $2`},
		{path + `skills/([\w. %-]+?)/SKILL\.md\b`, `the skill "$1"`},
		{path + `providers\.yaml\b(?::\d+)*`, `the list of model servers`},
		{path + `prices\.yaml\b(?::\d+)*`, `the price list`},
		{path + `tool-policy\.yaml\b(?::\d+)*`, `the tool rules`},
		{path + `keys\.yaml\b(?::\d+)*`, `the list of keys`},
		{path + `dashboard\.yaml\b(?::\d+)*`, `the settings of the dashboard`},
		{path + `\.mcp\.json\b(?::\d+)*`, `the list of MCP servers`},
		{`the \.env file`, `the bot's environment`},
		{`(in|into) the environment or (?:in )?\.env\b`, `$1 the bot's environment`},
		{`(^|[\s"'(` + "`" + `])` + path + `\.env\b(?::\d+)*`, `${1}the bot's environment`},
		{`\bstate/sessions\.json`, `the bot's memory`},
		{`\bstate/[\w./-]*`, `the bot's own files`},
		// Anything else.
		{`mcp__([a-z0-9-]+)__([\w-]+)`, `$2 of $1`},
		{`mcp__([a-z0-9-]+)`, `$1`},
		{`(^|[\s"'(:` + "`" + `])(?:~(?:/[\w.@%+-]+)*|(?:/[\w.@%+-]+)+)/([\w.@%+-]+)`, `$1$2`},
		{`(?:run|see|use|with|by) ` + tick + `ollim-bot [a-z][\w-]*(?: [\w-]+)?` + tick, `on the bot's machine`},
		{"`ollim-bot [^`]+`", `the command line`},
	} {
		list = append(list, phoneRule{regexp.MustCompile(r[0]), r[1]})
	}
	return list
})
