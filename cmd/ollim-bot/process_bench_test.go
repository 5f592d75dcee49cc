package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"ollimbot/core/base/testkit"
)

// The benchmarks of this file measure the program as its user meets it: a
// process, in a terminal. Linux only, where /proc tells what a process costs.

// binary builds the program once for a benchmark, as releases are built: a C library
// takes a fifth of the start of a command.
func binary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "ollim-bot")
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// household writes n background routines, most of them daily.
func household(b *testing.B, n int) string {
	b.Helper()
	root := filepath.Join(b.TempDir(), "data")
	testkit.Must(b, os.MkdirAll(filepath.Join(root, "routines"), 0o700))
	saved := time.Now().Add(-24 * time.Hour)
	for i := range n {
		text := fmt.Sprintf("---\nid: \"%08x\"\ncron: \"%d %d 1 1 *\"\ndescription: \"Routine number %d\"\nbackground: true\n---\nDo thing %d.\n", i, i*7%60, i*11%24, i, i)
		path := filepath.Join(root, "routines", fmt.Sprintf("r%05d.md", i))
		testkit.Must(b, os.WriteFile(path, []byte(text), 0o600))
		// Files that were saved a moment ago are read once more to be sure; those
		// of a household that idles are older.
		testkit.Must(b, os.Chtimes(path, saved, saved))
	}
	return root
}

// onTerminal starts the program in a terminal of 120×40.
func onTerminal(b *testing.B, name string, args ...string) (*exec.Cmd, *os.File) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), name, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "GIT_CONFIG_GLOBAL="+os.DevNull)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	testkit.Must(b, err)
	return cmd, f
}

func BenchmarkStartToFirstFrame(b *testing.B) {
	exe := binary(b)
	for _, n := range []int{100, 1000, 10000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			root := household(b, n)
			want := []byte("Ping budget")
			for b.Loop() {
				cmd, f := onTerminal(b, exe, "run", "--engine", "script", "--data-dir", root)
				var seen []byte
				buf := make([]byte, 64<<10)
				for !bytes.Contains(seen, want) {
					m, err := f.Read(buf)
					if err != nil {
						b.Fatalf("the frame did not come: %v\n%s", err, seen)
					}
					seen = append(seen, buf[:m]...)
				}
				b.StopTimer()
				end(b, cmd, f)
				b.StartTimer()
			}
		})
	}
}

func BenchmarkRoutineList(b *testing.B) {
	exe := binary(b)
	for _, n := range []int{100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			root := household(b, n)
			for b.Loop() {
				testkit.Must(b, exec.CommandContext(b.Context(), exe, "routine", "list", "--data-dir", root).Run())
			}
		})
	}
}

// BenchmarkIdle lets bots live for three minutes, in which each looks at
// all its files three times, and reports memory and the part of one core.
func BenchmarkIdle(b *testing.B) {
	const watchFor = 3 * time.Minute
	exe := binary(b)
	for _, c := range []struct {
		name     string
		n        int
		headless bool
	}{{"headless-100", 100, true}, {"headless-10000", 10000, true}, {"dashboard-100", 100, false}} {
		b.Run(c.name, func(b *testing.B) {
			args := []string{"run", "--engine", "script", "--data-dir", household(b, c.n)}
			if c.headless {
				args = append(args, "--headless")
			}
			for b.Loop() {
				cmd, f := onTerminal(b, exe, args...)
				drained := make(chan struct{})
				go func() { defer close(drained); _, _ = io.Copy(io.Discard, f) }()
				settle(b, 5*time.Second)
				before, woken := cpu(b, cmd.Process.Pid), wakeups(b, cmd.Process.Pid)
				settle(b, watchFor)
				used := cpu(b, cmd.Process.Pid) - before
				b.ReportMetric(float64(wakeups(b, cmd.Process.Pid)-woken)/watchFor.Seconds(), "wakeups/s")
				b.ReportMetric(100*used.Seconds()/watchFor.Seconds(), "%core")
				b.ReportMetric(resident(b, cmd.Process.Pid), "MB-resident")
				end(b, cmd, f)
				<-drained
			}
		})
	}
}

func settle(b *testing.B, d time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// cpu is the time that all threads of a process have run.
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	return time.Duration(threads(b, pid, "schedstat", func(data string) string { return data }))
}

// wakeups is how often the threads of a process have gone to sleep by themselves,
// to be woken again.
func wakeups(b *testing.B, pid int) int {
	b.Helper()
	return int(threads(b, pid, "status", func(data string) string {
		_, rest, _ := strings.Cut(data, "\nvoluntary_ctxt_switches:")
		return rest
	}))
}

// threads adds up a number of every thread: the first one of what is found in a
// file of /proc.
func threads(b *testing.B, pid int, file string, find func(data string) string) (sum int64) {
	b.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, file))
	if err != nil || len(tasks) == 0 {
		b.Fatalf("no /proc for %d: %v", pid, err)
	}
	for _, t := range tasks {
		data, err := os.ReadFile(t)
		if err != nil {
			continue // the thread has ended
		}
		n, err := strconv.ParseInt(strings.Fields(find(string(data)))[0], 10, 64)
		testkit.Must(b, err)
		sum += n
	}
	return sum
}

// resident is a process's memory in MB, peak the most that it ever was.
func resident(b *testing.B, pid int) float64 { return memory(b, pid, "VmRSS:") }
func peak(b *testing.B, pid int) float64     { return memory(b, pid, "VmHWM:") }

func memory(b *testing.B, pid int, field string) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	testkit.Must(b, err)
	_, rest, _ := strings.Cut(string(data), field)
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	testkit.Must(b, err)
	return kb / 1024
}

func end(b *testing.B, cmd *exec.Cmd, f *os.File) {
	b.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		b.Error(err)
	}
	_, _ = io.Copy(io.Discard, f)
	_ = cmd.Wait()
	_ = f.Close()
}
