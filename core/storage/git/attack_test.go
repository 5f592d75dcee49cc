package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ollimbot/core/base/testkit"
)

// TestNoSettingOfTheRepositoryRunsAProgram simulates an attacker who can write .git and
// .gitattributes, and names a program wherever git would start one.
func TestNoSettingOfTheRepositoryRunsAProgram(t *testing.T) {
	testkit.Alone(t)
	const settings = `[core]
	repositoryformatversion = 1
	fsmonitor = %[1]s
	hooksPath = %[2]s
	pager = %[1]s
	editor = %[1]s
	askPass = %[1]s
	sshCommand = %[1]s
	gitProxy = %[1]s
	alternateRefsCommand = %[1]s
	attributesFile = %[2]s/attributes
[extensions]
	partialClone = evil
	worktreeConfig = true
[remote "evil"]
	url = %[3]s
	promisor = true
	uploadpack = %[1]s
	partialclonefilter = blob:none
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[protocol "file"]
	allow = always
[filter "evil"]
	clean = %[1]s
	smudge = %[1]s
	process = %[1]s
	required = true
[diff]
	external = %[1]s
[diff "evil"]
	textconv = %[1]s
	command = %[1]s
[merge "evil"]
	driver = %[1]s
[commit]
	gpgSign = true
[gpg]
	program = %[1]s
[user]
	signingKey = evil
[credential]
	helper = !%[1]s
[gc]
	auto = 1
	recentObjectsHook = %[1]s
[pack]
	packSizeLimit = 0
[alias]
	update-index = !%[1]s
	commit-tree = !%[1]s
[include]
	path = %[2]s/more
[includeIf "gitdir:**"]
	path = %[2]s/more
`
	for _, where := range []string{"config", "config.worktree"} {
		for _, url := range []string{"ext::%s", "/nowhere"} {
			t.Run(where+" "+url, func(t *testing.T) {
				d, g, _ := gitRepo(t)
				put(t, d, "reminders/old.md", "x")
				g.Add("reminders/old.md", "add old")
				drain(t, g)
				evil := t.TempDir()
				pwned, program := filepath.Join(evil, "pwned"), filepath.Join(evil, "program")
				script := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\ncat\n", pwned)
				write := func(name, text string, mode os.FileMode) {
					testkit.Must(t, os.WriteFile(name, []byte(text), mode))
				}
				write(program, script, 0o700)
				if url != "/nowhere" {
					url = fmt.Sprintf(url, program)
				}
				for _, hook := range []string{
					"pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-index-change", "reference-transaction",
					"pre-auto-gc", "post-checkout", "fsmonitor-watchman",
				} {
					write(filepath.Join(evil, hook), script, 0o700)
					testkit.Must(t, os.MkdirAll(d.Path(".git/hooks"), 0o700))
					write(d.Path(".git/hooks/"+hook), script, 0o700)
				}
				text := fmt.Sprintf(settings, program, evil, url)
				write(filepath.Join(evil, "more"), fmt.Sprintf("[core]\n\tfsmonitor = %s\n\thooksPath = %s\n", program, evil), 0o600)
				write(filepath.Join(evil, "attributes"), "* filter=evil diff=evil merge=evil\n", 0o600)
				if where == "config.worktree" {
					write(d.Path(".git/config"), "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n", 0o600)
				}
				write(d.Path(".git/"+where), text, 0o600)
				put(t, d, ".gitattributes", "* filter=evil diff=evil merge=evil working-tree-encoding=UTF-16\n")

				put(t, d, "reminders/new.md", "new")
				put(t, d, "reminders/old.md", "changed")
				g.Add("reminders/new.md", "add new")
				g.Add("reminders/old.md", "edit old")
				drain(t, g)
				testkit.Must(t, d.Remove("reminders/old.md"))
				if err := g.Commit(t.Context(), "reminders/old.md", "remove old"); err != nil {
					t.Error(err)
				}
				r, _, _ := g.locate("reminders/old.md")
				if err := r.pack(t.Context()); err != nil {
					t.Error(err)
				}
				// Missing objects would be fetched from the remote.
				if _, err := r.run(t.Context(), call{}, "read-tree", "1234567890123456789012345678901234567890"); err == nil {
					t.Error("an object that is not there was read")
				}
				if got, err := os.ReadFile(pwned); err == nil {
					t.Errorf("it ran:\n%s", got)
				}
				// Without the repository's settings the history can be read: everything is
				// recorded.
				write(d.Path(".git/"+where), "[core]\n\trepositoryformatversion = 0\n", 0o600)
				if got := git(t, d, "ls-tree", "-r", "--name-only", "HEAD"); got != "reminders/new.md" {
					t.Errorf("recorded: %q", got)
				}
				if got := git(t, d, "show", "HEAD:reminders/new.md"); got != "new" {
					t.Errorf("recorded %q: a filter was there", got)
				}
			})
		}
	}
}

// TestTheAttackWouldWork shows that git obeys these settings.
func TestTheAttackWouldWork(t *testing.T) {
	testkit.Alone(t)
	d, _, _ := gitRepo(t)
	pwned := filepath.Join(t.TempDir(), "pwned")
	git(t, d, "config", "core.fsmonitor", "touch "+pwned+"; false")
	put(t, d, "a.md", "x")
	_ = exec.Command("git", "-C", d.Root(), "status").Run() // whatever it says
	if _, err := os.Stat(pwned); err != nil {
		t.Error(err)
	}
}
