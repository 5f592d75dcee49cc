package schema

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// node is a compiled schema.
type node struct {
	never  bool // the schema false
	path   []string
	ref    string // if set, everything else is ignored
	to     *node  // the target of ref
	linked bool
	parts  []*node // the subschemas that apply to a document
	kinds  []rule  // if a value violates one, that is its only problem
	rules  []rule
}

// rule checks a value against a keyword and reports violations to the run.
type rule func(r *run, v any) bool

// builder compiles schemas to nodes. It keeps the first error.
type builder struct {
	document any
	draft    *Schema
	nodes    map[string]*node // by JSON pointer
	refs     bool
	err      error
}

func build(document any, draft *Schema) (*Schema, error) {
	b := &builder{document: document, draft: draft, nodes: map[string]*node{}}
	root := b.well(document, nil)
	b.link(root)
	if b.err != nil {
		return nil, b.err
	}
	return &Schema{root: root, refs: b.refs}, nil
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// well is node for a value that may not be a valid schema.
func (b *builder) well(v any, path []string) *node {
	if err := b.draft.inspect(v, path); err != nil {
		b.fail(err)
		return &node{}
	}
	return b.node(v, path)
}

// node compiles a well-formed schema with all its subschemas.
func (b *builder) node(v any, path []string) *node {
	place := pointer(path)
	if n, known := b.nodes[place]; known {
		return n
	}
	n := &node{never: v == false, path: path}
	b.nodes[place] = n
	if len(path) > maxDepth {
		b.fail(&Error{Pointer: place, Reason: Deep})
	}
	if b.err != nil {
		return n
	}
	s, _ := v.(map[string]any)
	k := &keywords{b: b, n: n, schema: s}
	for _, keyword := range slices.Sorted(maps.Keys(s)) {
		k.read(keyword, s[keyword])
	}
	if n.ref != "" {
		n.parts, n.kinds, n.rules = nil, nil, nil
	}
	return n
}

// link resolves the references of all subschemas that can apply to a document, so that
// unused ones cause no errors.
func (b *builder) link(n *node) {
	if n.linked || b.err != nil {
		return
	}
	n.linked = true
	if n.ref != "" {
		b.refs = true
		if n.to = b.target(n); n.to != nil {
			b.link(n.to)
		}
	}
	for _, part := range n.parts {
		b.link(part)
	}
}

// target returns the node that a local reference points to.
func (b *builder) target(n *node) *node {
	lost := &Error{Pointer: pointer(below(n.path, "$ref")), Reason: Lost, Text: n.ref}
	plain, err := url.PathUnescape(n.ref)
	if err != nil {
		b.fail(lost)
		return nil
	}
	v := b.document
	var path []string
	for _, token := range strings.Split(plain, "/")[1:] {
		step := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		found := false
		switch holder := v.(type) {
		case map[string]any:
			v, found = holder[step]
		case []any:
			i, err := strconv.Atoi(step)
			if found = err == nil && i >= 0 && i < len(holder) && strconv.Itoa(i) == step; found {
				v = holder[i]
			}
		}
		if !found {
			b.fail(lost)
			return nil
		}
		path = append(path, step)
	}
	if known := b.nodes[pointer(path)]; known != nil {
		return known
	}
	return b.well(v, path) // it is at a place not normally searched for schemas
}

// keywords compiles the keywords of one schema into its node.
type keywords struct {
	b      *builder
	n      *node
	schema map[string]any
}

// part compiles the subschema at a relative path, which can apply to a document.
func (k *keywords) part(v any, steps ...string) *node {
	n := k.b.node(v, below(k.n.path, steps...))
	k.n.parts = append(k.n.parts, n)
	return n
}

// one compiles the schema of a keyword; nil if there is none.
func (k *keywords) one(keyword string) *node {
	v, ok := k.schema[keyword]
	if !ok {
		return nil
	}
	return k.part(v, keyword)
}

func (k *keywords) several(keyword string, list []any) []*node {
	nodes := make([]*node, 0, len(list))
	for i, v := range list {
		nodes = append(nodes, k.part(v, keyword, strconv.Itoa(i)))
	}
	return nodes
}

// property is a schema for one name or, if matches is not nil, for all matching names.
type property struct {
	name    string
	matches *regexp.Regexp
	node    *node
}

func (k *keywords) named(keyword string, schemas map[string]any) []property {
	list := make([]property, 0, len(schemas))
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if _, names := schemas[name].([]any); !names { // of a dependency
			list = append(list, property{name: name, node: k.part(schemas[name], keyword, name)})
		}
	}
	return list
}

