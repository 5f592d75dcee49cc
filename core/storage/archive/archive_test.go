package archive

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// machine is a home with a data directory and sessions of its conversation.
type machine struct {
	t        testing.TB
	home     string
	dir      *store.Dir
	sessions string
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	home := t.TempDir()
	return &machine{t, home, storetest.At(t, filepath.Join(home, "bot")), filepath.Join(home, "sessions")}
}

func (m *machine) put(path, text string) {
	m.t.Helper()
	path = filepath.Join(m.home, path)
	must(m.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
}

// furnished returns a machine that has been in use.
func furnished(t testing.TB) *machine {
	m := newMachine(t)
	for path, text := range map[string]string{
		"bot/IDENTITY.md": "Olli", "bot/routines/tea.md": "---\nid: \"aaaa0001\"\n---\nTea ü", "bot/routines/a b.md": "x",
		"bot/skills/s/run.sh": "#!/bin/sh\n", "bot/state/config.json": "{}", "bot/state/pending_updates.json": "[1]",
		"bot/state/bot.log": "a line\n", "bot/.git/HEAD": "ref: refs/heads/main\n", "bot/.git/hooks/pre-commit": "rm -rf /",
		"bot/.git/config": "[core]\n\tbare = false\n\tfsmonitor = /bin/evil\n[remote \"o\"]\n\turl = https://token@example.com\n",
		"bot/.env":        "DISCORD_TOKEN=secret", "bot/state/token.json": "{\"t\":1}", "bot/state/ssh_host_ed25519_key": "private",
		"bot/state/token.json.corrupt-20260101T000000": "{\"t\":0",
		"bot/state/bot.pid":                            "1", "bot/state/bot.lock": "", "bot/state/.sessions.lock": "", "bot/state/control.json": "{}",
		"bot/downloads/x.png": strings.Repeat("png", 1000), "bot/.x.md.0123456789abcdef.tmp": "torn",
		"sessions/11111111.jsonl": "{\"a\":1}\n", "sessions/11111111/sub/agent.jsonl": "{}\n",
	} {
		m.put(path, text)
	}
	must(t, os.MkdirAll(filepath.Join(m.home, "bot/.git/refs/tags"), 0o700))
	must(t, os.Chmod(filepath.Join(m.home, "bot/skills/s/run.sh"), 0o700))
	must(t, os.Symlink("../skills", filepath.Join(m.home, "bot/link")))
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files returns the tree below a path: names with their text, folders with a slash.
func files(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			all[rel+"/"] = ""
		case e.Type().IsRegular():
			data, err := os.ReadFile(path)
			must(t, err)
			all[rel] = string(data)
		}
		return nil
	}))
	return all
}

// export writes an export of the machine and returns its path. word is its passphrase, or empty.
func (m *machine) export(word string) string {
	m.t.Helper()
	file := filepath.Join(m.t.(interface{ TempDir() string }).TempDir(), "bot.export")
	_, err := Export(ExportOptions{Dir: m.dir, Sessions: m.sessions, File: file, Version: "1.2.3", Passphrase: word, Now: time.Now(), work: 8})
	must(m.t, err)
	return file
}

// options returns options for an import onto the machine.
func (m *machine) options(from, word string) ImportOptions {
	return ImportOptions{
		From: from, Dir: m.dir, Sessions: func(string) string { return m.sessions },
		Passphrase: func() (string, error) { return word, nil }, Now: time.Now(),
	}
}

