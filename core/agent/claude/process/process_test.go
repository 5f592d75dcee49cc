package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/testkit"
)

// hurry is a context that has ended.
func hurry() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestHowAProcessEnds(t *testing.T) {
	testkit.Alone(t)
	long := strings.Repeat("x", 30_000) // less than the capacity of a pipe
	for name, c := range map[string]struct {
		play string
		end  func(t *testing.T, p *Process, out *bufio.Reader) error
		said string // after the line with which some are ready
		want string
	}{
		"well with its input, and what it wrote can still be read": {echo, func(t *testing.T, p *Process, out *bufio.Reader) error {
			_, err := io.WriteString(p.Stdin(), "over and out\n"+long)
			if got := line(t, out); got != "over and out" {
				t.Errorf("it says %q", got)
			}
			return errors.Join(err, p.Stop(t.Context(), time.Hour))
		}, long, ""},
		"by the mildest step of Stop that works": {"diarist", func(t *testing.T, p *Process, _ *bufio.Reader) error {
			return p.Stop(t.Context(), 300*time.Millisecond)
		}, "input closed\ninterrupt\nterminated\n", "claude ended with exit code 143"},
		"by the last step if it ignores signals": {"stubborn", func(t *testing.T, p *Process, _ *bufio.Reader) error {
			return p.Stop(t.Context(), time.Millisecond)
		}, "", "claude was ended by SIGKILL"},
		"at once with the context": {"stubborn", func(_ *testing.T, p *Process, _ *bufio.Reader) error {
			return p.Stop(hurry(), time.Hour)
		}, "", "claude was ended by SIGKILL"},
		"as the hastier of two Stops decides": {"stubborn", func(t *testing.T, p *Process, _ *bufio.Reader) error {
			hasty, cancel := context.WithCancel(t.Context())
			var both errgroup.Group
			for _, ctx := range []context.Context{t.Context(), hasty} {
				both.Go(func() error {
					err := p.Stop(ctx, time.Hour)
					if p.Err() == nil {
						err = errors.New("Stop returned before the end")
					}
					return err
				})
			}
			cancel()
			return both.Wait()
		}, "", "claude was ended by SIGKILL"},
		"with a write that it does not read": {"stubborn", func(_ *testing.T, p *Process, _ *bufio.Reader) error {
			var writer errgroup.Group
			writer.Go(func() error {
				if _, err := p.Stdin().Write(make([]byte, 1<<20)); err == nil {
					return errors.New("a megabyte went into a pipe")
				}
				return nil
			})
			return errors.Join(p.Signal(os.Kill), writer.Wait())
		}, "", "claude was ended by SIGKILL"},
		"by itself, and says why": {
			`printf "error: unknown option --bogus\nsee \033[31m--help\033[0m\n" >&2; exit 3`, func(*testing.T, *Process, *bufio.Reader) error { return nil }, "",
			"claude ended with exit code 3: error: unknown option --bogus | see --help",
		},
		"by itself, with the code that a sandbox makes of a kill": {
			"exit 137", func(*testing.T, *Process, *bufio.Reader) error { return nil }, "",
			"claude ended with exit code 137",
		},
		"well after fifty megabytes of errors": {"yes a line of errors | head -c 52428799 >&2; echo >&2; echo the last word >&2; echo done; " + echo, func(t *testing.T, p *Process, out *bufio.Reader) error {
			if got := line(t, out); got != "done" {
				t.Errorf("it says %q", got)
			}
			err := p.Stop(t.Context(), time.Minute)
			if got := p.StderrTail(); len(got) > maxTail || !strings.HasSuffix(got, "errors | the last word") {
				t.Errorf("%d bytes, ending with %q", len(got), got[max(0, len(got)-60):])
			}
			return err
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, c.play)
			out := bufio.NewReader(p.Stdout())
			if c.play == "diarist" || c.play == "stubborn" {
				line(t, out) // it has set its signals
				if p.Err() != nil {
					t.Error("it has an error before its end")
				}
			}
			testkit.Must(t, c.end(t, p, out))
			<-p.Done()
			said, err := io.ReadAll(out)
			if diff := cmp.Diff(c.said, string(said)); diff != "" || err != nil {
				t.Errorf("%v, it says %s", err, diff)
			}
			got, end := "", new(ExitError)
			if errors.As(p.Err(), &end) {
				got = end.Error()
			}
			if killed := end.Signal == syscall.SIGKILL; got != c.want || killed != (end.Code == -1) || (p.Err() == nil) != (c.want == "") {
				t.Errorf("it ended with %v", p.Err())
			}
			if n, err := p.Stdout().Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("after the end: %d, %v", n, err)
			}
			if err := p.Signal(os.Interrupt); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("a signal after the end: %v", err)
			}
			if err := p.Stop(t.Context(), 0); err != nil {
				t.Errorf("another Stop: %v", err)
			}
		})
	}
}

