package tools

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// A story is played in a data directory, @DIR@, beside which is @OUT@. Each line is a call with its result, in quotes if it is the whole text,
// where … stands for anything, and behind "!" if it is an error:
//
//	Read {"file_path":"a.md"} => "     1\tplum\n"
//	$ cat b.md                => ! No such file
//
// or a change of the directory and of what the tools may do (see story.change). 3×(a#) stands for a1a2a3.
func tell(t *testing.T, name string) {
	data, err := os.ReadFile("testdata/stories/" + name)
	testkit.Must(t, err)
	for part := range strings.SplitSeq(strings.TrimPrefix(string(data), "== "), "\n== ") {
		title, steps, _ := strings.Cut(part, "\n")
		t.Run(title, func(t *testing.T) {
			s := story{newGround(t, nil), 0}
			steps = strings.NewReplacer("@DIR@", s.dir, "@OUT@", s.outside).Replace(repeated(repeated(steps)))
			for line := range strings.Lines(steps) {
				if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
					s.step(line)
				}
			}
		})
	}
}

func TestToolsAnswerAsTheirStoriesSay(t *testing.T) {
	tell(t, "files.txt")
	tell(t, "search.txt")
}

func TestCommandsAnswerAsTheirStoriesSay(t *testing.T) {
	testkit.Alone(t)
	tell(t, "commands.txt")
}

type story struct {
	*ground
	fenced int // commands that ran in the fence
}

var repeats = regexp.MustCompile(`(\d+)×\(((?:[^()×]|\d+×\([^()]*\))*)\)`)

func repeated(text string) string {
	return repeats.ReplaceAllStringFunc(text, func(all string) string {
		parts, out := repeats.FindStringSubmatch(all), new(strings.Builder)
		times, _ := strconv.Atoi(parts[1])
		for i := range times {
			out.WriteString(strings.ReplaceAll(parts[2], "#", strconv.Itoa(i+1)))
		}
		return out.String()
	})
}

func (s *story) step(line string) {
	s.t.Helper()
	at := strings.LastIndex(line, " => ")
	if at < 0 {
		verb, rest, _ := strings.Cut(line, " ")
		name, what, _ := strings.Cut(rest, " ")
		s.change(verb, name, what, rest)
		return
	}
	do, want := line[:at], line[at+4:]
	verb, rest, _ := strings.Cut(do, " ")
	var got Result
	switch path := filepath.Join(s.dir, rest); verb {
	case "$":
		got = s.call("Bash", with{"command": rest})
	case "file":
		got.Text = s.has(rest)
	case "rights":
		info, err := os.Stat(path)
		testkit.Must(s.t, err)
		got.Text = fmt.Sprintf("%04o", info.Mode().Perm())
	case "judged":
		got.Text = s.judged()
	case "fenced":
		got.Text = strconv.Itoa(s.fenced)
	default:
		got = s.run(s.t.Context(), verb, []byte(rest))
	}
	said, fails := strings.CutPrefix(want, "! ")
	if whole, err := strconv.Unquote(said); err == nil {
		said = whole
	} else {
		said = "…" + strings.ReplaceAll(said, `\n`, "\n") + "…"
	}
	if !fits(got.Text, said) || got.IsError != fails || fails && strings.Contains(got.Text, "marigold") {
		s.t.Errorf("%.200s\ngot  %.2000q, error %v\nwant %.2000q", do, got.Text, got.IsError, want)
	}
}

// fits reports whether a text is what a pattern says.
func fits(text, pattern string) bool {
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", ".*") + "$").MatchString(text)
}

func (s *story) change(verb, name, what, all string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	switch verb {
	case "+":
		text, err := strconv.Unquote(what)
		testkit.Must(s.t, err)
		s.put(name, text)
	case "link":
		s.link(what, name)
	case "pipe":
		testkit.Must(s.t, syscall.Mkfifo(path, 0o600))
	case "rights":
		mode, err := strconv.ParseUint(what, 8, 32)
		testkit.Must(s.t, err)
		testkit.Must(s.t, os.Chmod(path, fs.FileMode(mode)))
	case "size":
		n, err := strconv.ParseInt(what, 10, 64)
		testkit.Must(s.t, err)
		testkit.Must(s.t, os.Truncate(path, n))
	case "age":
		d, err := time.ParseDuration(what)
		testkit.Must(s.t, err)
		testkit.Must(s.t, os.Chtimes(path, time.Time{}, time.Now().Add(-d)))
	case "hide": // from the tools; write: from writing
		s.hiddenFromSee = func(path string, write bool) bool {
			for one := range strings.FieldsSeq(all) {
				name, writing := strings.CutPrefix(one, "write:")
				if strings.HasPrefix(path, filepath.Join(s.dir, name)) && (write || !writing) {
					return true
				}
			}
			return false
		}
	case "refuse": // what is judged again, for this reason
		s.refuse = all
	case "open": // the directory by another name
		s.open(Options{Dir: all})
	case "bare": // without any program
		s.open(Options{Dir: s.dir, Env: []string{"PATH=" + s.t.TempDir()}})
	case "fence": // which lets everything pass
		s.open(Options{Dir: s.dir, Env: []string{"PATH=/usr/bin:/bin"}, Sandbox: func(string, *exec.Cmd) func() { s.fenced++; return func() {} }})
	default:
		s.t.Fatalf("no step %q", verb)
	}
}
