package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// The benchmarks of this file measure the program as its user meets it: a process, in a terminal. Linux only, where /proc
// says what a process costs.

// binary builds the program once for a benchmark, as releases are built: a C library takes a fifth of the start of a command.
func binary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "ollim-bot")
	if got := shell(b, "go", append(os.Environ(), "CGO_ENABLED=0"), "build", "-trimpath", "-o", path, "."); got.status != 0 {
		b.Fatalf("%+v", got)
	}
	return path
}

// household writes n background routines, most of them daily. Files that were saved a moment ago are read once more to be
// sure; those of a household that idles are older.
func household(b *testing.B, n int) string {
	b.Helper()
	root := filepath.Join(b.TempDir(), "data")
	saved := time.Now().Add(-24 * time.Hour)
	for i := range n {
		path := filepath.Join(root, "routines", fmt.Sprintf("r%05d.md", i))
		put(b, path, fmt.Sprintf("---\nid: \"%08x\"\ncron: \"%d %d 1 1 *\"\ndescription: \"Routine number %[1]d\"\nbackground: true\n---\nDo thing %[1]d.\n",
			i, i*7%60, i*11%24))
		testkit.Must(b, os.Chtimes(path, saved, saved))
	}
	return root
}

// shown starts a program in a terminal, with a home of its own.
func shown(b *testing.B, name string, args ...string) *terminal {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), name, args...)
	return startRaw(b, cmd, append(os.Environ(), "HOME="+b.TempDir(), "GIT_CONFIG_GLOBAL="+os.DevNull), nil)
}

// interrupts ends a program in a terminal.
func (term *terminal) interrupts() {
	_ = term.cmd.Process.Signal(os.Interrupt)
	_ = term.cmd.Wait()
	_ = term.work.Wait()
}

func BenchmarkStartToFirstFrame(b *testing.B) {
	exe := binary(b)
	for _, n := range []int{100, 1000, 10000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			root := household(b, n)
			for b.Loop() {
				term := shown(b, exe, "run", "--engine", "script", "--data-dir", root)
				term.sees("Ping budget")
				b.StopTimer()
				term.interrupts()
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
				shell(b, exe, nil, "routine", "list", "--data-dir", root)
			}
		})
	}
}

// BenchmarkIdle lets bots live for three minutes, in which each looks at all its files three times.
func BenchmarkIdle(b *testing.B) {
	exe := binary(b)
	for _, c := range []struct {
		name string
		n    int
		args []string
	}{{"headless-100", 100, []string{"--headless"}}, {"headless-10000", 10000, []string{"--headless"}}, {"dashboard-100", 100, nil}} {
		b.Run(c.name, func(b *testing.B) {
			args := append([]string{"run", "--engine", "script", "--data-dir", household(b, c.n)}, c.args...)
			for b.Loop() {
				term := shown(b, exe, args...)
				expenses(b, term.cmd.Process.Pid, 3*time.Minute, "")
				term.interrupts()
			}
		})
	}
}

// BenchmarkBesideBtop starts the dashboard and btop in turn, so that load of the machine hits both, and reports the median
// time to their outline and to their first data, and what each costs while no key is pressed.
func BenchmarkBesideBtop(b *testing.B) {
	btop, err := exec.LookPath("btop")
	if err != nil {
		b.Skip("btop is not installed")
	}
	programs := []struct {
		name          string
		outline, data string
		command       []string
	}{
		{"ollim-bot", "Ping budget", "100 routines", []string{binary(b), "run", "--engine", "script", "--data-dir", household(b, 100)}},
		{"btop", "cpu", "Pid:", []string{btop, "--utf-force"}},
	}
	times := map[string][]time.Duration{}
	for b.Loop() {
		for _, p := range programs {
			begin := time.Now()
			term := shown(b, p.command[0], p.command[1:]...)
			term.sees(p.outline)
			times["outline-"+p.name] = append(times["outline-"+p.name], time.Since(begin))
			term.sees(p.data)
			times["data-"+p.name] = append(times["data-"+p.name], time.Since(begin))
			term.interrupts()
		}
	}
	for what, all := range times {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-"+what)
	}
	for _, p := range programs {
		term := shown(b, p.command[0], p.command[1:]...)
		expenses(b, term.cmd.Process.Pid, 30*time.Second, "-"+p.name)
		_ = term.cmd.Process.Kill()
		term.interrupts()
	}
}

