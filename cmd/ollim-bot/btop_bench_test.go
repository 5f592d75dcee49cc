package main

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/creack/pty"

	"ollimbot/core/base/testkit"
)

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
			cmd, f := besideBtop(b, p.command)
			seen := readUntil(b, f, nil, p.outline)
			outlines[p.name] = append(outlines[p.name], time.Since(begin))
			if seen = readUntil(b, f, seen, p.data); !bytes.Contains(seen, []byte(p.data)) {
				b.Fatalf("%s ended without its first data:\n%s", p.name, seen)
			}
			first[p.name] = append(first[p.name], time.Since(begin))
			end(b, cmd, f)
		}
	}
	for _, p := range programs {
		b.ReportMetric(median(outlines[p.name]), "ms-outline-"+p.name)
		b.ReportMetric(median(first[p.name]), "ms-data-"+p.name)
		cmd, f := besideBtop(b, p.command)
		go func() { readUntil(b, f, nil, "never on the screen") }()
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

// besideBtop starts a program in a terminal of 120×40, with a home of its own.
func besideBtop(b *testing.B, command []string) (*exec.Cmd, *os.File) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8", "HOME="+b.TempDir(), "GIT_CONFIG_GLOBAL="+os.DevNull)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	testkit.Must(b, err)
	return cmd, f
}

// readUntil reads a terminal until the text is on it or the program has ended.
func readUntil(b *testing.B, f *os.File, seen []byte, want string) []byte {
	b.Helper()
	buf := make([]byte, 64<<10)
	for !bytes.Contains(seen, []byte(want)) {
		n, err := f.Read(buf)
		if err != nil {
			break
		}
		seen = append(seen, buf[:n]...)
	}
	return seen
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}
