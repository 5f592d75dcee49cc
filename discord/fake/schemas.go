package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documentID names the document inside of the compiler; nothing is fetched.
const documentID = "https://discord.invalid/openapi.json"

// schemas are the JSON schemas of an OpenAPI 3.1 document, each compiled when
// it is needed first. Safe for concurrent use.
type schemas struct {
	root any

	mu       sync.Mutex // guards what follows
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by JSON pointer
}

func newSchemas(raw []byte) (*schemas, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read the schemas of the API: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.RegisterFormat(&jsonschema.Format{Name: "int32", Validate: checkInt32})
	c.AssertFormat()
	if err := c.AddResource(documentID, root); err != nil {
		return nil, fmt.Errorf("read the schemas of the API: %w", err)
	}
	return &schemas{root: root, compiler: c, compiled: make(map[string]*jsonschema.Schema)}, nil
}

// check holds JSON against the schema of a request body or a response, which
// the steps lead to.
func (k *schemas) check(raw json.RawMessage, steps ...string) error {
	schema, err := k.schema(append(steps, "content", "application/json", "schema"))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	var wrong *jsonschema.ValidationError
	if err := schema.Validate(value); errors.As(err, &wrong) {
		return errors.New("not as described: " + shorten(wrong.Error(), 1500))
	} else if err != nil {
		return err
	}
	return nil
}

// shorten keeps a report readable: a schema with many variants explains each.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func (k *schemas) schema(steps []string) (*jsonschema.Schema, error) {
	pointer, err := k.pointer(steps)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := k.compiler.Compile(documentID + "#" + pointer)
	if err != nil {
		return nil, fmt.Errorf("compile a schema of the API: %w", err)
	}
	k.compiled[pointer] = s
	return s, nil
}

// pointer follows the steps from the root, through references, and returns
// where it has come to.
func (k *schemas) pointer(steps []string) (string, error) {
	at, where := k.root, ""
	for _, step := range steps {
		node, isObject := at.(object)
		if ref, isRef := node["$ref"].(string); isObject && isRef {
			target, err := k.pointer(strings.Split(strings.TrimPrefix(ref, "#/"), "/"))
			if err != nil {
				return "", err
			}
			where = target
			node, _ = k.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")).(object)
		}
		next, found := node[step]
		if !found {
			return "", fmt.Errorf("the description of the API has no %s", strings.Join(steps, " "))
		}
		at, where = next, where+"/"+escapePointer(step)
	}
	return where, nil
}

func (k *schemas) at(steps []string) any {
	at := k.root
	for _, step := range steps {
		node, _ := at.(object)
		at = node[step]
	}
	return at
}

// escapePointer spells one step of a JSON pointer as a fragment of a URL.
func escapePointer(step string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(step)
}

func checkInt32(v any) error {
	n, isNumber := v.(json.Number)
	if !isNumber {
		return nil
	}
	if f, err := n.Float64(); err != nil || f < math.MinInt32 || f > math.MaxInt32 {
		return errors.New("does not fit into 32 bits")
	}
	return nil
}
