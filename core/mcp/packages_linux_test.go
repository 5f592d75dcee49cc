package mcp

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// A server in JavaScript and one in Python, without a library of the protocol. Each answers with a word from another file of its
// package.
const (
	inJavaScript = `const { word } = require("../lib/words.js"); const { second } = require("fruit");
require("readline").createInterface({ input: process.stdin }).on("line", line => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  const result = m.method === "initialize" ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }
    : m.method === "tools/list" ? { tools: [{ name: "word", inputSchema: { type: "object" } }] }
    : m.method === "tools/call" ? { content: [{ type: "text", text: word + " and " + second }] } : undefined;
  const error = result ? undefined : { code: -32601, message: "no such method" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id: m.id, result, error }));
});
`
	inPython = `import json, sys
from fruit.words import word
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    known = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}},
             "tools/list": {"tools": [{"name": "word", "inputSchema": {"type": "object"}}]},
             "tools/call": {"content": [{"type": "text", "text": word}]}}
    answer = {"result": known[m["method"]]} if m["method"] in known else {"error": {"code": -32601, "message": "no such method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **answer}), flush=True)
`
)

func lay(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// E8: of node PATH/dist/index.js, the commonest form of a server, only that one file was visible.
func TestTheProgramOfAServerSeesThePackageThatItBelongsTo(t *testing.T) {
	testkit.Alone(t)
	node := testkit.Needs(t, "node")
	for kind := range boxes {
		t.Run(kind, func(t *testing.T) {
			h, user := fenced(t, kind, func(string) string { return "" })
			own := map[string]string{"package.json": "{}", "dist/index.js": inJavaScript, "lib/words.js": `exports.word = "plum";`}
			fruit := `exports.second = "fig";`
			lay(t, filepath.Join(user, "checkout"), own)
			lay(t, filepath.Join(user, "checkout/node_modules/fruit"), map[string]string{"index.js": fruit})
			lay(t, filepath.Join(user, "space/servers/one"), own)
			lay(t, filepath.Join(user, "space/node_modules/fruit"), map[string]string{"index.js": fruit})
			lay(t, filepath.Join(user, "installed/node_modules/server"), own)
			lay(t, filepath.Join(user, "installed/node_modules/fruit"), map[string]string{"index.js": fruit})
			lay(t, filepath.Join(user, "loose"), map[string]string{"dist/index.js": inJavaScript, "lib/words.js": own["lib/words.js"]})
			servers := map[string]any{}
			for name, script := range map[string]string{
				"checkout": "checkout/dist/index.js", "space": "space/servers/one/dist/index.js", "installed": "installed/node_modules/server/dist/index.js", "loose": "loose/dist/index.js",
			} {
				servers[name] = map[string]any{"command": node, "args": []string{filepath.Join(user, script)}}
			}
			text, err := json.Marshal(map[string]any{"mcpServers": servers})
			testkit.Must(t, err)
			h.save(string(text))
			h.Reload()
			h.run()
			var why string // of the failure, which is followed by another attempt
			h.until("the states", func() bool {
				s := h.state("loose")
				why = s.Text
				return h.state("checkout").Tools+h.state("space").Tools+h.state("installed").Tools == 3 && s.Status == Failed
			})
			h.Renew(t.Context())
			for _, name := range []string{"checkout", "space", "installed"} {
				if got := h.call(name+"/word", `{}`); got.Text != "plum and fig" {
					t.Errorf("%s: %+v", name, got)
				}
			}
			if !strings.Contains(why, "lib/words.js'") || !strings.Contains(why, "sandbox_visible") {
				t.Errorf("the cure is missing: %s", why)
			}
		})
	}
}

func TestAPythonServerSeesItsEnvironment(t *testing.T) {
	testkit.Alone(t)
	python := testkit.Needs(t, "python3")
	for kind := range boxes {
		t.Run(kind, func(t *testing.T) {
			h, user := fenced(t, kind, func(string) string { return "" })
			env := filepath.Join(user, "venv")
			if out, err := exec.Command(python, "-m", "venv", "--without-pip", env).CombinedOutput(); err != nil {
				testkit.Missing(t, "python's venv: "+string(out))
			}
			site, err := filepath.Glob(filepath.Join(env, "lib/python3*/site-packages"))
			if err != nil || len(site) != 1 {
				t.Fatal(site, err)
			}
			fruit := map[string]string{"fruit/__init__.py": "", "fruit/words.py": `word = "plum"`}
			lay(t, site[0], fruit)
			lay(t, site[0], map[string]string{"fruit/__main__.py": inPython})
			lay(t, filepath.Join(user, "checkout"), fruit)
			lay(t, filepath.Join(user, "checkout"), map[string]string{"pyproject.toml": "", "server.py": inPython})
			text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
				"module":  map[string]any{"command": filepath.Join(env, "bin/python"), "args": []string{"-m", "fruit"}},
				"script":  map[string]any{"command": python, "args": []string{filepath.Join(user, "checkout/server.py")}},
				"missing": map[string]any{"command": python, "args": []string{"-m", "fruit"}},
			}})
			testkit.Must(t, err)
			h.save(string(text))
			h.Reload()
			h.run()
			var why string // of the failure, which is followed by another attempt
			h.until("the states", func() bool {
				s := h.state("missing")
				why = s.Text
				return h.state("module").Tools+h.state("script").Tools == 2 && s.Status == Failed
			})
			h.Renew(t.Context())
			for _, name := range []string{"module", "script"} {
				if got := h.call(name+"/word", `{}`); got.Text != "plum" {
					t.Errorf("%s: %+v", name, got)
				}
			}
			if !strings.Contains(why, "No module named fruit") || !strings.Contains(why, "sandbox_visible") {
				t.Errorf("the cure is missing: %s", why)
			}
		})
	}
}
