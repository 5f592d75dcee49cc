package mcp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addReach adds tools to a server that try to access files and the network.
func addReach(s *sdk.Server) {
	type args struct {
		What string `json:"what"`
	}
	for name, do := range map[string]func(what string) (string, error){
		"read": func(path string) (string, error) {
			text, err := os.ReadFile(path)
			return string(text), err
		},
		"write": func(path string) (string, error) {
			return "written", os.WriteFile(path, []byte("text of a server"), 0o600)
		},
		"dial": func(address string) (string, error) {
			conn, err := net.DialTimeout("tcp", address, 5*time.Second)
			if err == nil {
				err = conn.Close()
			}
			return "reached", err
		},
		"fetch": fetch,
	} {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: "Tries to " + name + "."},
			func(_ context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
				text, err := do(in.What)
				if err != nil {
					text = "error: " + err.Error()
				}
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
			})
	}
}

// fetch requests an address through the proxy of the environment, which package http
// bypasses for this machine.
func fetch(address string) (string, error) {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		if by := os.Getenv("HTTP_PROXY"); by != "" {
			return url.Parse(by)
		}
		return nil, nil
	}}}
	r, err := client.Get(address)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return fmt.Sprint(r.StatusCode, " ", strings.TrimSpace(string(text))), err
}
