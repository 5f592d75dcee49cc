package sandbox_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// BenchmarkASandboxAroundACommand takes each way in turn, so that a busy machine
// weighs on all of them, and gives medians in milliseconds.
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
	const bare, inner = "exec bash -c true", `exec "$CLAUDE_CODE_SHELL" -c true`
	times := map[string][]time.Duration{}
	for b.Loop() {
		for name, took := range map[string]time.Duration{
			"bare":           run(g, nil, bare),
			"command":        run(g, g.box.Command, bare),
			"claude":         run(g, g.box.Engine, bare),
			"within":         run(g, g.box.Engine, inner),
			"hosts":          run(town.ground, town.box.Command, bare),
			"hostswithin":    run(town.ground, town.box.Engine, inner),
			"landlock":       run(other, other.box.Command, bare),
			"landlockwithin": run(other, other.box.Engine, inner),
			"landlockclaude": run(other, other.box.Engine, bare),
		} {
			times[name+"-ms"] = append(times[name+"-ms"], took)
		}
	}
	for name, list := range times {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, name)
	}
	b.ReportMetric(0, "ns/op")
}
