package service

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
)

// world is a machine: its files, what its supervisor answers, and what was run.
type world struct {
	t    testing.TB
	o    Options
	out  bytes.Buffer
	ran  []string
	show []string
	// answers are by the beginning of a command; what none is for is done in silence.
	answers map[string]string
	fails   map[string]bool
}

const running = "ActiveState=active\nSubState=running\nMainPID=42\nNRestarts=2\nStatusText=3 routines\n" +
	"UnitFileState=enabled\nActiveEnterTimestamp=@1795359600\nResult=success\n"

func newWorld(t testing.TB, system string) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, answers: map[string]string{"systemctl --user show ": running}, fails: map[string]bool{}}
	w.o = Options{
		System: system, Exe: "/opt/bin/ollim-bot", Dir: filepath.Join(root, "home/.ollim-bot"), Main: true,
		Home: filepath.Join(root, "home"), User: "eve", UID: 501, Root: root, Out: &w.out,
		Getenv:  func(name string) string { return map[string]string{"PATH": "/usr/bin:rel:/bin"}[name] },
		Running: func() (int, bool) { return 0, false },
		Run: func(_ context.Context, words ...string) (string, error) {
			line := strings.Join(words, " ")
			w.ran = append(w.ran, line)
			for begin := range w.fails {
				if strings.HasPrefix(line, begin) {
					return "it says no\nand more", errors.New("exit status 1")
				}
			}
			for begin, answer := range w.answers {
				if strings.HasPrefix(line, begin) {
					return answer, nil
				}
			}
			return "", nil
		},
		Show: func(_ context.Context, words ...string) error { w.show = words; return nil },
	}
	w.file("run/systemd/system/here", "")
	return w
}

// file puts a file of the system in place.
func (w *world) file(rel, text string) {
	w.t.Helper()
	path := filepath.Join(w.o.Root, rel)
	testkit.Must(w.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
}

// service is that of the world, with nothing said yet.
func (w *world) service() *Service {
	w.t.Helper()
	w.out.Reset()
	s, err := New(w.t.Context(), w.o)
	testkit.Must(w.t, err)
	w.ran = nil
	return s
}

func (w *world) said(parts ...string) {
	w.t.Helper()
	for _, part := range parts {
		if !strings.Contains(w.out.String(), part) {
			w.t.Errorf("it does not say %q:\n%s", part, w.out.String())
		}
	}
}

func text(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	testkit.Must(t, err)
	return string(data)
}

func TestAnInstallShowsWhatItWritesAndRunsAndDoesThat(t *testing.T) {
	w := newWorld(t, "linux")
	w.answers["systemctl --user show "] = "ActiveState=inactive\nSubState=dead\n"
	s := w.service()
	testkit.Must(t, s.Install(t.Context(), true, false))
	w.said("writes ~/.config/systemd/user/ollim-bot.service:", "    ExecStart=/opt/bin/ollim-bot run --headless --data-dir "+w.o.Dir+"\n",
		"    Environment=PATH=/usr/bin:/bin\n", "runs systemctl --user enable ollim-bot.service", "nothing was changed (--dry-run)")
	if _, err := os.Stat(s.path); err == nil || len(w.ran) != 1 {
		t.Errorf("a dry run has written %s or run %q", s.path, w.ran)
	}
	w.answers["systemctl --user show "] = running
	s = w.service()
	testkit.Must(t, s.Install(t.Context(), false, false))
	want := []string{
		"systemctl --user daemon-reload", "systemctl --user enable ollim-bot.service", "systemctl --user reset-failed ollim-bot.service",
		"systemctl --user restart ollim-bot.service",
	}
	if diff := cmp.Diff(want, w.ran[1:5]); diff != "" {
		t.Error(diff)
	}
	w.said("ollim-bot.service is running (process 42)", "loginctl enable-linger eve")
	s = w.service()
	testkit.Must(t, s.Install(t.Context(), false, false))
	w.said("nothing to do")
	if len(w.ran) != 1 {
		t.Errorf("a second install runs %q", w.ran[1:])
	}
}

func TestAChangedPathOfTheProgramIsShownAndWritten(t *testing.T) {
	w := newWorld(t, "linux")
	testkit.Must(t, w.service().Install(t.Context(), false, false))
	w.o.Exe = "/usr/local/bin/ollim-bot"
	s := w.service()
	_, err := s.Status(t.Context())
	testkit.Must(t, err)
	w.said("active (running), process 42, since", "restarted 2 times", "says     3 routines", "starts a different program than this one")
	s = w.service()
	testkit.Must(t, s.Install(t.Context(), false, false))
	w.said("changes in ", "    - ExecStart=/opt/bin/ollim-bot", "    + ExecStart=/usr/local/bin/ollim-bot")
	if !strings.Contains(text(t, s.path), "ExecStart=/usr/local/bin/ollim-bot run") {
		t.Error("the file has the old path")
	}
}

func TestAFileThatWasEditedByHandIsKept(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		w := newWorld(t, system)
		w.answers["launchctl print"] = "local.ollim-bot = {\n\tstate = running\n\tpid = 42\n\truns = 3\n\tstate = active\n}"
		s := w.service()
		testkit.Must(t, s.Install(t.Context(), false, false))
		mine := strings.Replace(text(t, s.path), "15", "150", 1)
		testkit.Must(t, os.WriteFile(s.path, []byte(mine), 0o600))
		s = w.service()
		testkit.Must(t, s.Install(t.Context(), false, false))
		w.said("was edited by hand and is not changed")
		if text(t, s.path) != mine {
			t.Error("it did not stay")
		}
		s = w.service()
		testkit.Must(t, s.Install(t.Context(), false, true))
		w.said("yours is kept as")
		if text(t, s.path+".edited") != mine || text(t, s.path) != string(s.written()) {
			t.Error("the file of the user is lost, or ours was not written")
		}
		testkit.Must(t, os.WriteFile(s.path, []byte(mine+"\n"), 0o600))
		testkit.Must(t, w.service().Uninstall(t.Context(), false))
		w.said("was edited by hand: renames it", "your data is still in ~/.ollim-bot")
		if _, err := os.Stat(s.path); err == nil || text(t, s.path+".edited") != mine+"\n" {
			t.Error("an uninstall has lost what the user wrote, or left it in force")
		}
	}
}

