package mcp

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/hosts"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
)

// Lookup returns a variable of the environment or of .env.
type Lookup func(name string) (value string, ok bool)

// Server is a server from the user's file, with variables expanded.
type Server struct {
	// Name is the form used in tool names; Given is as the user wrote it.
	Name, Given string
	Command     string
	Args        []string
	Env         map[string]string
	URL         string
	Headers     map[string]string
	Network     hosts.List
	Trusted     bool
	Disabled    bool

	// source identifies the server as written, without the values of variables.
	source string
	where  string
}

// Where returns its command line or address as written by the user, without the values of
// variables.
func (s Server) Where() string { return s.where }

// hosts reports whether the file lists hosts for its program.
func (s Server) hosts() bool { return s.URL == "" && s.Network.String() != "" }

// equal reports whether two servers would be started the same way.
func (s Server) equal(o Server) bool {
	return s.Name == o.Name && s.Command == o.Command && slices.Equal(s.Args, o.Args) && maps.Equal(s.Env, o.Env) &&
		s.URL == o.URL && maps.Equal(s.Headers, o.Headers) && s.Network.String() == o.Network.String() && s.Disabled == o.Disabled
}

// secrets returns values that must not reach a log.
func (s Server) secrets() []string {
	return slices.Concat(slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
}

// maxServerName leaves most of a tool's 64 characters to the tool.
const maxServerName = 24

// maxServers is the maximum number of servers in a file.
const maxServers = 50

// parsed is a parsed file, with the problems found.
type parsed struct {
	servers []Server
	// broken are the names of servers with errors.
	broken   []string
	problems []routines.Problem
}

// parse parses a file. An error applies to the whole file and yields nothing.
func parse(data []byte, lookup Lookup) (parsed, error) {
	p := &parser{lookup: lookup}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 { // a sandbox reserves the name of a missing file with an empty one
		return p.out, nil
	}
	root, err := frontmatter.ParseJSON(data)
	if err != nil {
		return parsed{}, err
	}
	if root.Kind != frontmatter.Map {
		return parsed{}, &frontmatter.SyntaxError{Line: root.Line, Column: 1, Message: fmt.Sprintf(textNotAnObject, kindOf(root))}
	}
	for _, f := range root.Fields {
		switch {
		case f.Key != "mcpServers":
			p.warn(f.Line, f.Key, textUnknownTop)
		case f.Value.Kind != frontmatter.Map:
			return parsed{}, &frontmatter.SyntaxError{Line: f.Line, Column: 1, Message: fmt.Sprintf(textServersObject, kindOf(f.Value))}
		default:
			p.servers(f.Value)
		}
	}
	slices.SortFunc(p.out.servers, func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	return p.out, nil
}

// parser collects servers and problems.
type parser struct {
	lookup Lookup
	out    parsed
	failed bool // the current server has an error
}

func (p *parser) warn(line int, key, format string, args ...any) {
	p.add(routines.Warning, line, key, format, args...)
}

func (p *parser) fail(line int, key, format string, args ...any) {
	p.failed = true
	p.add(routines.Error, line, key, format, args...)
}

func (p *parser) add(s routines.Severity, line int, key, format string, args ...any) {
	text := clean.Line(clean.Cut(key, 80) + ": " + fmt.Sprintf(format, args...))
	p.out.problems = append(p.out.problems, routines.Problem{File: File, Line: line, Severity: s, Message: text})
}

func (p *parser) servers(all frontmatter.Value) {
	taken := map[string]string{}
	for i, f := range all.Fields {
		p.failed = false
		key := "mcpServers." + f.Key
		if i >= maxServers {
			p.fail(f.Line, key, textTooManyServers, maxServers)
			return
		}
		s := Server{Given: f.Key, Name: serverName(f.Key)}
		switch other, double := taken[s.Name]; {
		case slices.Contains(toolset.OwnServers, s.Name):
			p.fail(f.Line, key, textReserved, s.Name)
			continue
		case double:
			p.fail(f.Line, key, textSameName, other)
			continue
		case f.Value.Kind != frontmatter.Map:
			p.fail(f.Line, key, textServerObject, kindOf(f.Value))
		default:
			p.server(&s, f, key)
		}
		taken[s.Name] = f.Key
		if p.failed {
			p.out.broken = append(p.out.broken, s.Name)
			continue
		}
		p.out.servers = append(p.out.servers, s)
	}
}

// server parses one server.
func (p *parser) server(s *Server, f frontmatter.Field, key string) {
	kind, raw := "", map[string]any{}
	seen := map[string]int{}
	for _, f := range f.Value.Fields {
		at := key + "." + f.Key
		seen[f.Key] = f.Line
		raw[f.Key] = f.Value.JSON()
		switch f.Key {
		case "command":
			s.Command = p.text(f, at)
		case "args":
			s.Args = p.list(f, at)
		case "env":
			s.Env = p.table(f, at)
		case "type":
			kind = p.text(f, at)
		case "url":
			s.URL = p.text(f, at)
		case "headers":
			s.Headers = p.table(f, at)
		case "network":
			s.Network = p.network(f, at)
		case "trusted":
			s.Trusted = p.truth(f, at)
		case "disabled":
			s.Disabled = p.truth(f, at)
		default:
			p.warn(f.Line, at, textUnknownKey)
		}
	}
	p.kind(s, kind, seen, f.Line, key)
	s.where = where(raw)
	delete(raw, "trusted")
	delete(raw, "disabled")
	text, _ := json.Marshal(raw) // only strings, lists and tables, which cannot fail
	sum := sha256.Sum256(text)
	s.source = hex.EncodeToString(sum[:8])
}

// kind checks the keys that belong together.
func (p *parser) kind(s *Server, kind string, seen map[string]int, line int, key string) {
	switch kind {
	case "", "stdio", "http", "streamable-http":
	case "sse":
		p.fail(seen["type"], key+".type", textSSE)
		return
	default:
		p.fail(seen["type"], key+".type", textKind, kind)
		return
	}
	remote := kind == "http" || kind == "streamable-http" || kind == "" && s.Command == "" && s.URL != ""
	switch {
	case p.failed:
	case remote && s.URL == "":
		p.fail(line, key+".url", textNoURL)
	case remote && s.Command != "":
		p.fail(seen["command"], key+".command", textBoth)
	case !remote && s.URL != "":
		p.fail(seen["url"], key+".url", textBoth)
	case !remote && s.Command == "":
		p.fail(line, key+".command", textNoCommand)
	case remote:
		u, err := url.Parse(s.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			p.fail(seen["url"], key+".url", textBadURL)
		}
	}
}

// kindOf returns the kind of a value in plain words.
func kindOf(v frontmatter.Value) string {
	switch v.Kind {
	case frontmatter.Null:
		return "null"
	case frontmatter.List:
		return "a list"
	case frontmatter.Map:
		return "an object"
	}
	switch v.JSON().(type) {
	case bool:
		return "true or false"
	case string:
		return "a text"
	}
	return "a number"
}

// where returns the command line or the address as written.
func where(raw map[string]any) string {
	if address, ok := raw["url"].(string); ok {
		if u, err := url.Parse(address); err == nil {
			u.User, u.RawQuery, u.Fragment = nil, "", ""
			return clean.Line(u.String())
		}
		return ""
	}
	command, _ := raw["command"].(string)
	args, _ := raw["args"].([]any)
	words := []string{command}
	for _, a := range args {
		word, _ := a.(string)
		words = append(words, word)
	}
	return clean.Cut(clean.Line(strings.Join(words, " ")), 120)
}

func (p *parser) text(f frontmatter.Field, key string) string {
	s, ok := f.Value.JSON().(string)
	if !ok {
		p.fail(f.Line, key, textNotText, kindOf(f.Value))
		return ""
	}
	return p.expand(s, f.Value.Line, key)
}

func (p *parser) truth(f frontmatter.Field, key string) bool {
	b, ok := f.Value.JSON().(bool)
	if !ok {
		p.fail(f.Line, key, textNotTruth, kindOf(f.Value))
	}
	return b
}

func (p *parser) list(f frontmatter.Field, key string) []string {
	if f.Value.Kind != frontmatter.List {
		p.fail(f.Line, key, textNotList, kindOf(f.Value))
		return nil
	}
	var out []string
	for i, item := range f.Value.Items {
		out = append(out, p.text(frontmatter.Field{Line: item.Line, Value: item}, fmt.Sprintf("%s[%d]", key, i)))
	}
	return out
}

func (p *parser) table(f frontmatter.Field, key string) map[string]string {
	if f.Value.Kind != frontmatter.Map {
		p.fail(f.Line, key, textNotTable, kindOf(f.Value))
		return nil
	}
	out := map[string]string{}
	for _, one := range f.Value.Fields {
		if one.Key == "" || strings.ContainsAny(one.Key, "=\x00") {
			p.fail(one.Line, key, textBadVariable, one.Key)
			continue
		}
		out[one.Key] = p.text(one, key+"."+one.Key)
	}
	return out
}

func (p *parser) network(f frontmatter.Field, key string) hosts.List {
	names := []string{}
	if _, text := f.Value.JSON().(string); text {
		names = append(names, p.text(f, key))
	} else {
		names = p.list(f, key)
	}
	if p.failed || len(names) == 0 {
		return nil
	}
	l, err := hosts.Parse(strings.Join(names, ","))
	if err != nil {
		p.fail(f.Line, key, "%v", err)
	}
	return l
}

// variable matches ${NAME} and ${NAME:-default}.
var variable = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// expand expands variables.
func (p *parser) expand(s string, line int, key string) string {
	return variable().ReplaceAllStringFunc(s, func(found string) string {
		m := variable().FindStringSubmatch(found)
		value, ok := p.lookup(m[1])
		fallback, has := strings.CutPrefix(m[2], ":-")
		switch {
		case ok && value != "":
			return value
		case has:
			return fallback
		case ok:
			return ""
		}
		p.fail(line, key, textUnset, m[1], m[1])
		return ""
	})
}
