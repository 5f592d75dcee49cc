package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/testkit"
)

func TestWhatIsWrittenComesBackThroughThePipes(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "echo")
	if _, err := io.WriteString(p.Stdin(), "over and out\n"); err != nil {
		t.Fatal(err)
	}
	if got := line(t, bufio.NewReader(p.Stdout())); got != "over and out" {
		t.Errorf("got %q", got)
	}
}

func TestOutputCanBeReadAfterTheEnd(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "echo")
	want := strings.Repeat("x", 30_000) // less than the capacity of a pipe
	if _, err := io.WriteString(p.Stdin(), want); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, p.Stop(t.Context(), 0))
	got, err := io.ReadAll(p.Stdout())
	if err != nil || string(got) != want {
		t.Errorf("got %d bytes and %v, want %d", len(got), err, len(want))
	}
	if n, err := p.Stdout().Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

func TestAnObedientProcessEndsWithItsInput(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "echo")
	if p.Err() != nil {
		t.Error("a process that runs has an error already")
	}
	testkit.Must(t, p.Stop(t.Context(), time.Hour))
	if err := p.Err(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if err := p.Signal(os.Interrupt); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a signal after the end: %v", err)
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}

func TestStopGoesFromTheMildestToTheHarshest(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "diarist")
	out := bufio.NewReader(p.Stdout())
	line(t, out)
	testkit.Must(t, p.Stop(t.Context(), 300*time.Millisecond))
	got, err := io.ReadAll(out)
	testkit.Must(t, err)
	if diff := cmp.Diff("input closed\ninterrupt\nterminated\n", string(got)); diff != "" {
		t.Error(diff)
	}
	want := &ExitError{Code: 143}
	if got := new(ExitError); !errors.As(p.Err(), &got) || *got != *want {
		t.Errorf("it ended with %v", p.Err())
	}
}

func TestOnlyTheKillEndsAProcessThatIgnoresSignals(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "stubborn")
	line(t, bufio.NewReader(p.Stdout()))
	testkit.Must(t, p.Stop(t.Context(), time.Millisecond))
	end := new(ExitError)
	if !errors.As(p.Err(), &end) || end.Signal != syscall.SIGKILL || end.Code != -1 {
		t.Fatalf("it ended with %v", p.Err())
	}
	if got := end.Error(); got != "claude was ended by SIGKILL" {
		t.Errorf("it says %q", got)
	}
}

func TestTheEndOfTheContextKillsAtOnce(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "stubborn")
	line(t, bufio.NewReader(p.Stdout()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Must(t, p.Stop(ctx, time.Hour))
	if p.Err() == nil {
		t.Error("a killed process has no error")
	}
}

func TestTwoStopsAtOnceBothReturnAndTheHastierDecides(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "stubborn")
	line(t, bufio.NewReader(p.Stdout()))
	hasty, cancel := context.WithCancel(t.Context())
	var both sync.WaitGroup
	for _, ctx := range []context.Context{t.Context(), hasty} {
		both.Go(func() {
			if err := p.Stop(ctx, time.Hour); err != nil {
				t.Error(err)
			}
			if p.Err() == nil {
				t.Error("Stop returned before the end")
			}
		})
	}
	cancel()
	both.Wait()
}

func TestAWriteThatNobodyReadsEndsWithTheProcess(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "stubborn")
	line(t, bufio.NewReader(p.Stdout()))
	var writer sync.WaitGroup
	writer.Go(func() {
		if _, err := p.Stdin().Write(make([]byte, 1<<20)); err == nil {
			t.Error("a megabyte went into a pipe that nobody reads")
		}
	})
	testkit.Must(t, p.Signal(os.Kill))
	<-p.Done()
	writer.Wait()
}

func TestAProcessThatEndsAtOnceSaysWhy(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "failing")
	<-p.Done()
	want := &ExitError{Code: 3, Stderr: "error: unknown option '--bogus' | see --help"}
	got := new(ExitError)
	if !errors.As(p.Err(), &got) || *got != *want {
		t.Fatalf("it ended with %#v", p.Err())
	}
	if got := got.Error(); got != "claude ended with exit code 3: "+want.Stderr {
		t.Errorf("it says %q", got)
	}
}

func TestFiftyMegabytesOfErrorsHoldNobodyUp(t *testing.T) {
	testkit.Alone(t)
	p := play(t, "wordy")
	if got := line(t, bufio.NewReader(p.Stdout())); got != "done" {
		t.Fatalf("got %q", got)
	}
	if err := p.Stop(t.Context(), time.Minute); err != nil || p.Err() != nil {
		t.Fatal(err, p.Err())
	}
	if got := p.StderrTail(); len(got) > maxTail || !strings.HasSuffix(got, "for | the last word") {
		t.Errorf("%d bytes, ending with %q", len(got), got[max(0, len(got)-60):])
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
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not list descriptors")
		}
		return len(entries)
	}
	const rounds = 12
	var before int
	for i := range rounds {
		if i == 1 { // the first round may open files that the program keeps open
			before = count()
		}
		p := play(t, "echo")
		testkit.Must(t, p.Stop(t.Context(), 0))
		if _, err := io.ReadAll(p.Stdout()); err != nil {
			t.Fatal(err)
		}
	}
	for range rounds {
		_, _ = Start(Spec{Path: script(t, "no program")})
	}
	// A few may vary because of garbage from earlier tests.
	if after := count(); after-before > rounds/2 {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestStartSaysWhatToDo(t *testing.T) {
	testkit.Alone(t)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	write(t, plain, "#!/bin/sh\n", 0o644)
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"no path":        {Spec{}, "claude was not found: install @anthropic-ai"},
		"missing":        {Spec{Path: filepath.Join(dir, "none")}, "there is no " + filepath.Join(dir, "none") + ": install @anthropic-ai"},
		"below a file":   {Spec{Path: filepath.Join(plain, "none")}, "there is no "},
		"a folder":       {Spec{Path: dir}, "is a folder: set OLLIM_CLAUDE"},
		"a device":       {Spec{Path: os.DevNull}, "is not a file: set OLLIM_CLAUDE"},
		"not executable": {Spec{Path: plain}, plain + " is not executable"},
		"no #!":          {Spec{Path: script(t, "some words")}, "is not a program that this machine can run: set OLLIM_CLAUDE"},
		"no interpreter": {Spec{Path: script(t, "#!/nowhere/node\x1b[2J -x\n")}, "(/nowhere/node -x) is missing: install it"},
		"no folder":      {Spec{Path: script(t, "#!/bin/sh\n"), Dir: filepath.Join(dir, "gone")}, "gone is missing: create it"},
		"no real folder": {Spec{Path: script(t, "#!/bin/sh\n"), Dir: plain}, "plain is not a folder: move it away"},
		"too long": {
			Spec{Path: script(t, "#!/bin/sh\n"), Args: []string{strings.Repeat("secret", 1<<20)}},
			"arguments or its environment are too long: shorten them",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(c.spec)
			if err == nil {
				_ = p.Stop(t.Context(), 0)
				t.Fatal("it was started")
			}
			if got := err.Error(); !strings.Contains(got, c.want) || strings.ContainsAny(got, "\n\x1b") || len(got) > 400 {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			living.Range(func(mark, _ any) bool {
				t.Errorf("%v is thought to live", mark)
				return true
			})
		})
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
