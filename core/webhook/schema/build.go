package schema

import (
	"maps"
	"math"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// node is one schema, ready to be used. Groups of rules that it lacks are nil.
type node struct {
	never    bool  // the schema false
	ref      *node // everything else is void then
	types    kinds // 0: any
	constant *values
	enum     *values
	objects  *objectRules
	lists    *listRules
	texts    *textRules
	numbers  *numberRules
	logic    *logicRules
}

// values are the only ones that are allowed.
type values struct {
	keys map[string]bool // canonical
	want any
}

type objectRules struct {
	least, most  int
	required     []string
	properties   []property // by name
	declared     map[string]bool
	patterns     []patternRule
	additional   *node // nil: anything
	names        *node
	dependencies []dependency
}

type property struct {
	name string
	node *node
}

type patternRule struct {
	pattern *regexp.Regexp
	node    *node
}

// dependency is what an object needs that has a property: other properties or,
// if node is not nil, to fit a schema.
type dependency struct {
	name     string
	required []string
	node     *node
}

type listRules struct {
	least, most int
	unique      bool
	each        *node   // for all items
	first       []*node // for one item each
	rest        *node   // for the items behind them
	contains    *node
}

type textRules struct {
	least, most int
	pattern     *regexp.Regexp
}

type numberRules struct {
	minimum, maximum, above, below, multiple *bound
}

type bound struct {
	value *big.Rat
	want  any
}

type logicRules struct {
	all, some, one       []*node
	not                  *node
	condition, yes, noes *node
}

// builder makes nodes of well-formed schemas. It starts at the top and reaches
// only what a document can meet, so that what nobody refers to does no harm.
type builder struct {
	document  any
	inspector *inspector
	nodes     map[string]*node // by JSON pointer; references may lead back
	refs      bool
}

func (b *builder) node(v any, path []string) (*node, error) {
	place := pointer(path)
	if n, known := b.nodes[place]; known {
		return n, nil
	}
	n := &node{}
	b.nodes[place] = n
	s, ok := v.(map[string]any)
	if !ok {
		n.never = v == false
		return n, nil
	}
	if ref, ok := s["$ref"].(string); ok {
		b.refs = true
		var err error
		n.ref, err = b.reference(ref, below(path, "$ref"))
		return n, err
	}
	r := reader{b: b, schema: s, path: path}
	n.types = typesOf(s["type"])
	if v, ok := s["const"]; ok {
		n.constant = newValues(v, v)
	}
	if all, ok := s["enum"].([]any); ok {
		n.enum = newValues(all, all...)
	}
	n.objects, n.lists, n.texts, n.numbers, n.logic = r.objects(), r.lists(), r.texts(), r.numbers(), r.logic()
	return n, r.err
}

// reference is the node that a local reference leads to.
func (b *builder) reference(ref string, from []string) (*node, error) {
	lost := &Error{Pointer: pointer(from), Reason: Lost, Text: ref}
	plain, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return nil, lost
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
			n, err := strconv.Atoi(step)
			if found = err == nil && n >= 0 && n < len(holder) && strconv.Itoa(n) == step; found {
				v = holder[n]
			}
		}
		if !found {
			return nil, lost
		}
		path = append(path, step)
	}
	if !b.inspector.seen[pointer(path)] { // it stands where no schema would be looked for
		if err := b.inspector.schema(v, path); err != nil {
			return nil, err
		}
	}
	return b.node(v, path)
}

// reader reads the rules of one schema. The first error stays.
type reader struct {
	b      *builder
	schema map[string]any
	path   []string
	err    error
}

// one is the schema of a keyword; nil where there is none.
func (r *reader) one(keyword string) *node {
	v, ok := r.schema[keyword]
	if !ok {
		return nil
	}
	return r.at(v, keyword)
}

func (r *reader) at(v any, steps ...string) *node {
	if r.err != nil {
		return nil
	}
	n, err := r.b.node(v, append(slices.Clip(r.path), steps...))
	r.err = err
	return n
}

func (r *reader) several(keyword string) []*node {
	all, _ := r.schema[keyword].([]any)
	nodes := make([]*node, 0, len(all))
	for i, v := range all {
		nodes = append(nodes, r.at(v, keyword, strconv.Itoa(i)))
	}
	return nodes
}

