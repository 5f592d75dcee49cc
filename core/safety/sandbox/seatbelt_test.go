package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// decided returns what the profile's last rule about a path decides for an operation.
func decided(profile, operation, path string) string {
	answer := ""
	for line := range strings.Lines(profile) {
		line = strings.Trim(strings.TrimSpace(line), "()")
		verdict, rest, _ := strings.Cut(line, " ")
		if rest == "default" {
			answer = verdict
		}
		names, _, _ := strings.Cut(rest, " (")
		for name := range strings.FieldsSeq(names) {
			begin, wild := strings.CutSuffix(name, "*")
			if name != operation && (!wild || !strings.HasPrefix(operation, begin)) {
				continue
			}
			if matches(rest, path) {
				answer = verdict
			}
		}
	}
	return answer
}

func matches(rule, path string) bool {
	if !strings.Contains(rule, "(") {
		return true
	}
	for _, part := range strings.Split(rule, "(")[1:] {
		kind, quoted, _ := strings.Cut(part, " ")
		place := strings.Trim(strings.TrimRight(strings.TrimSpace(quoted), ")"), `"`)
		if kind == "literal" && place == path || kind == "subpath" && within(place, path) {
			return true
		}
	}
	return false
}

func TestTheProfileOfMacOSDecidesAsTheOthersDo(t *testing.T) {
	testkit.Alone(t)
	root := resolved(t.TempDir())
	home, data := root+"/home", root+"/home/.ollim-bot"
	for _, name := range []string{"home/.ollim-bot/.env", "home/.ollim-bot/.git/config", "home/.claude/settings.json", "home/.ssh/id", "shown/a"} {
		testkit.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		testkit.Must(t, os.WriteFile(filepath.Join(root, name), nil, 0o600))
	}
	box := New(Options{Dir: data, Home: home, Settings: func() Settings { return Settings{Visible: []Visible{{Path: root + "/shown"}}} }})
	for p, want := range map[profile]map[string]string{
		command: {
			"read notes/a": "allow", "write notes/a": "allow", "read .env": "deny", "write .env": "deny", "read state/x": "deny", "write state/x": "deny",
			"read routines/a.md": "allow", "write routines/a.md": "deny", "write .git/hooks/x": "deny", "write CLAUDE.md": "deny",
			"read ../.ssh/id": "deny", "read ../.claude/x": "deny", "read ../../shown/a": "allow", "write ../../shown/a": "deny", "write /etc/x": "deny",
		},
		engine: {
			"read .env": "deny", "write routines/a.md": "allow", "read ../.claude/x": "allow", "write ../.claude/x": "allow", "write ../.claude/settings.json": "deny",
			"read ../.ssh/id": "deny", "write .claude/settings.json": "deny",
		},
	} {
		v, err := box.view(p, &exec.Cmd{Path: "/usr/bin/true", Env: []string{"HOME=" + home}})
		testkit.Must(t, err)
		text := v.seatbelt("/private/var/folders/x")
		for what, verdict := range want {
			op, path, _ := strings.Cut(what, " ")
			if !filepath.IsAbs(path) {
				path = filepath.Join(data, path)
			}
			if got := decided(text, "file-"+op+"-data", path); got != verdict {
				t.Errorf("%v: %s is %q, want %q\n%s", p, what, got, verdict, text)
			}
		}
		if closed := strings.Contains(text, "(deny network*)"); closed != (p == command) {
			t.Errorf("%v: the network is closed: %v", p, closed)
		}
	}
}
