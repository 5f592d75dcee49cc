package main

import (
	"fmt"
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
	home := t.TempDir()
	for name, text := range map[string]string{
		"routines/r.md":    "---\nid: a1b2c3d4\ncron: \"0 9 * * *\"\n---\nPlan.\n",
		"routines/evil.md": "---\nid: \"$(touch pwned)\"\ncron: \"0 9 * * *\"\n---\nPlan.\n",
		"reminders/r.md":   "---\nid: c0ffee00\nrun-at: \"2030-01-02T09:30:00Z\"\n---\nPills.\n",
		"webhooks/w.md":    "---\nid: door\nfields:\n  type: object\n  properties: {}\n---\nThe door.\n",
		"providers.yaml":   "local:\n  base-url: http://127.0.0.1:1\n  models:\n    - name: tiny\n",
	} {
		put(t, filepath.Join(home, name), text)
	}
	cmd := exec.Command(bash, "--norc", "-c", script)
	cmd.Env = []string{"PATH=" + filepath.Dir(exe) + ":/usr/bin:/bin", "HOME=" + home, "OLLIM_DATA_DIR=" + home, "OLLIM_TIMEZONE=UTC"}
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if exists(filepath.Join(home, "pwned")) {
		t.Error("an id was carried out by the shell")
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
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

// N16: groff has nothing to complain about, in the newest version either, which warns of
// empty arguments and blank lines.
func TestThePageIsCleanForGroff(t *testing.T) {
	testkit.Alone(t)
	page := manPage(commandTree(t).Model.Node)
	title, _, _ := strings.Cut(page, "\n")
	if strings.Contains(title, `""`) || strings.Count(title, `"`) != 6 {
		t.Errorf("the title line lacks an argument: %s", title)
	}
	if strings.Contains(page, "\n\n") {
		t.Error("the page has a blank line")
	}
	for _, cmd := range [][]string{{"groff", "-z", "-man", "-ww", "-rCHECKSTYLE=3", "-Tutf8"}, {"man", "--warnings=w", "-l", "-"}} {
		path, err := exec.LookPath(cmd[0])
		if err != nil {
			t.Logf("%s is missing: the page is not shown to it", cmd[0])
			continue
		}
		c := exec.Command(path, cmd[1:]...)
		c.Stdin = strings.NewReader(page)
		var said strings.Builder
		c.Stderr = &said
		if err := c.Run(); err != nil || said.Len() > 0 {
			t.Errorf("%s: %v\n%s", cmd[0], err, said.String())
		}
	}
}

// No text can break out of its place in the page: no line begins with a request that is not ours.
func TestThePageNamesEveryCommand(t *testing.T) {
	root := commandTree(t).Model.Node
	page := manPage(root)
	for _, leaf := range root.Leaves(false) {
		name := nameOf(leaf)
		if !leaf.Hidden && !strings.Contains(page, fmt.Sprintf("\n.SS ollim\\-bot %s", roff(name))) {
			t.Errorf("the page lacks %s", name)
		}
	}
	for line := range strings.Lines(page) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, ".") && !slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".B", ".I"}, request) {
			t.Errorf("a line of text became a request: %q", line)
		}
	}
}
