package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// A real bash offers, behind each command, what may follow it and nothing else.
func TestBashCompletesEveryCommandAndEveryFlag(t *testing.T) {
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
		}
		ask(path+" --", flags...)
		for _, child := range n.Children {
			walk(child, path+" "+child.Name)
		}
	}
	walk(root, "")
	if len(want) < 80 {
		t.Fatalf("only %d questions", len(want))
	}
	ask("budget se", "set")
	ask("config daily_cap daily_c", "daily_cap")
	ask("help bud", "budget")
	ask("help setti", "settings")
	ask("--timezone UTC completion f", "fish")
	ask("run --engine c", "claude")
	ask("check ''")
	ask("init --data-dir ''")
	cmd := exec.Command("bash", "--norc", "-c", script)
	cmd.Env = []string{"PATH=" + filepath.Dir(exe) + ":/usr/bin:/bin", "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i := range want {
		if i >= len(got) || strings.TrimSpace(got[i]) != want[i] {
			t.Fatalf("question %d is answered %q, want %q", i, got[min(i, len(got)-1)], want[i])
		}
	}
}

// No text can break out of its place in the page: no line begins with a request that is not ours.
func TestThePageNamesEveryCommand(t *testing.T) {
	root := commandTree(t).Model.Node
	page := manPage(root)
	for _, leaf := range root.Leaves(false) {
		name := strings.TrimPrefix(leaf.Path(), "ollim-bot ")
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
