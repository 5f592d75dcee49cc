package skill

import (
	"os"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
	"ollimbot/core/storage/store/storetest"
)

func TestCommandsOfASkillRunInTheSandboxInTheUsersZone(t *testing.T) {
	testkit.Alone(t)
	root := programs(t, map[string]string{
		"zone": "date +%z", "secret": "cat .env | grep -c .", "task": "echo x > routines/x.md", "write": "echo x > made && cat made",
		"plant": "echo 'OLLIM_CLAUDE=/bin/sh' > .env", "hang": "sleep 600 & echo $! >child; echo done", "env": "env | grep -c OLLIM_SESSION",
		"where": "pwd", "fail": "exit 3",
	})
	testkit.Must(t, os.WriteFile(root+"/.env", []byte("DISCORD_TOKEN=x\n"), 0o600))
	box := sandboxtest.Box(t, sandbox.Options{Dir: root})
	how := How{Sandbox: box.Command, Zone: "Asia/Kathmandu", Env: []string{sandbox.SessionVar + "=x"}}
	for text, want := range map[string]string{
		"!`./zone`": "+0545", "!`./secret`": "[command failed (exit 1): ./secret: cat: .env: Permission denied]", "!`./write`": "x", "!`./hang`": "done", "!`./env`": "1",
		"!`./where`": resolved(t, root), "!`./fail`": "[command failed (exit 3): ./fail]", "!`./nothing`": "[command not found: ./nothing]",
	} {
		if got := Expand(t.Context(), storetest.At(t, root), how, text); got != want {
			t.Errorf("%s became %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"!`./task`", "!`./plant`"} {
		if got := Expand(t.Context(), storetest.At(t, root), how, text); !strings.Contains(got, "failed") {
			t.Errorf("%s became %q", text, got)
		}
	}
}
