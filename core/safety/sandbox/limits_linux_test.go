//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestACommandHasLimits(t *testing.T) {
	testkit.Alone(t)
	for layer, g := range closed(t) {
		for _, way := range []string{"a skill's command", "a command of claude"} {
			scripts := map[string]string{
				"bash -c 'ulimit -d; ulimit -t; ulimit -c'":       "4194304\n3600\n0\n",
				"python3 -c 'bytearray(5 << 30)' 2>&1 | tail -1":  "MemoryError\n",
				"python3 -c 'print(len(bytearray(64 << 20)))'":    "67108864\n",
				"ulimit -H -d unlimited 2>/dev/null || echo kept": "kept\n",
			}
			if layer == "bubblewrap" {
				scripts["bash -c 'ulimit -u'"] = "512\n"
				scripts["df -B1 --output=size /tmp /dev/shm ~ | tail -3 | sort -u"] = "536870912\n"
				scripts["fallocate -l 600M /tmp/full 2>/dev/null || echo full; rm -f /tmp/full"] = "full\n"
				scripts["touch /x 2>/dev/null || touch /dev/x 2>/dev/null || touch /run/x 2>/dev/null || echo closed"] = "closed\n"
			}
			if layer == "bubblewrap" && os.Getuid() != 0 { // the kernel does not limit root's processes
				many := `python3 -c 'import subprocess as s; [s.Popen(["sleep", "60"], stdout=s.DEVNULL, stderr=s.DEVNULL) for _ in range(600)]' 2>&1 | grep -c "^BlockingIOError"`
				scripts[many] = "1\n"
			}
			for script, want := range scripts {
				if out, err := g.run(t, way, script); err != nil || !strings.HasSuffix(out, want) {
					t.Errorf("%s, %s: %s: %q, %v", layer, way, script, out, err)
				}
			}
		}
	}
}
