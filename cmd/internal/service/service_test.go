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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// world is a machine: its files, what its supervisor answers, and what was run.
type world struct {
	t   *testing.T
	o   Options
	out bytes.Buffer
	ran []string // commands that are no questions
	bot int      // that runs on the directory beside the service; 0 for none
	// answers are by the beginning of a command; what none is for is done in silence. An answer that begins with "no" is an error.
	answers map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, answers: map[string]string{
		"systemctl --user show ollim-bot": "ActiveState=active\nSubState=running\nMainPID=42\nNRestarts=2\nStatusText=3 routines\n" +
			"UnitFileState=enabled\nActiveEnterTimestamp=@1795359600\nResult=success\n",
		"launchctl print gui": "local.ollim-bot = {\n\tstate = running\n\tpid = 42\n\truns = 3\n\tstate = active\n}",
	}}
	w.o = Options{
		System: "linux", Exe: "/opt/bin/ollim-bot", Dir: filepath.Join(root, "home/.ollim-bot"), Main: true,
		Home: filepath.Join(root, "home"), User: "eve", UID: 501, Root: root, Out: &w.out,
		Getenv:  func(name string) string { return map[string]string{"PATH": "/usr/bin:rel:/bin"}[name] },
		Running: func() (int, bool) { return w.bot, w.bot > 0 },
		Run: func(_ context.Context, words ...string) (string, error) {
			line := strings.Join(words, " ")
			if words[0] != "journalctl" && !strings.Contains(line, " show") && !strings.Contains(line, " print ") {
				w.ran = append(w.ran, line)
			}
			for begin, answer := range w.answers {
				if strings.HasPrefix(line, begin) {
					if strings.HasPrefix(answer, "no") {
						return answer, errors.New("exit status 1")
					}
					return answer, nil
				}
			}
			return "", nil
		},
		Show: func(_ context.Context, words ...string) error {
			_, _ = fmt.Fprintf(&w.out, "(showed %s)\n", strings.Join(words, " "))
			return nil
		},
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

// The stories have lines of these kinds; the others are what was said and run.
//
//	# a comment
//	> file PATH TEXT…            a file of the system; > gone PATH removes one
//	> edit OLD NEW               in the file of the service
//	> answer TEXT = COMMAND…     what commands that begin so answer, with \n; one that begins with "no" is an error
//	> system | exe | dir | args | bot WORD…
//	> install                    without a word of what it says
//	$ install | uninstall [--dry-run | --replace], $ status, $ logs N [-f]
//	$ cat, $ grep WORD [edited]  the file of the service
//
// What a file has that it writes is left out; $ cat shows it.
func TestAServiceIsInstalledWatchedAndRemovedAsItsStoriesSay(t *testing.T) {
	goldentest.Stories(t, "service.txt", func(t *testing.T, story string) (got string) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for line := range strings.Lines(story) {
				words := strings.Fields(line)
				kind, _, _ := strings.Cut(line, " ")
				if !slices.Contains([]string{"#", ">", "$"}, kind) {
					continue // what was printed
				}
				_, _ = w.out.WriteString(strings.TrimSpace(line) + "\n")
				switch kind {
				case ">":
					w.changes(words[1], words[2:])
				case "$":
					w.does(words[1], append(words[2:], ""))
				}
			}
			got = strings.ReplaceAll(w.out.String(), w.o.Root, "")
			got = regexp.MustCompile(`since \w+ [-\d]+ [:\d]+ \S+,`).ReplaceAllString(got, "since {then},") // by the clock of this machine
			// Of a path that is not always the same.
			got = regexp.MustCompile(`(sum=|ollim-bot-)[0-9a-f]{8,}`).ReplaceAllString(got, "${1}{sum}")
			got = regexp.MustCompile(`(?s)(\nwrites [^\n]+\n)    .*?(\nruns )`).ReplaceAllString(got, "${1}    …${2}")
		})
		return got
	})
}