func settle(b *testing.B, d time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// expenses reports what a process costs for a while, soon after its start: the part of one core that its threads have run, how
// often they have gone to sleep by themselves, to be woken again, and its memory.
func expenses(b *testing.B, pid int, while time.Duration, name string) {
	b.Helper()
	settle(b, 5*time.Second)
	ran, woken := threads(b, pid, "schedstat", ""), threads(b, pid, "status", "\nvoluntary_ctxt_switches:")
	settle(b, while)
	b.ReportMetric(float64(threads(b, pid, "status", "\nvoluntary_ctxt_switches:")-woken)/while.Seconds(), "wakeups/s"+name)
	b.ReportMetric(100*time.Duration(threads(b, pid, "schedstat", "")-ran).Seconds()/while.Seconds(), "%core"+name)
	b.ReportMetric(memory(b, pid, "VmRSS:"), "MB-resident"+name)
}

// threads adds up a number of every thread: the first one behind a text in a file of /proc.
func threads(b *testing.B, pid int, file, behind string) (sum int64) {
	b.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, file))
	if err != nil || len(tasks) == 0 {
		b.Fatalf("no /proc for %d: %v", pid, err)
	}
	for _, task := range tasks {
		_, rest, _ := strings.Cut(stored(task), behind)
		numbers := strings.Fields(rest)
		if len(numbers) == 0 {
			continue // the thread has ended
		}
		n, err := strconv.ParseInt(numbers[0], 10, 64)
		testkit.Must(b, err)
		sum += n
	}
	return sum
}

// memory is a process's memory in MB: VmRSS is that of now, VmHWM the most that it ever was.
func memory(b *testing.B, pid int, field string) float64 {
	b.Helper()
	_, rest, _ := strings.Cut(stored(fmt.Sprintf("/proc/%d/status", pid)), field)
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	testkit.Must(b, err)
	return kb / 1024
}

// BenchmarkAHundredForks is the memory of a bot while a hundred runs wait for the model in the middle of an answer. Each has
// twenty tools of an MCP server: found by words, or all of them in its request, where their definitions are just short enough.
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
			put(b, filepath.Join(root, "reminders", fmt.Sprintf("run%03d.md", i)), fmt.Sprintf(
				"---\nid: \"%08x\"\nrun-at: %q\ndescription: \"Run %d\"\nbackground: true\nallowed-tools: [mcp__w]\n---\n%s\n", 0xb0000000+i, at, i, script))
		}
		cmd := start()
		settle(b, 5*time.Second)
		b.ReportMetric(memory(b, cmd.Process.Pid, "VmRSS:"), "MB-idle")
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		err := api.Wait(ctx, func(all []claudetest.Request) bool { return len(claudetest.ForModel(all)) >= forks })
		cancel()
		asked := claudetest.ForModel(api.Requests())
		settle(b, 2*time.Second)
		b.ReportMetric(memory(b, cmd.Process.Pid, "VmRSS:"), "MB-resident")
		b.ReportMetric(memory(b, cmd.Process.Pid, "VmHWM:"), "MB-peak")
		b.ReportMetric(float64(len(asked)), "requests")
		api.Release("all")
		stop(cmd)
		testkit.Must(b, err)
		for _, r := range asked {
			if n := strings.Count(strings.Join(r.Tools, " "), "mcp__w__"); n != tools {
				b.Fatalf("a request has %d tools of the server, not %d: %q", n, tools, r.Tools)
			}
		}
	}
}