func TestAProcessGetsItsEnvironmentAndNothingElse(t *testing.T) {
	testkit.Alone(t)
	t.Setenv("DISCORD_TOKEN", "not for others")
	s := script(t, "#!/bin/sh\nexec /usr/bin/env\n")
	p, err := Start(Spec{Path: s, Env: []string{"A=1", procgroup.MarkName + "=me"}, Dir: "/"})
	testkit.Must(t, err)
	out, err := io.ReadAll(p.Stdout())
	testkit.Must(t, errors.Join(err, p.Stop(t.Context(), 0), p.Err()))
	if got := string(out); !strings.Contains(got, "A=1\n") || strings.Contains(got, "DISCORD") ||
		!strings.Contains(got, procgroup.MarkName+"=me/") || strings.Count(got, procgroup.MarkName) != 1 {
		t.Errorf("the environment is\n%s", got)
	}
}

func TestNoDescriptorIsLeftBehind(t *testing.T) {
	testkit.Alone(t)
	const rounds = 12
	var counts []int
	for range rounds {
		p := play(t, echo)
		testkit.Must(t, p.Stop(t.Context(), 0))
		_, err := io.ReadAll(p.Stdout())
		testkit.Must(t, err)
		_, _ = Start(Spec{Path: script(t, "no program")})
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not list descriptors")
		}
		counts = append(counts, len(entries))
	}
	// The first round may open files that the program keeps open. A few may vary because of garbage from earlier tests.
	if counts[rounds-1]-counts[0] > rounds/2 {
		t.Errorf("descriptors: %v", counts)
	}
}

func TestStartSaysWhatToDo(t *testing.T) {
	testkit.Alone(t)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	write(t, plain, "#!/bin/sh\n", 0o644)
	for what, c := range map[string]struct {
		spec Spec
		want string
	}{
		"no path":        {Spec{}, "claude was not found: " + install},
		"missing":        {Spec{Path: dir + "/none"}, "there is no " + dir + "/none: " + install},
		"below a file":   {Spec{Path: plain + "/none"}, "there is no " + plain + "/none: " + install},
		"a folder":       {Spec{Path: dir}, dir + " is a folder: " + name},
		"a device":       {Spec{Path: os.DevNull}, "/dev/null is not a file: " + name},
		"not executable": {Spec{Path: plain}, plain + " is not executable: make it executable, or " + name},
		"no #!":          {Spec{Path: script(t, "some words")}, "PATH is not a program that this machine can run: " + name},
		"no interpreter": {Spec{Path: script(t, "#!/nowhere/node\x1b[2J -x\n")}, "PATH cannot start because its interpreter (/nowhere/node -x) is missing: install it, or " + name},
		"an interpreter of many words": {
			Spec{Path: script(t, "#!/nowhere/node "+strings.Repeat("x", 300)+"\n")},
			"PATH cannot start because its interpreter (/nowhere/node " + strings.Repeat("x", 240) + ") is missing: install it, or " + name,
		},
		"no folder":      {Spec{Path: script(t, "#!/bin/sh\n"), Dir: dir + "/gone"}, "the folder " + dir + "/gone is missing: create it"},
		"no real folder": {Spec{Path: script(t, "#!/bin/sh\n"), Dir: plain}, plain + " is not a folder: move it away and create the folder"},
		"no folder that can be looked at": {
			Spec{Path: script(t, "#!/bin/sh\n"), Dir: plain + "/a"}, "the folder " + plain + "/a cannot be used (not a directory): change its permissions",
		},
		"too long": {
			Spec{Path: script(t, "#!/bin/sh\n"), Args: []string{strings.Repeat("secret", 1<<20)}},
			"PATH cannot start because its arguments or its environment are too long: shorten them",
		},
	} {
		t.Run(what, func(t *testing.T) {
			p, err := Start(c.spec)
			if err == nil {
				_ = p.Stop(t.Context(), 0)
				t.Fatal("it was started")
			}
			if want := strings.ReplaceAll(c.want, "PATH", c.spec.Path); err.Error() != want {
				t.Errorf("got  %q\nwant %q", err, want)
			}
			living.Range(func(mark, _ any) bool {
				t.Errorf("%v is thought to live", mark)
				return true
			})
		})
	}
}