// changes changes the machine.
func (w *world) changes(what string, words []string) {
	w.t.Helper()
	rest := strings.Join(words, " ")
	switch what {
	case "file":
		w.file(words[0], strings.Join(words[1:], " "))
	case "gone":
		testkit.Must(w.t, os.RemoveAll(filepath.Join(w.o.Root, rest)))
	case "install": // what is said does not matter
		before := w.out.Len()
		testkit.Must(w.t, w.service().Install(w.t.Context(), false, false))
		w.out.Truncate(before)
	case "edit":
		path := w.service().path
		data, err := os.ReadFile(path)
		testkit.Must(w.t, err)
		testkit.Must(w.t, os.WriteFile(path, bytes.Replace(data, []byte(words[0]), []byte(words[1]), 1), 0o600))
	case "answer":
		text, begin, _ := strings.Cut(rest, " = ")
		w.answers[begin] = strings.ReplaceAll(text, `\n`, "\n")
	case "system":
		w.o.System = rest
	case "exe":
		w.o.Exe = rest
	case "args":
		w.o.Args = words
	case "dir":
		w.o.Main, w.o.Dir = false, filepath.Join(w.o.Home, strings.ReplaceAll(rest, `\n`, "\n"))
	case "bot":
		n, err := strconv.Atoi(rest)
		testkit.Must(w.t, err)
		w.bot = n
	default:
		w.t.Fatalf("nothing is known of > %s", what)
	}
}

func (w *world) service() *Service {
	w.t.Helper()
	s, err := New(w.t.Context(), w.o)
	testkit.Must(w.t, err)
	return s
}

// does does what the user asks for, and says whether it ran what it had announced.
func (w *world) does(what string, flags []string) {
	w.ran = nil
	before := w.out.Len()
	if err := w.asked(what, flags); err != nil {
		_, _ = fmt.Fprintf(&w.out, "error: %v\n", err)
	}
	announced := ""
	for line := range strings.Lines(w.out.String()[before:]) {
		if command, ok := strings.CutPrefix(line, "runs "); ok && what != "status" {
			announced += command
		}
	}
	switch ran := strings.Join(append(w.ran, ""), "\n"); {
	case ran == announced && ran != "":
		_, _ = w.out.WriteString("(it ran that)\n")
	case ran != "":
		_, _ = fmt.Fprintf(&w.out, "(it ran:\n%s)\n", ran)
	}
}

func (w *world) asked(what string, flags []string) error {
	ctx := w.t.Context()
	s, err := New(ctx, w.o)
	if err != nil {
		return err
	}
	w.ran = nil
	switch what {
	case "install":
		return s.Install(ctx, flags[0] == "--dry-run", flags[0] == "--replace")
	case "uninstall":
		return s.Uninstall(ctx, flags[0] == "--dry-run")
	case "status":
		now, err := s.Status(ctx)
		_, _ = fmt.Fprintf(&w.out, "(installed %v, running %v)\n", now.Installed, now.Running)
		return err
	case "logs":
		n, err := strconv.Atoi(flags[0])
		return errors.Join(err, s.Logs(ctx, n, flags[1] == "-f"))
	case "cat":
		data, err := os.ReadFile(s.path)
		for line := range strings.Lines(string(data)) {
			_, _ = w.out.WriteString("    " + line)
		}
		if d := xml.NewDecoder(bytes.NewReader(data)); err == nil && w.o.System == "darwin" {
			for token, bad := d.Token(); token != nil; token, bad = d.Token() {
				err = bad
			}
		}
		return err
	case "grep":
		data, err := os.ReadFile(strings.TrimSuffix(s.path+"."+flags[1], "."))
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, flags[0]) {
				_, _ = w.out.WriteString(line)
			}
		}
		return err
	}
	return fmt.Errorf("nothing is known of $ %s", what)
}

func TestSystemdTakesTheUnit(t *testing.T) {
	testkit.Alone(t)
	testkit.Needs(t, "systemd-analyze")
	w := newWorld(t)
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
