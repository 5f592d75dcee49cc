package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

func TestWhatIsRecorded(t *testing.T) {
	testkit.Alone(t)
	stories(t, "recorded")
}

func TestWhatWaitsForAnotherGit(t *testing.T) {
	testkit.Alone(t)
	stories(t, "waits")
}

// stories plays a file of testdata: behind a step, or below it if that is more than a line, is what the recorder or git
// answers, and what is logged.
func stories(t *testing.T, file string) {
	t.Helper()
	goldentest.Stories(t, file+".txt", func(t *testing.T, story string) string {
		s := &workshop{t: t}
		s.d, s.g, s.log = gitRepo(t)
		var out []string
		for line := range strings.Lines(story) {
			line = strings.TrimRight(line, "\n")
			if step, is := strings.CutPrefix(line, "> "); is {
				step, _, _ = strings.Cut(step, " → ")
				answer := s.answers(step)
				if len(answer) == 1 && answer[0] != "" {
					step, answer = step+" → "+answer[0], nil
				}
				out = append(append(out, "> "+step), answer...)
			} else if strings.HasPrefix(line, "#") {
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	})
}

// workshop is a data directory with its repository.
type workshop struct {
	t   *testing.T
	d   *store.Dir
	g   *Recorder
	log *bytes.Buffer
}

func (s *workshop) answers(step string) (out []string) {
	if answer := s.step(step); answer != "" {
		out = strings.Split(answer, "\n")
	}
	for line := range strings.Lines(s.log.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), "level=")
		out = append(out, "log: "+line)
	}
	s.log.Reset()
	for i, line := range out {
		out[i] = regexp.MustCompile(`from=\S+`).ReplaceAllString(strings.ReplaceAll(line, s.d.Root(), "DATA"), "from=TIME")
	}
	return out
}

func (s *workshop) step(step string) string {
	verb, rest, _ := strings.Cut(step, " ")
	rel, more, _ := strings.Cut(rest, " ")
	switch verb {
	case "put":
		put(s.t, s.d, rel, more)
	case "rm":
		testkit.Must(s.t, os.RemoveAll(s.d.Path(rel)))
	case "exec": // makes a file a program
		testkit.Must(s.t, os.Chmod(s.d.Path(rel), 0o700))
	case "ls":
		names, err := filepath.Glob(s.d.Path(rel))
		testkit.Must(s.t, err)
		return strings.Join(names, " ")
	case "before": // the next git of that name another step is taken
		s.g.Sandbox = func(cmd *exec.Cmd) func() {
			if slices.Contains(cmd.Args, rel) {
				s.g.Sandbox = nil
				s.step(more)
			}
			return func() {}
		}
	case "break": // git's commands of that name
		s.g.Sandbox = func(cmd *exec.Cmd) func() {
			if slices.Contains(cmd.Args, rel) {
				cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "echo no >&2; exit 3"}
			}
			return func() {}
		}
	case "mend":
		s.g.Sandbox = nil
	case "ln":
		testkit.Must(s.t, os.Symlink(more, s.d.Path(rel)))
	case "mkdir":
		testkit.Must(s.t, os.MkdirAll(s.d.Path(rel), 0o700))
	case "old": // by an hour
		testkit.Must(s.t, os.Chtimes(s.d.Path(rel), time.Time{}, time.Now().Add(-time.Hour)))
	case "cat":
		data, err := s.d.Read(rel)
		return strings.TrimSpace(string(data) + said(err))
	case "add":
		s.g.Add(rel, more)
	case "adds": // many files at once
		n, err := strconv.Atoi(rel)
		testkit.Must(s.t, err)
		for i := range n {
			name := fmt.Sprintf("reminders/r%d.md", i)
			put(s.t, s.d, name, "x")
			s.g.Add(name, fmt.Sprintf("add reminder %d", i))
		}
	case "remove":
		s.g.Remove(rel, more)
	case "drain":
		drain(s.t, s.g)
	case "commit": // a file, whose name may have blanks
		name, message, _ := strings.Cut(rest, " | ")
		return said(s.g.Commit(s.t.Context(), name, message))
	case "commits": // as a command that has been interrupted
		ctx, cancel := context.WithCancel(s.t.Context())
		cancel()
		return said(s.g.Commit(ctx, rel, more))
	case "restart":
		s.g = New(s.d, s.g.log)
	case "catchup": // with what the agent has written
		for _, folder := range []string{"routines", "skills"} {
			err := s.g.CatchUp(s.t.Context(), folder, func(data []byte) bool { return bytes.HasPrefix(data, []byte("agent")) })
			testkit.Must(s.t, err)
		}
		drain(s.t, s.g)
	case "init":
		return said(s.g.Init(s.t.Context()))
	case "forgets": // whose machine it is
		isolateGit(s.t)
		s.t.Setenv("GIT_CONFIG_COUNT", "1")
		s.t.Setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly") // otherwise git derives a name from the machine's
		s.t.Setenv("GIT_CONFIG_VALUE_0", "true")
	case "git":
		out, err := exec.Command("git", append([]string{"-C", s.d.Root()}, strings.Fields(rest)...)...).CombinedOutput()
		return strings.TrimSpace(string(out) + said(err))
	default:
		s.t.Fatalf("no step %q", verb)
	}
	return ""
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return "error: " + err.Error()
}
