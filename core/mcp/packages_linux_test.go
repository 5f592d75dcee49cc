package mcp

import (
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
	inBoxes(t, func(t *testing.T, _ string, h *home, user string) {
		own := map[string]string{"package.json": "{}", "dist/index.js": inJavaScript, "lib/words.js": `exports.word = "plum";`}
		fruit := map[string]string{"index.js": `exports.second = "fig";`}
		servers := map[string]any{}
		for name, at := range map[string]struct{ server, fruit string }{
			"checkout":  {"checkout", "checkout/node_modules/fruit"},
			"space":     {"space/servers/one", "space/node_modules/fruit"},
			"installed": {"installed/node_modules/server", "installed/node_modules/fruit"},
			"loose":     {"loose", "loose/elsewhere"},
		} {
			lay(t, filepath.Join(user, at.server), own)
			lay(t, filepath.Join(user, at.fruit), fruit)
			servers[name] = program(node, filepath.Join(user, at.server, "dist/index.js"))
		}
		testkit.Must(t, os.Remove(filepath.Join(user, "loose/package.json")))
		why := h.serve(servers, "loose")
		for _, name := range []string{"checkout", "space", "installed"} {
			h.answers([3]string{name + "/word", "{}", "plum and fig"})
		}
		if !strings.Contains(why, "lib/words.js'") || !strings.Contains(why, "sandbox_visible") {
			t.Errorf("the cure is missing: %s", why)
		}
	})
}

func TestAPythonServerSeesItsEnvironment(t *testing.T) {
	testkit.Alone(t)
	python := testkit.Needs(t, "python3")
	inBoxes(t, func(t *testing.T, _ string, h *home, user string) {
		env, checkout := filepath.Join(user, "venv"), filepath.Join(user, "checkout")
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
		lay(t, checkout, fruit)
		lay(t, checkout, map[string]string{"pyproject.toml": "", "server.py": inPython})
		why := h.serve(map[string]any{
			"module":  program(filepath.Join(env, "bin/python"), "-m", "fruit"),
			"script":  program(python, filepath.Join(checkout, "server.py")),
			"missing": program(python, "-m", "fruit"),
		}, "missing")
		h.answers([3]string{"module/word", "{}", "plum"}, [3]string{"script/word", "{}", "plum"})
		if !strings.Contains(why, "No module named fruit") || !strings.Contains(why, "sandbox_visible") {
			t.Errorf("the cure is missing: %s", why)
		}
	})
}
