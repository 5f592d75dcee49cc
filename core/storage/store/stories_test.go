package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

func TestFilesAreReadAndWrittenWhole(t *testing.T)          { stories(t, "files", (*shelf).step) }
func TestStateIsReadWrittenAndSetAside(t *testing.T)        { stories(t, "json", (*shelf).step) }
func TestADirectoryIsPreparedAndTidied(t *testing.T)        { stories(t, "directory", (*shelf).step) }
func TestTheDirectoryMayGoWhileTheBotRuns(t *testing.T)     { stories(t, "gone", (*shelf).step) }
func TestTheLastValidVersionsOfFilesAreKept(t *testing.T)   { stories(t, "valid", (*shelf).step) }
func TestWhatIsNoFileNeverHangs(t *testing.T)               { stories(t, "strange", (*shelf).step) }
func TestWhoMayWriteDecidesWhatIsTrusted(t *testing.T)      { stories(t, "trusted", (*shelf).step) }
func TestWhyADirectoryCannotBeUsedIsSaidFirst(t *testing.T) { stories(t, "usable", (*shelf).step) } // N22, N23

// stories plays a file of testdata: behind a step, or below it if that is more than a line, is what the store answers, with the
// kinds of its errors in brackets.
func stories(t *testing.T, file string, play func(*shelf, string) string) {
	t.Helper()
	goldentest.Stories(t, file+".txt", func(t *testing.T, story string) string {
		top, err := filepath.EvalSymlinks(t.TempDir())
		testkit.Must(t, err)
		t.Setenv("HOME", filepath.Join(top, "home")) // which errors shorten to ~
		s := &shelf{t: t, top: top, unlocks: map[*Dir]func() error{}}
		s.at("data")
		var out []string
		for line := range strings.Lines(story) {
			line = strings.TrimRight(line, "\n")
			if step, is := strings.CutPrefix(line, "> "); is {
				step, _, _ = strings.Cut(step, " → ")
				answer, between := s.hide(play(s, s.read(step))), "\n"
				if !strings.Contains(answer, "\n") {
					between = " → "
				}
				out = append(out, strings.TrimSuffix("> "+step+between+answer, " → "))
			} else if strings.HasPrefix(line, "#") {
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	})
}

// shelf is a folder, TOP, with data directories: TOP/data and those to which a story goes.
type shelf struct {
	t       *testing.T
	top     string
	d, one  *Dir                  // the current one, and the first
	unlocks map[*Dir]func() error // of the bots
}

func (s *shelf) at(rel string) {
	d, err := At(filepath.Join(s.top, rel))
	testkit.Must(s.t, err)
	s.d, s.one = d, cmp.Or(s.one, d)
}

var (
	escape  = regexp.MustCompile(`\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4})`)
	passing = regexp.MustCompile(`\d{8}T\d{6}`)
)

// read reads the escapes of Go, and *N as N letters.
func (s *shelf) read(step string) string {
	step = escape.ReplaceAllStringFunc(strings.ReplaceAll(step, "TOP", s.top), func(one string) string {
		text, _ := strconv.Unquote(`"` + one + `"`)
		return text
	})
	if before, n, many := strings.Cut(step, "*"); many {
		count, err := strconv.Atoi(n)
		testkit.Must(s.t, err)
		step = before + strings.Repeat("x", count)
	}
	return step
}

func (s *shelf) hide(answer string) string {
	answer = regexp.MustCompile(fmt.Sprintf(`(pid |pid "|kill |running )%d\b`, os.Getpid())).ReplaceAllString(answer, "${1}PID")
	return passing.ReplaceAllString(strings.ReplaceAll(answer, s.top, "TOP"), "TIME")
}

// kinds are the errors that callers tell apart.
var kinds = map[string]error{
	"no file": fs.ErrNotExist, "exists": fs.ErrExist, "permission": fs.ErrPermission, "outside": errOutside, "gone": errGone,
	"too large": errTooLarge, "not regular": errNotRegular, "no folder": syscall.ENOTDIR,
}

func said(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	for _, kind := range []string{"no file", "exists", "permission", "outside", "gone", "too large", "not regular", "no folder"} {
		if errors.Is(err, kinds[kind]) {
			text += " [" + kind + "]"
		}
	}
	var corrupt *CorruptError
	var lost *LostError
	var running *RunningError
	switch {
	case errors.As(err, &corrupt):
		text += " [corrupt, kept as " + corrupt.Kept + "]"
	case errors.As(err, &lost):
		text += " [lost]"
	case errors.As(err, &running):
		text += fmt.Sprintf(" [running %d]", running.PID)
	}
	return text
}

func (s *shelf) step(step string) string {
	verb, rest, _ := strings.Cut(step, " ")
	rel, text, _ := strings.Cut(rest, " ")
	if answer, known := s.asUser(verb, rel, text); known {
		return answer
	}
	d := s.d
	switch verb {
	case "at", "another": // another program on the same directory
		if verb == "another" {
			rel, _ = filepath.Rel(s.top, d.Root())
		}
		s.at(rel)
	case "first": // of them
		s.d = s.one
	case "size":
		return fmt.Sprint(Size(d.Path(rel)))
	case "write":
		return said(d.Write(rel, []byte(text)))
	case "append":
		return said(d.Append(rel, []byte(text)))
	case "read":
		data, err := d.Read(rel)
		if err != nil || len(data) > 1000 {
			return said(err) + fmt.Sprintf(" %d bytes", len(data))
		}
		return fmt.Sprintf("%q", data)
	case "remove":
		return said(d.Remove(rel))
	case "rename":
		return said(d.Rename(rel, text))
	case "create":
		return said(d.Create(rel, []byte(text)))
	case "folder":
		return said(d.MakeFolder(rel))
	case "everything": // by a name: the kinds of the errors
		var all []string
		for _, try := range []struct {
			what string
			err  error
		}{
			{"read", second(d.Read(rel))},
			{"write", d.Write(rel, nil)},
			{"append", d.Append(rel, []byte("x"))},
			{"append nothing", d.Append(rel)},
			{"remove", d.Remove(rel)},
			{"create", d.Create(rel, nil)},
			{"make a folder", d.MakeFolder(rel)},
			{"open", second(d.Open(rel))},
			{"list", second(d.Entries(rel))},
			{"move away", d.Rename(rel, "state/z")},
			{"replace", d.Rename("state/x", rel)},
			{"lock", d.WithLock("x", func() error { return nil })},
			{"peek", second(d.PeekJSON(rel, &state{}))},
		} {
			_, kinds, _ := strings.Cut(said(try.err), " [")
			all = append(all, strings.TrimSuffix(try.what+": "+strings.TrimSuffix(kinds, "]"), ": "))
		}
		return strings.Join(all, ", ")
	case "open":
		f, err := d.Open(rel)
		if err == nil {
			err = f.Close()
		}
		return said(err)
	case "entries":
		all, err := d.Entries(rel)
		return strings.TrimSpace(fmt.Sprintf("%v %s", all, said(err)))
	case "turn":
		return said(d.WithLock(rel, func() error { return nil }))
	case "json", "peek", "load":
		return s.json(verb, rel)
	case "save":
		return said(d.WriteJSON(rel, state{Capacity: 5, Name: "a <b> & c"}))
	case "prepare":
		return said(d.Prepare())
	case "tidy":
		d.Tidy(time.Now())
	case "lock":
		unlock, err := d.Lock()
		s.unlocks[d] = unlock
		return said(err)
	case "unlock":
		return said(s.unlocks[d]())
	case "look":
		found, err := d.Look()
		return strings.TrimSpace(map[Found]string{AsItWas: "as it was ", Replaced: "replaced "}[found] + said(err))
	case "status":
		pid, running := d.Running()
		return fmt.Sprintf("exists %t, running %t %d, usable: %s, writable: %s, trusted: %s, concerns: %q",
			d.Exists(), running, pid, said(d.Usable()), said(d.Writable()), said(d.Trusted()), d.Concerns())
	case "keep":
		return said(d.KeepValid(rel, []byte(text)))
	case "valid":
		data, at, ok := d.Valid(rel)
		if !ok {
			return "there is none"
		}
		return fmt.Sprintf("%q of %s ago", data, time.Since(at).Round(time.Hour))
	case "prune":
		return said(d.PruneValid(rel, func(rel string) bool { return rel == text }))
	default:
		s.t.Fatalf("no step %q", verb)
	}
	return ""
}

// asUser does what a user does in the directory, without the store.
func (s *shelf) asUser(verb, rel, text string) (answer string, known bool) {
	path := s.d.Path(rel)
	switch verb {
	case "put":
		put(s.t, s.d, rel, text)
	case "mkdir":
		testkit.Must(s.t, os.MkdirAll(path, 0o700))
	case "mkfifo":
		testkit.Must(s.t, syscall.Mkfifo(path, 0o600))
	case "ln":
		testkit.Must(s.t, os.Symlink(text, path))
	case "rm":
		testkit.Must(s.t, os.RemoveAll(path))
	case "mv":
		testkit.Must(s.t, os.Rename(filepath.Join(s.top, rel), filepath.Join(s.top, text)))
	case "chmod":
		mode, err := strconv.ParseUint(text, 8, 32)
		testkit.Must(s.t, err)
		testkit.Must(s.t, syscall.Chmod(path, uint32(mode)))
	case "age":
		age, err := time.ParseDuration(text)
		testkit.Must(s.t, err)
		testkit.Must(s.t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	case "ls":
		return s.tree(), true
	default:
		return "", false
	}
	return "", true
}

// tree lists what is on the shelf: modes, names and texts.
func (s *shelf) tree() string {
	var all []string
	testkit.Must(s.t, filepath.WalkDir(s.top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == s.top {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := info.Mode().String() + " " + strings.TrimPrefix(path, s.top+"/")
		switch {
		case info.Mode().IsRegular() && info.Size() < 1000:
			data, err := os.ReadFile(path)
			all = append(all, fmt.Sprintf("%s %q", line, data))
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all = append(all, "link "+strings.TrimPrefix(path, s.top+"/")+" → "+target)
			return err
		}
		all = append(all, line)
		return nil
	}))
	return strings.Join(all, "\n")
}

// json reads a value that has defaults, in one of three ways.
func (s *shelf) json(verb, rel string) string {
	v := state{Capacity: 5, Name: "x", List: []int{1, 2, 3}, Map: map[string]int{"a": 1}}
	var log bytes.Buffer
	found, err := map[string]func() (bool, error){
		"peek": func() (bool, error) { return s.d.PeekJSON(rel, &v) },
		"json": func() (bool, error) { return s.d.ReadJSON(rel, &v) },
		"load": func() (bool, error) { return s.d.LoadJSON(rel, &v, slog.New(slog.NewTextHandler(&log, nil))) },
	}[verb]()
	_, logged, _ := strings.Cut(log.String(), "level=")
	return strings.TrimSpace(fmt.Sprintf("found %t: %+v %s%s", found, v, said(err), logged))
}

func second[T any](_ T, err error) error { return err }
