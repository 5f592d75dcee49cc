package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
)

const (
	// maxKept is how much of one server's tools is kept, in bytes of descriptions and
	// schemas.
	maxKept = 8 << 20
	// maxListed is the maximum number of tools read from a server.
	maxListed = 10_000
	// maxToolName is the limit of many servers with the Messages API; Anthropic's own limit
	// is 128.
	maxToolName = 64
	// maxDescription is in characters, maxSchema in bytes.
	maxDescription = 4_000
	maxSchema      = 32 << 10
	// hashLength is the length of the hash that replaces the end of a long name.
	hashLength = 8
)

// Tool is a listed tool, cleaned.
type Tool struct {
	// Name is the model's name for it, after mcp__server__; Given is the server's.
	Name        string          `json:"name"`
	Given       string          `json:"given"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	// ReadOnly and Destructive are claims by the server. They are displayed but have no
	// effect.
	ReadOnly    bool  `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
}

// digest identifies everything that the model reads and that the user was shown.
func (t Tool) digest() string {
	text, _ := json.Marshal(t) // it cannot fail: the schema is valid
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Hint describes the server's claims about the tool for the user, or returns "".
func (t Tool) Hint() string {
	switch {
	case t.ReadOnly:
		return hintReadOnly
	case t.Destructive != nil && *t.Destructive:
		return hintDestructive
	}
	return ""
}

var notInNames = lazyregexp.New(`[^a-zA-Z0-9-]+`)

// plainName restricts a name to the characters of tool names. Two underscores would end
// the name of a server.
func plainName(s string) string { return strings.Trim(notInNames().ReplaceAllString(s, "_"), "_") }

// fitting shortens a name to at most n characters; a shortened one ends with a hash of
// the whole.
func fitting(name, whole string, n int) string {
	if len(name) <= n {
		return name
	}
	return hashed(name, whole, n)
}

// hashed ends a name of at most n characters with a hash of the whole.
func hashed(name, whole string, n int) string {
	sum := sha256.Sum256([]byte(whole))
	return name[:min(len(name), n-hashLength-1)] + "_" + hex.EncodeToString(sum[:])[:hashLength]
}

func serverName(given string) string {
	return fitting(cmp.Or(plainName(given), "server"), given, maxServerName)
}

func toolName(server, given string) string {
	return fitting(cmp.Or(plainName(given), "tool"), given, roomFor(server))
}

// roomFor returns the longest name of a tool of a server.
func roomFor(server string) int { return maxToolName - len("mcp__"+server+"__") }

// cleanTools converts the tools listed by a server for the model, sorted by name, with
// remarks about those left out.
func cleanTools(server string, listed []*sdk.Tool) (tools []Tool, remarks []string) {
	same := map[string]int{} // tools with the same name for the model
	for _, one := range listed {
		if one != nil {
			same[toolName(server, one.Name)]++
		}
	}
	by := map[string]string{}
	for _, one := range listed {
		if one == nil || one.Name == "" {
			remarks = append(remarks, textNoName)
			continue
		}
		t, err := cleanTool(server, one)
		if err != nil {
			remarks = append(remarks, fmt.Sprintf(textToolLeftOut, shown(one.Name), err))
			continue
		}
		if same[t.Name] > 1 && t.Name != t.Given { // a.b beside a_b
			t.Name = hashed(t.Name, t.Given, roomFor(server))
		}
		if other, double := by[t.Name]; double {
			remarks = append(remarks, fmt.Sprintf(textToolTwice, shown(one.Name), shown(other)))
			continue
		}
		by[t.Name] = one.Name
		tools = append(tools, t)
	}
	slices.SortFunc(tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	kept := 0
	for i, t := range tools {
		if kept += len(t.Description) + len(t.Schema); kept > maxKept {
			remarks = append(remarks, fmt.Sprintf(textManyTools, len(tools), i))
			return tools[:i], remarks
		}
	}
	return tools, remarks
}

func shown(name string) string { return clean.Cut(clean.Line(name), 60) }

func cleanTool(server string, t *sdk.Tool) (Tool, error) {
	schema, err := cleanSchema(t.InputSchema)
	if err != nil {
		return Tool{}, err
	}
	out := Tool{
		Name: toolName(server, t.Name), Given: t.Name, Schema: schema,
		Description: clean.Cut(strings.TrimSpace(clean.Text(cmp.Or(t.Description, t.Title))), maxDescription),
	}
	if a := t.Annotations; a != nil {
		out.ReadOnly, out.Destructive = a.ReadOnlyHint, a.DestructiveHint
	}
	return out, nil
}

// cleanSchema cleans all texts of a schema, because the model reads them like the
// description. Its keys are sorted, so that equal schemas have equal bytes.
func cleanSchema(schema any) (json.RawMessage, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", textBadSchema, err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil || v["type"] != nil && v["type"] != "object" {
		return nil, errors.New(textBadSchema)
	}
	if v == nil {
		v = map[string]any{}
	}
	v["type"] = "object"
	text, err = json.Marshal(cleanValue(v))
	if err == nil && len(text) > maxSchema {
		err = fmt.Errorf(textLongSchema, len(text), maxSchema)
	}
	return text, err
}

func cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return clean.Text(v)
	case []any:
		for i := range v {
			v[i] = cleanValue(v[i])
		}
	case map[string]any:
		for key, one := range v {
			delete(v, key)
			v[clean.Text(key)] = cleanValue(one)
		}
	}
	return v
}
