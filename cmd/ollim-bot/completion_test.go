package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"ollimbot/core/base/testkit"
)

// A real bash offers, behind each command with others below it, what may follow it and nothing else; what follows the
// others it would ask the same function.
func TestBashCompletesEveryCommandAndEveryFlag(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	bash := testkit.Needs(t, "bash")
	exe := built(t)
	root := commandTree(t).Model.Node
	script := completions["bash"] + `
offered() { COMP_WORDS=(ollim-bot "$@"); COMP_CWORD=$#; COMPREPLY=(); _ollim_bot; echo "${COMPREPLY[*]}" | tr '\n' ' '; echo; }
`
	var want []string
	ask := func(words string, offered ...string) {
		script += "offered " + words + "\n"
		want = append(want, strings.Join(offered, " "))
	}
	seen := 0
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		var commands, flags []string
		for _, child := range n.Children {
			commands = append(commands, child.Name)
		}
		for _, f := range flagsOf(n) {
			flags = append(flags, "--"+f.Name)
		}
		if len(commands) > 0 {
			ask(path+" ''", commands...)
			ask(path+" --", flags...)
		}
		offers := completer{}.offers(root, append(strings.Fields(path), "--"))
		for i := range offers {
			offers[i], _, _ = strings.Cut(offers[i], "\t")
		}
		if !slices.Equal(offers, flags) {
			t.Errorf("behind %s: %q, want %q", path, offers, flags)
		}
		seen++
		for _, child := range n.Children {
			walk(child, path+" "+child.Name)
		}
	}
	walk(root, "")
	if seen < 80 {
		t.Fatalf("only %d commands", seen)
	}
	ask("budget se", "set")
	ask("config daily_c", "daily_cap")
	ask("help bud", "budget")
	ask("help setti", "settings")
	ask("--timezone UTC completion f", "fish")
	ask("run --engine c", "claude")
	ask("check ''")
	ask("init --data-dir ''")
	// N9: what is completed is what there is, and never the name of a file.
	ask("config sandbox ''", "auto", "off")
	ask("config thinking_fork ''", "off", "adaptive")
	ask("config thinking.fork a", "adaptive")
	ask("config daily_cap ''", "off")
	ask("config google_calendars ''", "primary")
	ask("config model_main lo", "local/tiny")
	ask("routine add --model ''", "opus", "sonnet", "haiku", "local/tiny")
	ask("run --timezone Europe/Os", "Europe/Oslo")
	ask("run --theme l", "light")
	ask("fire ''", "a1b2c3d4", "c0ffee00")
	ask("snooze a1b2c3d4 ''")
	ask("routine cancel ''", "a1b2c3d4")
	ask("reminder done c0", "c0ffee00")
	ask("reminder later --delay 5 ''", "c0ffee00")
	ask("webhook test ''", "door")
	ask("--data-dir elsewhere fire ''")
	ask("upgrade --", offersOf(root, "update")...)
	ask("update --j", "--json")
	w := newWorld(t, "PATH="+filepath.Dir(exe)+":/usr/bin:/bin")
	for name, text := range map[string]string{
		"routines/r.md":    "---\nid: a1b2c3d4\ncron: \"0 9 * * *\"\n---\nPlan.\n",
		"routines/evil.md": "---\nid: \"$(touch $HOME/pwned)\"\ncron: \"0 9 * * *\"\n---\nPlan.\n",
		"reminders/r.md":   "---\nid: c0ffee00\nrun-at: \"2030-01-02T09:30:00Z\"\n---\nPills.\n",
		"webhooks/w.md":    "---\nid: door\nfields:\n  type: object\n  properties: {}\n---\nThe door.\n",
		"providers.yaml":   "local:\n  base-url: http://127.0.0.1:1\n  models:\n    - name: tiny\n",
	} {
		w.file(name, text)
	}
	answer := shell(t, bash, w.env, "--norc", "-c", script)
	if answer.status != 0 || answer.err != "" {
		t.Fatalf("%+v", answer)
	}
	if exists(filepath.Join(w.home, "pwned")) {
		t.Error("an id was carried out by the shell")
	}
	got := strings.Split(strings.TrimSuffix(answer.out, "\n"), "\n")
	for i := range want {
		if i >= len(got) || strings.TrimSpace(got[i]) != want[i] {
			t.Fatalf("question %d is answered %q, want %q", i, got[min(i, len(got)-1)], want[i])
		}
	}
}

// offersOf are the flags of a command as they are offered.
func offersOf(root *kong.Node, name string) (flags []string) {
	for _, f := range flagsOf(follow(root, []string{name}).at) {
		flags = append(flags, "--"+f.Name)
	}
	return flags
}

// The manual names every command, and no text can break out of its place in it: no line begins with a request that is not
// ours. N16: groff has nothing to complain about, in the newest version either, which warns of empty arguments and blank lines.
func TestTheManualNamesEveryCommandAndIsCleanForGroff(t *testing.T) {
	testkit.Alone(t)
	root := commandTree(t).Model.Node
	page := manPage(root)
	title, _, _ := strings.Cut(page, "\n")
	if strings.Contains(title, `""`) || strings.Count(title, `"`) != 6 {
		t.Errorf("the title line lacks an argument: %s", title)
	}
	if strings.Contains(page, "\n\n") {
		t.Error("the page has a blank line")
	}
	for _, leaf := range root.Leaves(false) {
		if name := nameOf(leaf); !leaf.Hidden && !strings.Contains(page, "\n.SS ollim\\-bot "+roff(name)) {
			t.Errorf("the page lacks %s", name)
		}
	}
	for line := range strings.Lines(page) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, ".") && !slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".B", ".I"}, request) {
			t.Errorf("a line of text became a request: %q", line)
		}
	}
	for _, cmd := range [][]string{{"groff", "-z", "-man", "-ww", "-rCHECKSTYLE=3", "-Tutf8"}, {"man", "--warnings=w", "-l", "-"}} {
		if path, err := exec.LookPath(cmd[0]); err != nil {
			t.Logf("%s is missing: the page is not shown to it", cmd[0])
		} else if got := piped(t, page, path, os.Environ(), cmd[1:]...); got.status != 0 || got.err != "" {
			t.Errorf("%s: %d\n%s", cmd[0], got.status, got.err)
		}
	}
}