func TestAnErrorOfTheSystemIsExplained(t *testing.T) {
	s := Spec{Path: "/no/claude\x1b[2J"}
	for err, want := range map[syscall.Errno]string{
		syscall.ENOENT:  "cannot start because a system library is missing: it was built for another system, so install @anthropic-ai/claude-code from npm again",
		syscall.ENOEXEC: "is not a program that this machine can run: " + name,
		syscall.EACCES:  "",
		syscall.ETXTBSY: "is being written, probably by an update: try again in a minute",
		syscall.E2BIG:   "cannot start because its arguments or its environment are too long: shorten them",
		syscall.EAGAIN:  "cannot start because the machine cannot run another process (resource temporarily unavailable): end some, then try again",
		syscall.ENOMEM:  "cannot start because the machine cannot run another process (cannot allocate memory): end some, then try again",
		syscall.EIO:     "cannot start (input/output error): check it by running it in a terminal with --version",
	} {
		want = "/no/claude " + want
		if err == syscall.EACCES {
			want = "the system does not let /no/claude start: change its permissions and those of its folders, or " + name
		}
		if got := s.explain(&os.PathError{Op: "fork/exec", Path: "secret", Err: err}); got.Error() != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
	}
	for e, want := range map[ExitError]string{
		{Code: 3}: "claude ended with exit code 3", {Code: -1, Signal: syscall.SIGSEGV, Stderr: "boom"}: "claude was ended by SIGSEGV: boom",
		{Code: -1, Signal: 99}: "claude was ended by signal 99",
	} {
		if e.Error() != want {
			t.Errorf("%+v: %s, want %s", e, e.Error(), want)
		}
	}
}

func TestStepsAreTakenOneByOneUntilTheEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		ends   time.Duration // after this the process ends
		cancel time.Duration // after this the context ends; 0 means never
		want   []int
		took   time.Duration
		ended  bool
	}{
		{"at the first", time.Second, 0, []int{0}, time.Second, true},
		{"in the middle", 3 * time.Second, 0, []int{0, 1}, 3 * time.Second, true},
		{"at the last", 5500 * time.Millisecond, 0, []int{0, 1, 2, 3}, 5500 * time.Millisecond, true},
		{"never", time.Hour, 0, []int{0, 1, 2, 3}, 10 * time.Second, false},
		{"in a hurry", 2 * time.Second, time.Second, []int{0, 3}, 2 * time.Second, true},
		{"in a hurry from the start", time.Second, time.Nanosecond, []int{0, 3}, time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				done := make(chan struct{})
				time.AfterFunc(c.ends, func() { close(done) })
				var got []int
				step := func(i int, wait time.Duration) stopStep {
					return stopStep{func() { got = append(got, i) }, wait}
				}
				start := time.Now()
				ended := takeSteps(ctx, done, []stopStep{
					step(0, Patience), step(1, Patience), step(2, termPatience), step(3, killPatience),
				})
				if diff := cmp.Diff(c.want, got); diff != "" || ended != c.ended || time.Since(start) != c.took {
					t.Errorf("ended %v after %v\n%s", ended, time.Since(start), diff)
				}
			})
		})
	}
}

// script creates an executable file.
func script(t testing.TB, text string) string {
	t.Helper()
	return testkit.Program(t, filepath.Join(t.TempDir(), "claude"), text)
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	testkit.Must(t, os.WriteFile(path, []byte(text), mode))
}
