package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ollimbot/cmd/internal/console"
)

// A real bash offers, behind each command, what may follow it and nothing else.
func TestBashCompletesEveryCommandAndEveryFlag(t *testing.T) {
	p := &process{Process: console.Process{Out: t.Output(), Err: t.Output()}}
	root, err := p.tree()
	if err != nil {
		t.Fatal(err)
	}
	list := places(root)
	if len(list) < 50 {
		t.Fatalf("only %d commands in the tree", len(list))
	}
	script := bashScript(list, choices(root)) + `
offered() { COMP_WORDS=(ollim-bot "$@"); COMP_CWORD=$#; COMPREPLY=(); _ollim_bot; echo "${COMPREPLY[*]}"; }
`
	var want []string
	ask := func(path, begin string, offered []string) {
		script += fmt.Sprintf("offered %s %s\n", strings.ReplaceAll(path, "/", " "), quoted(begin))
		want = append(want, strings.Join(offered, " "))
	}
	for _, p := range list {
		ask(p.path, "", strings.Fields(wordsOf(p.commands)))
		ask(p.path, "--", strings.Fields(wordsOf(p.flags)))
	}
	ask("/budget", "se", []string{"set"})
	ask("/config/daily_cap", "", strings.Fields(wordsOf(list[slices.IndexFunc(list, func(p place) bool { return p.path == "/config" })].commands)))
	ask("/--timezone/UTC/completion", "f", []string{"fish"})
	ask("/run/--engine", "c", []string{"claude"})
	file := filepath.Join(t.TempDir(), "completion.bash")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("bash", "--norc", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("question %d is answered %q, want %q", i, got[min(i, len(got)-1)], want[i])
		}
	}
}

// No text can break out of its place in a script or the page: every quote is closed,
// and no line of the page begins with a request that is not ours.
func TestTheScriptsAndThePageNameEveryCommand(t *testing.T) {
	p := &process{Process: console.Process{Out: t.Output(), Err: t.Output()}}
	root, err := p.tree()
	if err != nil {
		t.Fatal(err)
	}
	list, flags := places(root), choices(root)
	page := manPage(root)
	for _, one := range list[1:] {
		name := strings.ReplaceAll(strings.TrimPrefix(one.path, "/"), "/", " ")
		if !strings.Contains(page, "\n.SS ollim\\-bot "+roff(name)) {
			t.Errorf("the page lacks %s", name)
		}
		for shell, script := range map[string]string{"bash": bashScript(list, flags), "zsh": zshScript(list, flags), "fish": fishScript(list, flags)} {
			if !strings.Contains(script, one.path) {
				t.Errorf("%s does not complete %s", shell, name)
			}
		}
	}
	for line := range strings.Lines(page) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, ".") && !slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".B", ".I"}, request) {
			t.Errorf("a line of text became a request: %q", line)
		}
	}
}