func (r *reader) has(keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool { _, ok := r.schema[k]; return ok })
}

// count is a number of things, or what stands in for its absence.
func (r *reader) count(keyword string, absent int) int {
	v, ok := r.schema[keyword]
	if !ok {
		return absent
	}
	if n := exact(v).Num(); n.IsInt64() && n.Int64() <= math.MaxInt {
		return int(n.Int64())
	}
	return math.MaxInt
}

func (r *reader) objects() *objectRules {
	if !r.has("minProperties", "maxProperties", "required", "properties", "patternProperties", "additionalProperties",
		"propertyNames", "dependencies") {
		return nil
	}
	o := &objectRules{
		least: r.count("minProperties", 0), most: r.count("maxProperties", math.MaxInt),
		required:   texts(r.schema["required"]),
		declared:   map[string]bool{},
		additional: r.one("additionalProperties"), names: r.one("propertyNames"),
	}
	properties, _ := r.schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		o.declared[name] = true
		o.properties = append(o.properties, property{name, r.at(properties[name], "properties", name)})
	}
	patterns, _ := r.schema["patternProperties"].(map[string]any)
	for _, source := range slices.Sorted(maps.Keys(patterns)) {
		o.patterns = append(o.patterns, patternRule{
			r.b.inspector.patterns[source], r.at(patterns[source], "patternProperties", source),
		})
	}
	needs, _ := r.schema["dependencies"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		d := dependency{name: name}
		if _, list := needs[name].([]any); list {
			d.required = texts(needs[name])
		} else {
			d.node = r.at(needs[name], "dependencies", name)
		}
		o.dependencies = append(o.dependencies, d)
	}
	return o
}

func (r *reader) lists() *listRules {
	if !r.has("minItems", "maxItems", "uniqueItems", "items", "contains") {
		return nil
	}
	l := &listRules{least: r.count("minItems", 0), most: r.count("maxItems", math.MaxInt), contains: r.one("contains")}
	l.unique, _ = r.schema["uniqueItems"].(bool)
	if _, list := r.schema["items"].([]any); list {
		// additionalItems means something beside a list only.
		l.first, l.rest = r.several("items"), r.one("additionalItems")
	} else {
		l.each = r.one("items")
	}
	return l
}

func (r *reader) texts() *textRules {
	if !r.has("minLength", "maxLength", "pattern") {
		return nil
	}
	t := &textRules{least: r.count("minLength", 0), most: r.count("maxLength", math.MaxInt)}
	if source, ok := r.schema["pattern"].(string); ok {
		t.pattern = r.b.inspector.patterns[source]
	}
	return t
}

func (r *reader) numbers() *numberRules {
	if !r.has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") {
		return nil
	}
	bounded := func(keyword string) *bound {
		if v, ok := r.schema[keyword]; ok {
			return &bound{exact(v), v}
		}
		return nil
	}
	return &numberRules{
		minimum: bounded("minimum"), maximum: bounded("maximum"),
		above: bounded("exclusiveMinimum"), below: bounded("exclusiveMaximum"),
		multiple: bounded("multipleOf"),
	}
}

func (r *reader) logic() *logicRules {
	if !r.has("allOf", "anyOf", "oneOf", "not", "if") {
		return nil
	}
	l := &logicRules{
		all: r.several("allOf"), some: r.several("anyOf"), one: r.several("oneOf"),
		not: r.one("not"), condition: r.one("if"),
	}
	if l.condition != nil && r.schema["if"] != false {
		l.yes = r.one("then")
	}
	if l.condition != nil && r.schema["if"] != true {
		l.noes = r.one("else")
	}
	return l
}

func typesOf(v any) kinds {
	if name, ok := v.(string); ok {
		return kindNamed(name)
	}
	var k kinds
	for _, name := range texts(v) {
		k |= kindNamed(name)
	}
	return k
}

func newValues(want any, allowed ...any) *values {
	keys := make(map[string]bool, len(allowed))
	for _, v := range allowed {
		keys[string(appendCanonical(nil, v))] = true
	}
	return &values{keys, want}
}

// texts are the texts of a list.
func texts(v any) []string {
	all, _ := v.([]any)
	list := make([]string, 0, len(all))
	for _, one := range all {
		if s, ok := one.(string); ok {
			list = append(list, s)
		}
	}
	return list
}
