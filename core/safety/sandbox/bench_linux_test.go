package sandbox_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// BenchmarkASandboxAroundACommand alternates between the ways, so that a busy machine affects all
// of them, and reports medians in milliseconds. It also reports what a sandbox adds to a command:
// for the command of a skill or of the messages engine, and for one more command of a running
// claude.
func BenchmarkASandboxAroundACommand(b *testing.B) {
	g := newGround(b, settled)
	town := newTown(b)
	other := newGround(b, settled)
	other.box = sandboxtest.Landlock(b, sandbox.Options{Dir: other.data, Home: other.home})
	run := func(g *ground, wrap func(*exec.Cmd) func(), script string) time.Duration {
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir, cmd.Env = g.data, []string{"PATH=/usr/bin:/bin", "HOME=" + g.home}
		begin := time.Now()
		done := func() {}
		if wrap != nil {
			done = wrap(cmd)
		}
		out, err := cmd.CombinedOutput()
		took := time.Since(begin)
		done()
		if err != nil {
			b.Fatal(err, string(out))
		}
		return took
	}
	const bare, inner, twice = "exec bash -c true", `exec "$CLAUDE_CODE_SHELL" -c true`, `"$CLAUDE_CODE_SHELL" -c true; exec "$CLAUDE_CODE_SHELL" -c true`
	times := map[string][]time.Duration{}
	for b.Loop() {
		for name, took := range map[string]time.Duration{
			"bare":           run(g, nil, bare),
			"command":        run(g, g.box.Command, bare),
			"claude":         run(g, g.box.Engine, bare),
			"within":         run(g, g.box.Engine, inner),
			"hosts":          run(town.ground, town.box.Command, bare),
			"hostswithin":    run(town.ground, town.box.Engine, inner),
			"twice":          run(g, g.box.Engine, twice),
			"landlock":       run(other, other.box.Command, bare),
			"landlockwithin": run(other, other.box.Engine, inner),
			"landlockclaude": run(other, other.box.Engine, bare),
		} {
			times[name+"-ms"] = append(times[name+"-ms"], took)
		}
	}
	median := map[string]float64{}
	for name, list := range times {
		slices.Sort(list)
		median[name] = float64(list[len(list)/2].Microseconds()) / 1000
		b.ReportMetric(median[name], name)
	}
	b.ReportMetric(median["command-ms"]-median["bare-ms"], "added-ms")
	b.ReportMetric(median["twice-ms"]-median["within-ms"]-median["bare-ms"], "addedwithin-ms")
	b.ReportMetric(0, "ns/op")
}