// tidy reports an error if an import has left something next to the directory.
func (m *machine) tidy() {
	m.t.Helper()
	entries, err := os.ReadDir(m.home)
	must(m.t, err)
	for _, e := range entries {
		if strings.Contains(e.Name(), stageMark) || strings.HasSuffix(e.Name(), ".tmp") {
			m.t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestAnExportArrivesWithoutWhatBelongsToTheOldMachine(t *testing.T) {
	old := furnished(t)
	file := old.export("")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the export is readable by others: %v, %v", info, err)
	}
	m := newMachine(t)
	done, err := Import(m.options(file, ""))
	must(t, err)
	want := files(t, old.dir.Root())
	for _, gone := range []string{
		".env", "state/token.json", "state/token.json.corrupt-20260101T000000", "state/ssh_host_ed25519_key", "state/bot.pid", "state/bot.lock", "state/.sessions.lock", "state/control.json",
		".git/hooks/", ".git/hooks/pre-commit", ".x.md.0123456789abcdef.tmp",
	} {
		if _, there := want[gone]; !there {
			t.Fatalf("the test has no %s", gone)
		}
		delete(want, gone)
	}
	want[".git/config"] = "[core]\n\tbare = false\n"
	if diff := cmp.Diff(want, files(t, m.dir.Root())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(files(t, old.sessions), files(t, m.sessions)); diff != "" {
		t.Error(diff)
	}
	for name, mode := range map[string]fs.FileMode{"skills/s/run.sh": 0o700, "IDENTITY.md": 0o600, "state": 0o700 | fs.ModeDir} {
		was, err := os.Stat(old.dir.Path(name))
		must(t, err)
		is, err := os.Stat(m.dir.Path(name))
		must(t, err)
		if is.Mode() != mode || !is.IsDir() && !is.ModTime().Equal(was.ModTime()) {
			t.Errorf("%s is %s of %s, was of %s", name, is.Mode(), is.ModTime(), was.ModTime())
		}
	}
	if done.Files != 10 || done.Sessions != 1 || done.Version != "1.2.3" || done.Secrets {
		t.Errorf("it tells %+v", done)
	}
	m.tidy()
}

func TestSecretsTravelBehindAPassphrase(t *testing.T) {
	old := furnished(t)
	file := old.export("open sesame")
	data, err := os.ReadFile(file)
	must(t, err)
	if !strings.HasPrefix(string(data), "age-encryption.org/v1\n") || strings.Contains(string(data), "routines") {
		t.Error("the export is not encrypted")
	}
	m := newMachine(t)
	if _, err := Import(m.options(file, "open says me")); err == nil || !strings.Contains(err.Error(), "not the passphrase") {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if exists(m.dir.Root()) {
		t.Error("a wrong passphrase has made a directory")
	}
	_, err = Import(m.options(file, "open sesame"))
	must(t, err)
	if got := storetest.Text(t, m.dir, ".env") + storetest.Text(t, m.dir, "state/ssh_host_ed25519_key"); got != "DISCORD_TOKEN=secretprivate" {
		t.Errorf("the secrets are %q", got)
	}
}

func TestAnExportGoesNowhereItDoesHarm(t *testing.T) {
	m := furnished(t)
	m.put("there", "mine")
	for file, part := range map[string]string{"there": "already exists", "bot/downloads/x": "is in the data directory", "no/where": "no such file"} {
		before := files(t, m.home)
		_, err := Export(ExportOptions{Dir: m.dir, File: filepath.Join(m.home, file), Now: time.Now()})
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", file, err)
		}
		if diff := cmp.Diff(before, files(t, m.home)); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := Export(ExportOptions{Dir: storetest.At(t, filepath.Join(m.home, "none")), File: filepath.Join(m.home, "x")}); err == nil {
		t.Error("a directory that is not there was exported")
	}
	s, err := Export(ExportOptions{Dir: m.dir, File: filepath.Join(m.home, "x"), Now: time.Now()})
	if err != nil || !slices.Equal(s.Left, []string{"link"}) {
		t.Errorf("left are %q, %v", s.Left, err)
	}
}

func TestADirectoryThatIsLivedInIsKept(t *testing.T) {
	file := furnished(t).export("")
	m := newMachine(t)
	m.put("bot/state/config.json", "{\"mine\":1}")
	m.put("bot/.env", "DISCORD_TOKEN=mine")
	m.put("bot/state/token.json", "")
	before := files(t, m.home)
	if _, err := Import(m.options(file, "")); err == nil || !strings.Contains(err.Error(), "is not empty; --replace") {
		t.Fatalf("it says %v", err)
	}
	if diff := cmp.Diff(before, files(t, m.home)); diff != "" {
		t.Error(diff)
	}
	o := m.options(file, "")
	o.Replace, o.Dry = true, true
	_, err := Import(o)
	must(t, err)
	if diff := cmp.Diff(before, files(t, m.home)); diff != "" {
		t.Error(diff)
	}
	unlock, err := m.dir.Lock()
	must(t, err)
	o.Dry = false
	if _, err := Import(o); err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("beside a bot that runs: %v", err)
	}
	must(t, unlock())
	done, err := Import(o)
	must(t, err)
	if got := files(t, done.Kept)["state/config.json"]; got != "{\"mine\":1}" {
		t.Errorf("what was kept in %s has %q", done.Kept, got)
	}
	if !slices.Equal(done.TakenOn, []string{".env"}) || storetest.Text(t, m.dir, ".env") != "DISCORD_TOKEN=mine" || storetest.Text(t, m.dir, "state/config.json") != "{}" {
		t.Errorf("taken on are %q", done.TakenOn)
	}
	if _, running := m.dir.Running(); running {
		t.Error("the import counts as a bot")
	}
	m.tidy()
	if _, err := Import(o); err != nil { // within the same second
		t.Error(err)
	}
}

func TestADirectoryOfTheOriginalProgramIsImported(t *testing.T) {
	old := newMachine(t)
	for path, text := range map[string]string{
		"bot/state/sessions.json": "11111111-2222-3333-4444-555555555555", "bot/state/ping_budget.json": "{}", "bot/.env": "DISCORD_TOKEN=x",
		"bot/routines/a.md": "x", "bot/.git/HEAD": "ref: refs/heads/master\n", "bot/state/credentials.json": "{}",
		"sessions/11111111-2222-3333-4444-555555555555.jsonl": "{}\n",
	} {
		old.put(path, text)
	}
	must(t, os.MkdirAll(old.dir.Path(".claude"), 0o700))
	must(t, os.Symlink("../skills", old.dir.Path(".claude/skills"))) // recreated at every start
	m := newMachine(t)
	o := m.options(old.dir.Root(), "")
	o.FromSessions = old.sessions
	done, err := Import(o)
	must(t, err)
	if diff := cmp.Diff(files(t, old.dir.Root()), files(t, m.dir.Root())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(files(t, old.sessions), files(t, m.sessions)); diff != "" || len(done.Left) != 0 {
		t.Errorf("%s left %q", diff, done.Left)
	}
	for from, part := range map[string]string{
		m.home: "is not a data directory", filepath.Join(m.home, "none"): "cannot be read", m.dir.Root(): "stop it first",
	} {
		if from == m.dir.Root() {
			unlock, err := m.dir.Lock()
			must(t, err)
			defer func() { must(t, unlock()) }()
		}
		if _, err := Import(newMachine(t).options(from, "")); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", from, err)
		}
	}
	o.From = old.dir.Root()
	o.Dir = storetest.At(t, old.dir.Path("within"))
	if _, err := Import(o); err == nil || !strings.Contains(err.Error(), "contains the other") {
		t.Errorf("into itself: %v", err)
	}
}

func TestAConversationThatWentOnIsNotSetBack(t *testing.T) {
	file := furnished(t).export("")
	m := newMachine(t)
	m.put("sessions/11111111.jsonl", "{\"a\":1}\n{\"b\":2}\n")
	m.put("sessions/11111111/sub/agent.jsonl", "other")
	done, err := Import(m.options(file, ""))
	must(t, err)
	got := files(t, m.sessions)
	if done.KeptSess != 1 || got["11111111.jsonl"] != "{\"a\":1}\n{\"b\":2}\n" || got["11111111/sub/agent.jsonl"] != "{}\n" {
		t.Errorf("%d were kept: %q", done.KeptSess, got)
	}
	for name, text := range got {
		if strings.Contains(name, ".before-") && text != "other" || len(got) != 6 {
			t.Errorf("%s is %q of %d", name, text, len(got))
		}
	}
}

func TestPlacesThatCannotBeReplaced(t *testing.T) {
	file := furnished(t).export("")
	m := newMachine(t)
	t.Setenv("HOME", filepath.Join(m.home, "bot", "deep"))
	m.put("bot/deep/x", "")
	o := m.options(file, "")
	o.Replace = true
	if _, err := Import(o); err == nil || !strings.Contains(err.Error(), "home directory") {
		t.Errorf("above the home directory: %v", err)
	}
	m = newMachine(t)
	must(t, os.Symlink(filepath.Join(m.home, "nowhere"), m.dir.Root()))
	if _, err := Import(m.options(file, "")); err == nil || !strings.Contains(err.Error(), "without a target") {
		t.Errorf("over a link to nowhere: %v", err)
	}
	m = newMachine(t)
	must(t, os.MkdirAll(filepath.Join(m.home, "elsewhere"), 0o700))
	must(t, os.Symlink("elsewhere", m.dir.Root()))
	if _, err := Import(m.options(file, "")); err != nil || !exists(filepath.Join(m.home, "elsewhere/IDENTITY.md")) {
		t.Errorf("through a link: %v", err)
	}
}

func TestWhatAKilledImportLeftIsRemovedByALaterOne(t *testing.T) {
	file := furnished(t).export("")
	m := newMachine(t)
	m.put("bot.import-0badcafe/x", "")
	m.put("bot.import-1badcafe/x", "")
	long := time.Now().Add(-2 * time.Hour)
	must(t, os.Chtimes(filepath.Join(m.home, "bot.import-0badcafe"), long, long))
	_, err := Import(m.options(file, ""))
	must(t, err)
	if exists(filepath.Join(m.home, "bot.import-0badcafe")) || !exists(filepath.Join(m.home, "bot.import-1badcafe")) {
		t.Error("the old one is still there, or one that may be at work is gone")
	}
}

func TestAMountPointIsNotExchanged(t *testing.T) {
	testkit.Alone(t)
	m := newMachine(t)
	must(t, os.MkdirAll(m.dir.Root(), 0o700))
	if err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "tmpfs", m.dir.Root()).Run(); err != nil {
		t.Skipf("needs root and mount: %v", err)
	}
	defer func() { must(t, exec.Command("umount", m.dir.Root()).Run()) }()
	if _, err := Import(m.options(furnished(t).export(""), "")); err == nil || !strings.Contains(err.Error(), "choose a folder in it") {
		t.Errorf("it says %v", err)
	}
	m.tidy()
}
