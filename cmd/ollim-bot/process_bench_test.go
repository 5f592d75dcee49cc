package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/agent/claude/claudetest"
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
	saved := time.Now().Add(-24 * time.Hour)
	for i := range n {
		text := fmt.Sprintf("---\nid: \"%08x\"\ncron: \"%d %d 1 1 *\"\ndescription: \"Routine number %d\"\nbackground: true\n---\nDo thing %d.\n", i, i*7%60, i*11%24, i, i)
		path := filepath.Join(root, "routines", fmt.Sprintf("r%05d.md", i))
		put(b, path, text)
		// Files that were saved a moment ago are read once more to be sure; those
		// of a household that idles are older.
		testkit.Must(b, os.Chtimes(path, saved, saved))
	}
	return root
}

// onTerminal starts a program in a terminal of 120×40, with a home of its own.
func onTerminal(b *testing.B, name string, args ...string) (*exec.Cmd, *os.File) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), name, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8", "HOME="+b.TempDir(), "GIT_CONFIG_GLOBAL="+os.DevNull)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	testkit.Must(b, err)
	return cmd, f
}

func BenchmarkStartToFirstFrame(b *testing.B) {
	exe := binary(b)
	for _, n := range []int{100, 1000, 10000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			root := household(b, n)
			for b.Loop() {
				cmd, f := onTerminal(b, exe, "run", "--engine", "script", "--data-dir", root)
				readUntil(b, f, nil, "Ping budget")
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
				drained := drain(f)
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

// drain reads a terminal until the program on it ends.
func drain(f *os.File) (drained chan struct{}) {
	drained = make(chan struct{})
	go func() { defer close(drained); _, _ = io.Copy(io.Discard, f) }()
	return drained
}

// readUntil reads a terminal until a text is on it, behind what was seen before.
func readUntil(b *testing.B, f *os.File, seen []byte, want string) []byte {
	b.Helper()
	for buf := make([]byte, 64<<10); !bytes.Contains(seen, []byte(want)); {
		n, err := f.Read(buf)
		if err != nil {
			b.Fatalf("%q did not come: %v\n%s", want, err, seen)
		}
		seen = append(seen, buf[:n]...)
	}
	return seen
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

// BenchmarkBesideBtop starts the dashboard and btop in turn, so that load of the
// machine hits both, and reports the median time to their outline and to their first
// data, and what each costs while nobody presses a key.
func BenchmarkBesideBtop(b *testing.B) {
	btop, err := exec.LookPath("btop")
	if err != nil {
		b.Skip("btop is not installed")
	}
	const idle = 30 * time.Second
	programs := []struct {
		name          string
		outline, data string
		command       []string
	}{
		{"ollim-bot", "Ping budget", "100 routines", []string{binary(b), "run", "--engine", "script", "--data-dir", household(b, 100)}},
		{"btop", "cpu", "Pid:", []string{btop, "--utf-force"}},
	}
	outlines, first := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		for _, p := range programs {
			begin := time.Now()
			cmd, f := onTerminal(b, p.command[0], p.command[1:]...)
			seen := readUntil(b, f, nil, p.outline)
			outlines[p.name] = append(outlines[p.name], time.Since(begin))
			readUntil(b, f, seen, p.data)
			first[p.name] = append(first[p.name], time.Since(begin))
			end(b, cmd, f)
		}
	}
	for _, p := range programs {
		b.ReportMetric(median(outlines[p.name]), "ms-outline-"+p.name)
		b.ReportMetric(median(first[p.name]), "ms-data-"+p.name)
		cmd, f := onTerminal(b, p.command[0], p.command[1:]...)
		drain(f)
		settle(b, 5*time.Second)
		before := cpu(b, cmd.Process.Pid)
		settle(b, idle)
		b.ReportMetric(100*(cpu(b, cmd.Process.Pid)-before).Seconds()/idle.Seconds(), "%core-"+p.name)
		b.ReportMetric(resident(b, cmd.Process.Pid), "MB-"+p.name)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = f.Close()
	}
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

// BenchmarkAHundredForks is the memory of a bot while a hundred runs wait for the model in the
// middle of an answer. Each has twenty tools of an MCP server: found by words, or all of them in
// its request, where their definitions are just short enough.
func BenchmarkAHundredForks(b *testing.B) {
	b.Run("tools found by words", func(b *testing.B) {
		hundredForks(b, func() string { return weather(b, 19).URL }, 0)
	})
	b.Run("tools in each request", func(b *testing.B) {
		hundredForks(b, func() string { return terse(b, 20).URL }, 20)
	})
}

// terse is an MCP server whose tools say as little as they can.
func terse(b *testing.B, tools int) *httptest.Server {
	b.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "w", Version: "1"}, nil)
	for i := range tools {
		addTool(s, fmt.Sprintf("t%d", i), "A tool.")
	}
	return serveTools(b, s)
}

// hundredForks measures with a server at an address. Each request has so many of its tools.
func hundredForks(b *testing.B, address func() string, tools int) {
	const forks = 100
	exe := binary(b)
	for b.Loop() {
		api := claudetest.Start(b, claudetest.Options{})
		root := household(b, 100)
		put(b, filepath.Join(root, ".mcp.json"), fmt.Sprintf(`{"mcpServers": {"w": {"type": "http", "url": %q}}}`, address()))
		put(b, filepath.Join(root, "state", "settings.json"), fmt.Sprintf(`{"max_background_forks": %d}`, forks))
		start := func() *exec.Cmd {
			cmd := exec.CommandContext(b.Context(), exe, "run", "--engine", "messages", "--headless", "--data-dir", root)
			cmd.Env = append(os.Environ(), "ANTHROPIC_BASE_URL="+api.URL(), "ANTHROPIC_API_KEY=k", "GIT_CONFIG_GLOBAL="+os.DevNull)
			cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
			testkit.Must(b, cmd.Start())
			return cmd
		}
		stop := func(cmd *exec.Cmd) {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait() // it was interrupted
		}
		// The first start learns the server's tools, the second has them from the beginning.
		first := start()
		settle(b, 4*time.Second)
		stop(first)
		at := time.Now().Add(10 * time.Second).UTC().Format(time.RFC3339)
		for i := range forks {
			script := claudetest.Script(claudetest.Step{Text: "The landlord asks about Thursday, and the rest can wait.", Hold: "all", HoldAfter: 1})
			text := fmt.Sprintf("---\nid: \"%08x\"\nrun-at: %q\ndescription: \"Run %d\"\nbackground: true\nallowed-tools: [mcp__w]\n---\n%s\n", 0xb0000000+i, at, i, script)
			put(b, filepath.Join(root, "reminders", fmt.Sprintf("run%03d.md", i)), text)
		}
		cmd := start()
		settle(b, 5*time.Second)
		b.ReportMetric(resident(b, cmd.Process.Pid), "MB-idle")
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		err := api.Wait(ctx, func(all []claudetest.Request) bool { return len(claudetest.ForModel(all)) >= forks })
		cancel()
		asked := claudetest.ForModel(api.Requests())
		settle(b, 2*time.Second)
		b.ReportMetric(resident(b, cmd.Process.Pid), "MB-resident")
		b.ReportMetric(peak(b, cmd.Process.Pid), "MB-peak")
		b.ReportMetric(float64(len(asked)), "requests")
		api.Release("all")
		stop(cmd)
		testkit.Must(b, err)
		for _, r := range asked {
			if n := len(slices.DeleteFunc(slices.Clone(r.Tools), func(name string) bool { return !strings.HasPrefix(name, "mcp__w__") })); n != tools {
				b.Fatalf("a request has %d tools of the server, not %d: %q", n, tools, r.Tools)
			}
		}
	}
}