func TestAnUninstallTakesBackWhatAnInstallHasDone(t *testing.T) {
	w := newWorld(t, "linux")
	s := w.service()
	testkit.Must(t, s.Uninstall(t.Context(), false))
	w.said("is not installed")
	testkit.Must(t, w.service().Install(t.Context(), false, false))
	s = w.service()
	testkit.Must(t, s.Uninstall(t.Context(), true))
	if _, err := os.Stat(s.path); err != nil || len(w.ran) != 0 {
		t.Errorf("a dry run did something: %v, %q", err, w.ran)
	}
	testkit.Must(t, w.service().Uninstall(t.Context(), false))
	if _, err := os.Stat(s.path); err == nil || w.ran[0] != "systemctl --user disable --now ollim-bot.service" {
		t.Errorf("the file is still there, or it was not stopped: %q", w.ran)
	}
}

func TestABotThatRunsBesideItIsNotRivalled(t *testing.T) {
	w := newWorld(t, "linux")
	w.o.Running = func() (int, bool) { return 7, true }
	s := w.service()
	if err := s.Install(t.Context(), false, false); err == nil || !strings.Contains(err.Error(), "process 7") {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Stat(s.path); err == nil {
		t.Error("it has written the unit all the same")
	}
}

func TestAStartThatFailsSaysWhereToLook(t *testing.T) {
	w := newWorld(t, "linux")
	w.fails["systemctl --user restart"] = true
	if err := w.service().Install(t.Context(), false, false); err == nil || !strings.Contains(err.Error(), "it says no\n`ollim-bot service logs`") {
		t.Errorf("it says %v", err)
	}
}

func TestAnotherDirectoryHasAServiceOfItsOwn(t *testing.T) {
	w := newWorld(t, "linux")
	one := w.service()
	w.o.Main, w.o.Dir = false, filepath.Join(w.o.Home, `o'd "100%" $HOME dir`)
	two := w.service()
	if one.path == two.path {
		t.Error("two directories share a unit")
	}
	want := `ExecStart=/opt/bin/ollim-bot run --headless --data-dir "` + w.o.Home + `/o'd \"100%%\" $$HOME dir"` + "\n"
	if !strings.Contains(two.text, want) {
		t.Errorf("no %s in\n%s", want, two.text)
	}
	w.o.Dir = "a\nExecStartPre=rm"
	if _, err := New(t.Context(), w.o); err == nil {
		t.Error("a line break in a path was taken")
	}
}

func TestWhereNothingSupervisesItSaysWhatDoes(t *testing.T) {
	for file, want := range map[string]string{
		"usr/bin/crontab":    "@reboot /opt/bin/ollim-bot run --headless --data-dir ",
		"usr/bin/tmux":       "tmux new-session -d -s ollim-bot '/opt/bin/ollim-bot run --data-dir ",
		"sbin/openrc-run":    "supervisor=supervise-daemon",
		"usr/bin/chpst":      "chpst -u eve /opt/bin/ollim-bot",
		".dockerenv":         "a container",
		"etc/nothing-at-all": "nohup /opt/bin/ollim-bot",
	} {
		w := newWorld(t, "linux")
		testkit.Must(t, os.RemoveAll(filepath.Join(w.o.Root, "run")))
		w.file(file, "")
		if _, err := New(t.Context(), w.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s: %v", file, err)
		}
	}
	w := newWorld(t, "linux")
	w.fails["systemctl --user show-environment"] = true
	if _, err := New(t.Context(), w.o); err == nil || !strings.Contains(err.Error(), "enable-linger eve") {
		t.Errorf("without a user's systemd: %v", err)
	}
}

func TestLingeringIsTold(t *testing.T) {
	w := newWorld(t, "linux")
	w.file("var/lib/systemd/linger/eve", "")
	testkit.Must(t, w.service().Install(t.Context(), false, false))
	w.said("lingering is enabled")
}

func TestLogsComeFromTheJournalOrTheBotsOwnFile(t *testing.T) {
	w := newWorld(t, "linux")
	if err := w.service().Logs(t.Context(), 7, true); err == nil || !strings.Contains(err.Error(), "not installed; run ollim-bot service install") || w.show != nil {
		t.Errorf("N15: without a service it says %v and runs %v", err, w.show)
	}
	testkit.Must(t, w.service().Install(t.Context(), false, false))
	testkit.Must(t, w.service().Logs(t.Context(), 7, true))
	if got := strings.Join(w.show, " "); got != "tail -n 7 -F "+w.o.Dir+"/state/bot.log" {
		t.Errorf("without a journal it shows %s", got)
	}
	w.answers["journalctl"] = "a line"
	testkit.Must(t, w.service().Logs(t.Context(), 7, true))
	if got := strings.Join(w.show, " "); got != "journalctl --user --quiet --no-pager --unit ollim-bot.service --lines 7 --follow" {
		t.Errorf("it shows %s", got)
	}
}

// plist reads a property list: dictionaries as maps, the rest as it is written.
func plist(t *testing.T, d *xml.Decoder, start xml.StartElement) any {
	t.Helper()
	dict, list, key, chars := map[string]any{}, []any{}, "", ""
	for {
		token, err := d.Token()
		testkit.Must(t, err)
		switch token := token.(type) {
		case xml.CharData:
			chars += string(token)
		case xml.EndElement:
			switch start.Name.Local {
			case "dict":
				return dict
			case "array":
				return list
			case "true", "false":
				return start.Name.Local == "true"
			}
			return chars
		case xml.StartElement:
			value := plist(t, d, token)
			if token.Name.Local == "key" {
				key = value.(string)
				continue
			}
			dict[key], list = value, append(list, value)
		}
	}
}

func TestTheAgentDecodesToWhatItShouldBe(t *testing.T) {
	w := newWorld(t, "darwin")
	w.o.Dir, w.o.Args = filepath.Join(w.o.Home, "a <b> & 'c'"), []string{"--engine", "script"}
	w.answers["launchctl print"] = "local.ollim-bot = {\n\tstate = running\n\tpid = 42\n\truns = 3\n}"
	s := w.service()
	testkit.Must(t, s.Install(t.Context(), false, false))
	w.said("runs launchctl bootout gui/501/local.ollim-bot", "runs launchctl bootstrap gui/501 "+s.path, "process 42")
	d := xml.NewDecoder(strings.NewReader(text(t, s.path)))
	var got any
	for got == nil {
		token, err := d.Token()
		testkit.Must(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "dict" {
			got = plist(t, d, e)
		}
	}
	want := map[string]any{
		"Label":                "local.ollim-bot",
		"ProgramArguments":     []any{"/opt/bin/ollim-bot", "run", "--headless", "--data-dir", w.o.Dir, "--engine", "script"},
		"EnvironmentVariables": map[string]any{"PATH": "/usr/bin:/bin"},
		"RunAtLoad":            true,
		"KeepAlive":            map[string]any{"SuccessfulExit": false},
		"ThrottleInterval":     "10", "ExitTimeOut": "15", "Umask": "63",
		"StandardErrorPath": filepath.Join(w.o.Dir, "state", "service.log"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if now, err := s.Status(t.Context()); err != nil || now.Restarts != 2 || !now.Running {
		t.Errorf("its state is %+v, %v", now, err)
	}
	w.fails["launchctl print"] = true
	if now, err := s.Status(t.Context()); err != nil || now.Running || now.Says != "not loaded" {
		t.Errorf("unloaded it is %+v, %v", now, err)
	}
}

func TestSystemdTakesTheUnit(t *testing.T) {
	testkit.Alone(t)
	testkit.Needs(t, "systemd-analyze")
	w := newWorld(t, "linux")
	exe, err := exec.LookPath("systemd-analyze") // any program that exists
	testkit.Must(t, err)
	w.o.Exe, w.o.Dir, w.o.Main = exe, filepath.Join(w.o.Home, `o'd "100%" $HOME d`), false
	s := w.service()
	verify := func(text string) string {
		path := filepath.Join(t.TempDir(), s.name)
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		cmd := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--user", "--man=no", path)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Sprintf("%v: %s", err, out)
		}
		return string(out)
	}
	if said := verify(string(s.written())); said != "" {
		t.Errorf("systemd says of the unit: %s", said)
	}
	if said := verify(strings.Replace(s.text, "OOMPolicy", "OOMPolicies", 1)); !strings.Contains(said, "OOMPolicies") {
		t.Errorf("a key that does not exist is not found: %s", said)
	}
}

func TestAPathInAPropertyListIsReadAsItIs(t *testing.T) {
	var got string
	if err := xml.Unmarshal([]byte("<string>"+quoteXML("a\r\nb\t&<\"'\x01")+"</string>"), &got); err != nil || got != "a\r\nb\t&<\"'\ufffd" {
		t.Errorf("%q, %v", got, err)
	}
}
