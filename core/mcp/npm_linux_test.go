package mcp

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// 31: the TypeScript example of the protocol's authors, with its own authorization
// server, which was not written by the authors of our library.
func TestALoginAtTheServerOfTheProtocolsAuthors(t *testing.T) {
	testkit.Alone(t)
	script := filepath.Join(filepath.Dir(referenceServers(t)), "@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js")
	if _, err := os.Stat(script); err != nil {
		testkit.Missing(t, "npm's MCP servers with the examples of their SDK")
	}
	node := testkit.Needs(t, "node")
	at, as := freePort(t), freePort(t)
	server := exec.Command(node, script, "--oauth", "--oauth-strict")
	server.Env = append(os.Environ(), "MCP_PORT="+at, "MCP_AUTH_PORT="+as)
	out, err := server.StdoutPipe()
	testkit.Must(t, errors.Join(err, server.Start()))
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	lines := bufio.NewScanner(out)
	for listening := 0; listening < 2 && lines.Scan(); {
		if strings.Contains(lines.Text(), "listening on port") {
			listening++
		}
	}
	h := newHome(t, `{"mcpServers": {"weather": {"url": "http://localhost:`+at+`/mcp"}}}`)
	h.run()
	h.until("its question", func() bool { return h.state("weather").Asks })
	page := h.page("weather")
	if !strings.Contains(page, "localhost:"+as) {
		t.Errorf("the page is %s", page)
	}
	h.visit(page)
	h.until("the login", func() bool { return strings.Contains(h.said(), "You are logged in at the MCP server weather") })
	h.Renew(t.Context())
	if got := h.call("weather/greet", `{"name":"Ada"}`); got.IsError || !strings.Contains(got.Text, "Hello, Ada!") {
		t.Errorf("called: %+v", got)
	}
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // it is one
}