func (k *keywords) pattern(source string, steps ...string) *regexp.Regexp {
	compiled, err := regexp.Compile(source)
	if err != nil {
		k.b.fail(&Error{Pointer: pointer(below(k.n.path, steps...)), Reason: Pattern, Text: source})
	}
	return compiled
}

func (k *keywords) patterns() []property {
	schemas, _ := k.schema["patternProperties"].(map[string]any)
	list := k.named("patternProperties", schemas)
	for i, p := range list {
		list[i].matches = k.pattern(p.name, "patternProperties", p.name)
	}
	return list
}

// read compiles one keyword.
func (k *keywords) read(keyword string, want any) {
	n := k.n
	refuse := func(reason Reason) {
		k.b.fail(&Error{Pointer: pointer(below(n.path, keyword)), Reason: reason, Text: want.(string)})
	}
	switch keyword {
	case "$ref":
		if n.ref = want.(string); n.ref != "#" && !strings.HasPrefix(n.ref, "#/") {
			refuse(Remote)
		}
	case "$id":
		// At the top it only names the schema. Tools write the pointers of parts as their $id,
		// which does not affect references by pointer.
		if len(n.path) > 0 && !strings.HasPrefix(want.(string), "#") {
			refuse(ID)
		}
	case "$schema":
		if strings.TrimSuffix(want.(string), "#") != "http://json-schema.org/draft-07/schema" {
			refuse(Draft)
		}
	case "definitions", "additionalItems", "then", "else": // used only through other keywords
		k.aside(keyword, want)
	case "type":
		n.kinds = slices.Insert(n.kinds, 0, ofType(want))
	case "const":
		n.kinds = append(n.kinds, among(keyword, want, []any{want}))
	case "enum":
		n.kinds = append(n.kinds, among(keyword, want, want.([]any)))
	default:
		if r := k.rule(keyword, want); r != nil {
			n.rules = append(n.rules, r)
		}
	}
}

// aside compiles schemas that are not used yet.
func (k *keywords) aside(keyword string, want any) {
	if keyword != "definitions" {
		k.b.node(want, below(k.n.path, keyword))
		return
	}
	all := want.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		k.b.node(all[name], below(k.n.path, keyword, name))
	}
}

func (k *keywords) rule(keyword string, want any) rule {
	switch keyword {
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return amount(keyword, count(want))
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return bounded(keyword, want)
	case "pattern":
		return matches(k.pattern(want.(string), keyword))
	case "required":
		return required(want.([]any))
	case "properties":
		return properties(k.named(keyword, want.(map[string]any)))
	case "patternProperties":
		return byPattern(k.patterns())
	case "additionalProperties":
		declared, _ := k.schema["properties"].(map[string]any)
		return additional(declared, k.patterns(), k.one(keyword))
	case "propertyNames":
		return names(k.one(keyword))
	case "dependencies":
		needs := want.(map[string]any)
		return dependencies(needs, k.named(keyword, needs))
	case "uniqueItems":
		return unique(want == true)
	case "items":
		if list, several := want.([]any); several {
			return items(k.several(keyword, list), k.one("additionalItems"), "additionalItems")
		}
		return items(nil, k.one(keyword), "")
	case "contains":
		return contains(k.one(keyword))
	case "allOf", "anyOf", "oneOf":
		return map[string]func([]*node) rule{"allOf": allOf, "anyOf": anyOf, "oneOf": oneOf}[keyword](k.several(keyword, want.([]any)))
	case "not":
		return not(k.one(keyword))
	case "if":
		return k.condition(want)
	}
	return nil
}

// condition omits an unreachable branch.
func (k *keywords) condition(want any) rule {
	var yes, noes *node
	if want != false {
		yes = k.one("then")
	}
	if want != true {
		noes = k.one("else")
	}
	return condition(k.one("if"), yes, noes)
}

// below returns the path of a descendant.
func below(path []string, steps ...string) []string { return append(slices.Clip(path), steps...) }

// tokens escapes a name for a JSON pointer.
var tokens = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteByte('/')
		b.WriteString(tokens.Replace(step))
	}
	return b.String()
}
